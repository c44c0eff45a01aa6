//! The lines that `tailwater-live` writes, as types for their writers and their readers.
//!
//! The program that may change the network of a machine writes one JSON object a line, whose key `type` names its kind.
//! The command, the reports and the tables read them, from its standard output or from the file [`FILE`] of a run folder.
//! What Linux did not tell is null and not zero. A key that is missing, misspelt or unknown is an error.
//!
//! ```
//! use protocol::Line;
//!
//! let line = Line::read(r#"{"type": "note", "text": "the device went away"}"#)?;
//! assert!(matches!(line, Line::Note(note) if note.text == "the device went away"));
//! let error = Line::read(r#"{"type": "note", "txt": "the device went away"}"#).unwrap_err();
//! assert_eq!(error.to_string(), "note: unknown field `txt`, expected `text`");
//! # Ok::<(), protocol::Unreadable>(())
//! ```

mod certificate;
mod decisions;
mod deployment;
mod emulation;
mod file;
mod nullable;
mod point;
mod transfer;

use std::fmt;

use observed::trial::{TrialEnd, TrialFlow, TrialPeriod};
use serde::{Deserialize, Serialize};

pub use certificate::{Certificate, DecidedBy, LEAST_DECISIONS, PredictedTail};
pub use decisions::{DecisionLog, Uncertified, certify, law_sha256, sha256};
pub use deployment::{
    AttachAction, AttachLine, CheckState, Checked, DetachAction, DetachLine, DoctorLine,
    LoadedProgram, LoggedLine, Passed, Reading, SchemeSupport, StatusLine,
};
pub use emulation::{
    BedLine, CaptureLine, ClaimLine, ClaimResult, ClaimValue, DownLine, EmulationLine, Instead,
    SkippedLine, TwinLine, UpLine,
};
pub use file::{FILE, Malformed, read_all};
pub use point::{
    FlowRow, LinuxMetrics, LinuxRun, LossKind, PointLine, Results, RunsOn, Settings, SlotLengths,
};
pub use transfer::{FetchedLine, LowAcks, ServedAt, ServedLine, ServingLine};

/// One line, by its kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Line {
    /// Begins an emulation.
    Emulation(EmulationLine),
    /// The network that points with the same settings share.
    Bed(BedLine),
    /// A scheme that does not run.
    Skipped(SkippedLine),
    /// The packets of a run, in a file.
    Capture(CaptureLine),
    /// The scenario that is simulated beside a scheme.
    Twin(TwinLine),
    /// One run of one scheme, on Linux or in the simulator.
    Point(Box<PointLine>),
    /// A claim of a paper, judged by the points before it.
    Claim(Box<ClaimLine>),
    /// A network was made, and stays.
    Up(UpLine),
    /// Networks were removed.
    Down(DownLine),
    /// Files are served.
    Serving(ServingLine),
    /// A connection of a server has ended.
    Served(ServedLine),
    /// Bytes were fetched.
    Fetched(FetchedLine),
    /// The features that work on this machine.
    Doctor(DoctorLine),
    /// A remark about an observation.
    Note(NoteLine),
    /// The device of the flows and remarks that follow, if several are observed.
    Device(DeviceLine),
    /// A transfer that was observed.
    Flow(Box<observed::Flow>),
    /// A device that was observed.
    Observed(Box<observed::Observation>),
    /// A law was attached.
    Attach(AttachLine),
    /// The decisions of a law in the shadow were written down.
    Logged(LoggedLine),
    /// A law that is attached.
    Attached(Box<StatusLine>),
    /// A law was detached.
    Detach(DetachLine),
    /// A trial begins.
    TrialBegin(TrialBeginLine),
    /// A period of a trial is over.
    TrialPeriod(TrialPeriod),
    /// A flow of a trial.
    TrialFlow(TrialFlow),
    /// A trial is over.
    TrialEnd(TrialEnd),
    /// Something about the input is wrong.
    Problem(ProblemLine),
    /// The machine lacks something.
    Lacks(LacksLine),
    /// Something failed.
    Failed(FailedLine),
}

/// A remark about an observation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteLine {
    /// The remark.
    pub text: String,
}

/// The device of the flows and remarks that follow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceLine {
    /// Its name.
    pub device: String,
}

/// A trial begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialBeginLine {
    /// The SHA-256 of the file of its plan, in hexadecimal digits.
    pub plan: String,
}

/// Something about the input is wrong. The exit status is 2.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProblemLine {
    /// The place and the cause.
    pub message: String,
    /// The remedy, if one is known.
    #[serde(deserialize_with = "nullable::nullable")]
    pub help: Option<String>,
}

/// The machine lacks something. The exit status is 3.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LacksLine {
    /// Whether these are privileges, which `sudo` gives.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub privileges: bool,
    /// The missing feature.
    pub what: String,
}

/// Something failed. The exit status is 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedLine {
    /// The failure, and its cause.
    pub what: String,
}

impl Line {
    /// Reads one line.
    ///
    /// # Errors
    /// If the text is not JSON, its kind is unknown, or a key is missing, unknown or of another type.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(text).map_err(|error| Unreadable::new(text, &error))
    }
}

impl fmt::Display for Line {
    /// The line as it is written, without its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Why a line cannot be read: its kind, the key and the cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable(String);

impl Unreadable {
    fn new(text: &str, error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Kind {
            r#type: String,
        }

        let cause = error.to_string();
        if !error.is_data() {
            return Self(cause);
        }
        // A line is read as a whole before its keys are, so the place is always its end.
        let cause = cause.split(" at line ").next().unwrap_or(&cause);
        Self(match serde_json::from_str::<Kind>(text) {
            Ok(kind) => format!("{}: {cause}", kind.r#type),
            Err(_) => cause.to_owned(),
        })
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}
