//! Lines about laws at ports, and about what a machine can do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemes::linux::kernel_laws;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::Settings;
use crate::nullable::nullable;

/// A law was attached.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttachLine {
    /// The action.
    pub action: AttachAction,
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// The device whose queue the law looks at, where it is another one.
    #[serde(deserialize_with = "nullable")]
    pub queue_of: Option<String>,
    /// The law.
    pub scheme: String,
    /// Its settings.
    pub settings: Settings,
    /// The kind of the queue as `tc` calls it; null for a law that looks at no queue.
    #[serde(deserialize_with = "nullable")]
    pub queue: Option<String>,
    /// The room of that queue.
    #[serde(deserialize_with = "nullable")]
    pub buffer_bytes: Option<u64>,
    /// The MTU of the device.
    pub mtu_bytes: u32,
    /// Whether the right edge of a window may never move back.
    pub no_retract: bool,
    /// Whether the law changes no packet, and counts those that it would change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// For how long it acts; null for ever.
    #[serde(deserialize_with = "nullable")]
    pub lease_s: Option<f64>,
    /// Its programs.
    pub programs: Vec<LoadedProgram>,
    /// The folder of its pins.
    pub pins: PathBuf,
    /// Settings that are allowed and unwise.
    pub warnings: Vec<String>,
    /// Changes to the device that would help.
    pub hints: Vec<String>,
}

/// The decisions of a law in the shadow were written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedLine {
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// The law.
    pub scheme: String,
    /// For how long it looked on.
    pub seconds: f64,
    /// Calls of the law.
    pub calls: u64,
    /// Decisions about packets among them.
    pub decisions: u64,
}

/// The action of an attach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttachAction {
    /// Nothing stood there.
    Attached,
    /// Other programs stood there.
    Replaced,
    /// The same stood there: its lease was renewed.
    Renewed,
    /// The same programs stood there with other settings.
    Updated,
    /// The programs were verified and nothing was changed.
    #[serde(rename = "would attach")]
    WouldAttach,
}

/// A program of a law.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedProgram {
    /// The direction of the packets that it sees.
    pub way: String,
    /// The kernel's hash of its instructions.
    pub tag: String,
}

/// A law that is attached. A number that its law does not have is absent. Keys that are neither a field nor a reading of a
/// law are refused.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StatusLine {
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// The device whose queue the law looks at, where it is another one.
    #[serde(deserialize_with = "nullable")]
    pub queue_of: Option<String>,
    /// The law.
    pub scheme: String,
    /// Its settings.
    pub settings: Settings,
    /// The room of the queue; null for a law that looks at no queue.
    #[serde(deserialize_with = "nullable")]
    pub buffer_bytes: Option<u64>,
    /// Whether the right edge of a window may never move back.
    pub no_retract: bool,
    /// Whether the law changes no packet, and counts those that it would change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// Bytes that wait in the queue.
    #[serde(deserialize_with = "nullable")]
    pub queue_bytes: Option<u32>,
    /// Changes since the law was attached.
    pub drift: Vec<String>,
    /// What its programs do; absent if an interrupted attach left no maps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts: Option<bool>,
    /// Seconds until everything passes; null for never.
    #[serde(deserialize_with = "nullable")]
    pub lease_left_s: Option<f64>,
    /// What its memory holds, by the names that the registry of laws gives its readings.
    #[serde(flatten, deserialize_with = "readings")]
    pub readings: BTreeMap<String, Reading>,
    /// Whether a process watches the connections that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<bool>,
    /// The connections that the programs know; null for a law that knows none.
    #[serde(deserialize_with = "nullable")]
    pub known_connections: Option<u64>,
    /// ACKs whose window was lowered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<u64>,
    /// Packets that were marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<u64>,
    /// Packets that it would have changed, of a law that changes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_change: Option<u64>,
    /// Copies of ACKs that carried a grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<u64>,
    /// Packets that passed unchanged, by reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Vec<Passed>>,
}

/// A number in the memory of a law, or whether something is so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reading {
    /// Yes or no.
    Flag(bool),
    /// A number in the unit that the name says.
    Number(u64),
}

impl Reading {
    /// As a number: yes is one.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Flag(is) => is.into(),
            Self::Number(number) => number,
        }
    }
}

/// The readings among the keys of a line that no field has.
fn readings<'de, D: Deserializer<'de>>(keys: D) -> Result<BTreeMap<String, Reading>, D::Error> {
    let keys = BTreeMap::<String, Value>::deserialize(keys)?;
    let known = |key: &str| {
        let mut laws = kernel_laws().into_iter();
        laws.any(|(_, law)| law.readings.iter().any(|reading| reading.key == key))
    };
    let read = |(key, value): (String, Value)| {
        if !known(&key) {
            return Err(D::Error::custom(format!("unknown field `{key}`")));
        }
        let value = Reading::deserialize(value);
        let value = value.map_err(|error| D::Error::custom(format!("{key}: {error}")))?;
        Ok((key, value))
    };
    keys.into_iter().map(read).collect()
}

/// Packets that passed unchanged for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passed {
    /// The reason.
    pub why: String,
    /// Their number.
    pub packets: u64,
}

/// A law was detached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetachLine {
    /// The action.
    pub action: DetachAction,
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// The law.
    pub scheme: String,
}

/// The action of a detach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetachAction {
    /// Its programs were taken away.
    Detached,
    /// Nothing was changed.
    #[serde(rename = "would detach")]
    WouldDetach,
}

/// The features that work on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorLine {
    /// The release of the kernel.
    pub kernel: String,
    /// The trial.
    pub checks: Vec<Checked>,
    /// Which schemes work.
    pub schemes: Vec<SchemeSupport>,
}

/// Something that was tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// The result.
    pub state: CheckState,
    /// The finding.
    pub detail: String,
    /// The remedy; empty if none is needed or known.
    pub cure: String,
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// It works.
    Ok,
    /// The kernel or the build lacks it.
    Missing,
    /// It does not do what it should.
    Broken,
    /// Something else that it needs does not work.
    Untried,
}

/// Where a scheme works.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeSupport {
    /// The scheme.
    pub name: String,
    /// "yes", or "no" with the check that fails.
    pub emulate: String,
    /// "yes", or "no" with the reason.
    pub attach: String,
}

impl AttachAction {
    /// Its name, as lines have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached",
            Self::Replaced => "replaced",
            Self::Renewed => "renewed",
            Self::Updated => "updated",
            Self::WouldAttach => "would attach",
        }
    }
}

impl DetachAction {
    /// Its name, as lines have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detached => "detached",
            Self::WouldDetach => "would detach",
        }
    }
}

impl CheckState {
    /// Its name, as lines have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::Broken => "broken",
            Self::Untried => "untried",
        }
    }
}
