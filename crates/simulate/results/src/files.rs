//! Files that are complete or do not exist, even after a loss of power.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How long a file must survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stay {
    /// As long as its disk, even through a loss of power.
    Kept,
    /// Until its folder is removed, soon.
    Scratch,
}

/// Writes a file that is either complete or does not exist.
///
/// While it is written it has a name that no other process uses, so that several processes may work in one folder.
/// After this returns, the file survives a crash or a loss of power.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    replace_to(Stay::Kept, path, write)
}

/// The same with this requirement on how long the file survives.
pub(super) fn replace_to(
    stay: Stay,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = unfinished(path);
    let placed = written(stay, &temporary, write).and_then(|()| match stay {
        Stay::Kept => place(&temporary, path),
        // Waiting for a disk takes longer than most points.
        Stay::Scratch => fs::rename(&temporary, path),
    });
    if placed.is_err() {
        drop(fs::remove_file(&temporary));
    }
    placed
}

/// Writes a file if there is none. If several processes try, one succeeds. Returns whether this one did.
pub(super) fn create(path: &Path, text: &str) -> io::Result<bool> {
    let temporary = unfinished(path);
    let name = || match fs::hard_link(&temporary, path) {
        Ok(()) => sync_folder_of(path).map(|()| true),
        Err(_) if path.exists() => Ok(false),
        // Some file systems do not support hard links.
        Err(_) => place(&temporary, path).map(|()| true),
    };
    let created = written(Stay::Kept, &temporary, |file| {
        file.write_all(text.as_bytes())
    });
    let created = created.and_then(|()| name());
    drop(fs::remove_file(&temporary));
    created
}

/// Gives a complete and synced file its name.
fn place(temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path)?;
    sync_folder_of(path)
}

/// The same for a file that may not be on disk yet. Its name survives a loss of power once its folder is synced.
pub(super) fn settle(stay: Stay, temporary: &Path, path: &Path) -> io::Result<()> {
    if stay == Stay::Kept {
        // Some systems only sync files that are open for writing.
        let file = OpenOptions::new().write(true).open(temporary)?;
        file.sync_all()?;
    }
    fs::rename(temporary, path)
}

/// Copies a file, completely or not at all.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(from)?;
    replace(to, |out| io::copy(&mut file, out).map(drop))
}

/// Removes the files of a folder that `which` selects. The folder may be missing.
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

/// A hidden temporary name in the same folder for the future file `path`.
///
/// The process id alone is not unique: the machines of a cluster share folders but not process ids.
pub(super) fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = RandomState::new().build_hasher().finish();
    path.with_file_name(format!(".{name}.{random:016x}{UNFINISHED}"))
}

/// The final name of the temporary file at `path`, if [`unfinished`] made its name.
pub(super) fn becomes(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_prefix('.')?.strip_suffix(UNFINISHED)?;
    Some(name.rsplit_once('.')?.0.to_owned())
}

/// Makes the names in a folder survive a loss of power.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced.as_ref().map_err(io::Error::kind) {
        // Some file systems refuse; we cannot secure files there.
        Err(
            io::ErrorKind::InvalidInput
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::Unsupported,
        ) => Ok(()),
        _ => synced,
    }
}

/// Other systems do this by themselves, and have no handle of a folder.
#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes a file, and syncs it to disk if it must survive.
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
