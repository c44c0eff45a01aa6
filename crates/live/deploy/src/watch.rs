//! The watchdog of grants: a process that serves connections waiting for a grant when no ACK leaves.
//!
//! It ends when the pin of its program is removed, or with the lease. Without it the program goes on, and a sender's
//! probe does the same 200 ms later.

use std::env;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use machine::interrupt;
use machine::namespace::Namespace;
use machine::privilege::drop_all;
use programs::{Pinned, Watchdog};

use crate::device::DeviceId;
use crate::error::DeployError;

/// Watches the attachment of a device until that ends. There is one for each device; another one waits.
///
/// # Errors
/// If there is no such device, or the kernel refuses.
pub fn watch(netns: &str, device: &str) -> Result<(), DeployError> {
    if !netns.is_empty() {
        Namespace::open(netns)?.enter()?;
    }
    let (place, _) = DeviceId::find(netns, device)?;
    let lock = File::create(place.watched())?;
    let Some((watchdog, pin)) = open(&place)? else {
        return Ok(());
    };
    drop_all()?;
    lock.lock()?;
    let is_there =
        || fs::metadata(place.pins().join(Watchdog::PIN)).is_ok_and(|it| it.ino() == pin);
    while is_there() && !watchdog.maps().lease_left()?.is_zero() {
        // A device that is gone, too, ends it.
        watchdog.look(place.device)?;
        interrupt::check()?;
        thread::sleep(Watchdog::PERIOD);
    }
    Ok(())
}

/// The watchdog that is pinned for this place, with the number of its pin.
fn open(place: &DeviceId) -> Result<Option<(Watchdog, u64)>, DeployError> {
    let folder = place.pins();
    let Some(pins) = Pinned::open(&folder)? else {
        return Ok(None);
    };
    let watchdog = Watchdog::open(&folder, pins.maps()?)?;
    let pin = fs::metadata(folder.join(Watchdog::PIN)).map(|it| it.ino());
    Ok(watchdog.zip(pin.ok()))
}

impl DeviceId {
    /// Whether a process watches it.
    pub(crate) fn is_watched(&self) -> bool {
        let file = File::open(self.watched());
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Starts a process that watches it and outlives this one, unless one does already. `is_other` says that its
    /// program is new. Returns whether a process watches it.
    pub(crate) fn let_watch(&self, is_other: bool) -> io::Result<bool> {
        if self.is_watched() && !is_other {
            return Ok(true);
        }
        let mut command = Command::new(env::current_exe()?);
        command.args(["watch", "--dev", &self.name]);
        if !self.netns.is_empty() {
            command.args(["--netns", &self.netns]);
        }
        // It does not hold a terminal or pipe of this command, and does not end with them.
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        let quiet = quiet
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0);
        quiet.spawn()?;
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(5));
            if self.is_watched() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
