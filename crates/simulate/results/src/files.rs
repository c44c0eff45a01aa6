//! Files that are there whole or not at all, even after a loss of power.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How long a file is to stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stay {
    /// As long as its disk, even through a loss of power.
    Kept,
    /// Until its folder is removed, soon.
    Scratch,
}

/// Writes a file that is either there whole or not at all.
///
/// Meanwhile it has a name that no other process uses, so that several may work in one folder. When
/// this returns, neither a crash nor a loss of power takes the file away.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    replace_to(Stay::Kept, path, write)
}

/// The same for a file that is to stay so long.
pub(super) fn replace_to(
    stay: Stay,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = unfinished(path);
    let placed = written(stay, &temporary, write).and_then(|()| match stay {
        Stay::Kept => place(&temporary, path),
        // To wait for a disk takes longer than most points.
        Stay::Scratch => fs::rename(&temporary, path),
    });
    if placed.is_err() {
        drop(fs::remove_file(&temporary));
    }
    placed
}

/// Writes a file unless there is one: of several processes that try, one succeeds. Whether this one
/// did.
pub(super) fn create(path: &Path, text: &str) -> io::Result<bool> {
    let temporary = unfinished(path);
    let name = || match fs::hard_link(&temporary, path) {
        Ok(()) => sync_folder_of(path).map(|()| true),
        Err(_) if path.exists() => Ok(false),
        // Some file systems have no second names for a file.
        Err(_) => place(&temporary, path).map(|()| true),
    };
    let created = written(Stay::Kept, &temporary, |file| {
        file.write_all(text.as_bytes())
    });
    let created = created.and_then(|()| name());
    drop(fs::remove_file(&temporary));
    created
}

/// Gives a file that is whole, and on disk, its name.
fn place(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path)?;
    sync_folder_of(path)
}

/// The same for a file that may not be on disk yet; its name lasts once its folder is synced.
pub(super) fn settle(stay: Stay, temporary: &Path, path: &Path) -> io::Result<()> {
    if stay == Stay::Kept {
        // Some systems write back only what they may write.
        let file = OpenOptions::new().write(true).open(temporary)?;
        file.sync_all()?;
    }
    fs::rename(temporary, path)
}

/// Copies a file, whole or not at all.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(from)?;
    replace(to, |out| io::copy(&mut file, out).map(drop))
}

/// Removes every file of a folder of which `which` approves; the folder may be missing.
pub(super) fn remove(folder: &Path, which: impl Fn(&Path) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if which(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// A hidden name in the same folder for what is to become `path`.
///
/// The number of the process is not enough to make it unique: the machines of a cluster share folders
/// but not numbers.
pub(super) fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = RandomState::new().build_hasher().finish();
    path.with_file_name(format!(".{name}.{random:016x}{UNFINISHED}"))
}

/// What the file at `path` was to become, if [`unfinished`] made its name.
pub(super) fn becomes(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_prefix('.')?.strip_suffix(UNFINISHED)?;
    Some(name.rsplit_once('.')?.0.to_owned())
}

/// Makes the names in a folder outlast a loss of power.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced.as_ref().map_err(io::Error::kind) {
        // Some file systems refuse; what they hold is not for us to secure.
        Err(
            io::ErrorKind::InvalidInput
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::Unsupported,
        ) => Ok(()),
        _ => synced,
    }
}

/// Elsewhere the system does that by itself, and gives no handle of a folder.
#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes a file, to the disk itself if it is kept.
fn written(
    stay: Stay,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write(&mut file)?;
    file.flush()?;
    if stay == Stay::Scratch {
        return Ok(());
    }
    file.get_ref().sync_all()
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if folder != Path::new("") => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

/// The end of a hidden name.
const UNFINISHED: &str = ".unfinished";
