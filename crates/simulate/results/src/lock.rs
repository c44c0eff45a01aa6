//! Locks of a run folder.
//!
//! A process that fills or completes a folder alone holds an exclusive lock on `.lock` in it. Shards, which run
//! different points, hold a shared lock, and so do readers. The system releases the lock when the process ends, for any
//! reason. The file stays, because removing it would let two processes lock two different files of this name. On a file
//! system without locks nobody waits, and unfinished files have unique names.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use scenario::{Problem, Problems};

use super::cannot;

/// Holds a run folder until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// An exclusive lock for this process.
    pub(super) fn alone(folder: &Path) -> Result<Self, Problems> {
        let file = open(folder)?;
        let locked = file.try_lock();
        Self::held(file, &locked, folder)
    }

    /// A shared lock, together with other processes that ask for one.
    pub(super) fn together(folder: &Path) -> Result<Self, Problems> {
        let file = open(folder)?;
        let locked = file.try_lock_shared();
        Self::held(file, &locked, folder)
    }

    /// A lock for reading. In a folder without write permission no lock is needed, because nobody can write there.
    pub(super) fn to_read(folder: &Path) -> Result<Option<Self>, Problems> {
        let Ok(file) = File::open(folder.join(NAME)) else {
            return Ok(None);
        };
        let locked = file.try_lock_shared();
        Self::held(file, &locked, folder).map(Some)
    }

    fn held(
        file: File,
        locked: &Result<(), TryLockError>,
        folder: &Path,
    ) -> Result<Self, Problems> {
        if matches!(locked, Err(TryLockError::WouldBlock)) {
            let message = format!("another process works in {}", folder.display());
            let help = "wait until it has ended, or choose another folder";
            return Err(Problem::new(message).help(help).into());
        }
        Ok(Self { _file: file })
    }
}

fn open(folder: &Path) -> Result<File, Problems> {
    let path = folder.join(NAME);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false);
    file.open(&path)
        .map_err(|error: io::Error| cannot("write", &path, &error))
}

/// The file that is locked; empty.
pub(super) const NAME: &str = ".lock";
