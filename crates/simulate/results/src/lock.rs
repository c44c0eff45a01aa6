//! Who may work in a run folder at a time.
//!
//! A process that fills a folder alone, or ends it, holds `.lock` in it for itself; shards, which run
//! different points, hold it together, and so do readers. The system gives the lock back when the
//! process ends, however it ends. The file stays: removing it would let two processes hold two files
//! of this name. On a file system without locks nobody waits for anybody, and unfinished files have
//! names of their own.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use scenario::{Problem, Problems};

use super::cannot;

/// A run folder is held until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// For this process and no other.
    pub(super) fn alone(folder: &Path) -> Result<Self, Problems> {
        let file = open(folder)?;
        let locked = file.try_lock();
        Self::held(file, &locked, folder)
    }

    /// For this process and others that ask for the same.
    pub(super) fn together(folder: &Path) -> Result<Self, Problems> {
        let file = open(folder)?;
        let locked = file.try_lock_shared();
        Self::held(file, &locked, folder)
    }

    /// For reading, which may not need it: nobody works in a folder in which nobody may write.
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
