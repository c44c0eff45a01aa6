//! A record of what is attached, written in advance, so that it is found after a crash.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use programs::{AttachedProgram, Watchdog};
use serde::{Deserialize, Serialize};

use crate::device::{DeviceId, Root};
use crate::settings::AttachableLaw;

/// The record of a law that is attached to a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Whether everything was done; otherwise a part of it may be attached.
    pub(crate) is_complete: bool,
    pub(crate) place: DeviceId,
    /// The device whose queue the law reads, if it is another one.
    pub(crate) queue_of: Option<DeviceId>,
    /// The root queue, for a law that reads a queue.
    pub(crate) root: Option<Root>,
    pub(crate) scheme: AttachableLaw,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) buffer: u64,
    pub(crate) mtu: u32,
    pub(crate) no_retract: bool,
    /// Whether the law changes no packet.
    #[serde(default)]
    pub(crate) shadow: bool,
    /// The hash of the programs' objects, so that another build replaces them.
    pub(crate) build: u64,
    /// The version of the program that wrote it; empty for records from before this field.
    #[serde(default)]
    pub(crate) version: String,
    pub(crate) programs: Vec<Program>,
}

/// The writer of a record, regardless of its other contents.
#[derive(Deserialize)]
struct Writer {
    version: String,
}

/// A program that may stand at a hook of the device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) way: String,
    pub(crate) number: u32,
    pub(crate) tag: String,
    /// The number of its link, once there is one.
    pub(crate) link: Option<u32>,
}

impl Program {
    /// Whether this is the program that is attached there.
    pub(crate) fn is(&self, standing: &AttachedProgram) -> bool {
        self.way == standing.way.name()
            && self.number == standing.program
            && self.tag == standing.tag
            && self.link.is_none_or(|link| link == standing.link)
    }
}

impl Record {
    /// All records, in the order of their devices.
    pub(crate) fn all() -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(RECORDS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut records = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "json") {
                records.extend(Self::read(&path)?);
            }
        }
        records.sort_by_key(|record| (record.place.namespace, record.place.device));
        Ok(records)
    }

    /// The record of a place, if there is one.
    pub(crate) fn of(place: &DeviceId) -> io::Result<Option<Self>> {
        Self::read(&place.file("json"))
    }

    fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            text => Self::parse(path, &text?).map(Some),
        }
    }

    fn parse(path: &Path, text: &[u8]) -> io::Result<Self> {
        serde_json::from_slice(text).map_err(|error| {
            let version = serde_json::from_slice::<Writer>(text).map(|writer| writer.version);
            let writer = version.map_or_else(
                |_| "an earlier version".to_owned(),
                |version| format!("tailwater {version}"),
            );
            let (path, own) = (path.display(), sim::VERSION);
            io::Error::other(format!(
                "{path}: {error}; {writer} wrote this record, and this is tailwater {own}: detach with the version that \
                 attached"
            ))
        })
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write(&self) -> io::Result<()> {
        let new = self.place.file("new");
        fs::write(&new, serde_json::to_vec_pretty(self)?)?;
        fs::rename(new, self.place.file("json"))
    }
}

impl DeviceId {
    /// The folder of its pins.
    pub(crate) fn pins(&self) -> PathBuf {
        let namespace = Path::new(PINS).join(self.namespace.to_string());
        namespace.join(self.device.to_string())
    }

    /// Makes the folder of its pins, in a BPF file system of our own.
    pub(crate) fn make_pins(&self) -> io::Result<()> {
        fs::create_dir_all(PINS)?;
        if !is_mounted()? {
            let nothing = None::<&str>;
            mount(
                nothing,
                PINS,
                Some("bpf"),
                MsFlags::empty(),
                Some("mode=0700"),
            )?;
        }
        fs::create_dir_all(self.pins())
    }

    /// Removes the pins of the place: their folders, and the record last.
    pub(crate) fn forget(&self) -> io::Result<()> {
        let pins = self.pins();
        self.unpin_watchdog()?;
        gone(fs::remove_dir(&pins))?;
        // Other devices of the namespace may have pins.
        if let Some(namespace) = pins.parent() {
            fs::remove_dir(namespace).unwrap_or(());
        }
        gone(fs::remove_file(self.watched()))?;
        gone(fs::remove_file(self.file("new")))?;
        gone(fs::remove_file(self.file("json")))
    }

    /// Removes the pin of the watchdog's program, if there is one; the watchdog's process notices that and ends.
    pub(crate) fn unpin_watchdog(&self) -> io::Result<()> {
        gone(fs::remove_file(self.pins().join(Watchdog::PIN)))
    }

    /// The file that the watchdog's process holds a lock on.
    pub(crate) fn watched(&self) -> PathBuf {
        self.file("watched")
    }

    fn file(&self, end: &str) -> PathBuf {
        let name = format!("{}-{}.{end}", self.namespace, self.device);
        Path::new(RECORDS).join(name)
    }
}

/// One command at a time changes what is attached; the others wait. It goes with its process, and leaves no file.
pub(crate) struct Lock(#[expect(dead_code, reason = "held until it is dropped")] File);

impl Lock {
    pub(crate) fn take() -> io::Result<Self> {
        fs::create_dir_all(RECORDS)?;
        let folder = File::open(RECORDS)?;
        folder.lock()?;
        Ok(Self(folder))
    }
}

fn is_mounted() -> io::Result<bool> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let mut mounts = mounts.lines().map(|line| line.split(' '));
    Ok(mounts.any(|mut words| words.nth(1) == Some(PINS) && words.next() == Some("bpf")))
}

/// A missing file counts as removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

const RECORDS: &str = "/run/tailwater/attached";
const PINS: &str = "/run/tailwater/bpf";

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str = r#"{
        "is_complete": true,
        "place": { "namespace": 1, "netns": "", "device": 3, "name": "p1" },
        "queue_of": null, "root": null, "scheme": "hscc", "settings": [], "buffer": 64000, "mtu": 1500,
        "no_retract": false, "build": 7, "programs": []
    }"#;

    #[test]
    fn a_record_of_another_version_is_read_or_its_version_is_named() {
        let parse = |text: &str| Record::parse(Path::new("1-3.json"), text.as_bytes());
        assert_eq!(parse(EARLIER).expect("a record").version, "");
        let error = |text: String| parse(&text).expect_err("a field is missing").to_string();
        let unnamed = error(EARLIER.replace("\"mtu\": 1500,", ""));
        assert!(
            unnamed.starts_with("1-3.json: missing field `mtu`"),
            "{unnamed}"
        );
        assert!(
            unnamed.contains("an earlier version wrote this record"),
            "{unnamed}"
        );
        let named = error(EARLIER.replace("\"mtu\": 1500", "\"version\": \"0.1.0+abc\""));
        assert!(
            named.contains("tailwater 0.1.0+abc wrote this record"),
            "{named}"
        );
    }
}
