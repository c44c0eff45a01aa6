//! Writes files that a user has asked for, at the place that the user named.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::files;

/// The kind of output that a user named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivered {
    /// A file of its own, whose name is worth reporting.
    File,
    /// A device, a FIFO or a stream such as `/dev/stdout`.
    Stream,
}

/// An output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", .path.display())]
pub struct Undelivered {
    /// Where it was to be written.
    pub path: PathBuf,
    /// Why it was not.
    pub error: io::Error,
}

/// Writes to `path`, which may be a file, a device, a FIFO or a stream.
///
/// A regular or new file is written under another name and renamed when it is complete, so a reader never sees half of
/// it. A symbolic link is followed: its target is replaced and the link stays. Devices, FIFOs and streams are written
/// in place, because they cannot be replaced; their readers may stop early.
pub fn deliver(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<Delivered, Undelivered> {
    let written = Target::of(path).and_then(|target| target.take(write));
    written.map_err(|error| Undelivered {
        path: path.to_owned(),
        error,
    })
}

/// Whether [`deliver`] would write to a device, a FIFO or a stream.
pub fn is_stream(path: &Path) -> bool {
    matches!(Target::of(path), Ok(Target::Open(_) | Target::Special(_)))
}

/// The final target of a path after all links.
enum Target {
    /// A regular file, or a path without a file.
    File(PathBuf),
    /// A device or FIFO.
    Special(PathBuf),
    /// A file that this process has open, by its number.
    Open(u32),
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            if let Some(number) = descriptor(&path) {
                return Ok(Self::Open(number));
            }
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => {
                    let to = fs::read_link(&path)?;
                    path = path.parent().unwrap_or(Path::new("")).join(to);
                }
                Ok(found) if found.is_dir() => {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                Ok(found) if !found.is_file() => return Ok(Self::Special(path)),
                Ok(_) => return Ok(Self::File(path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::File(path));
                }
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many links lead to each other"))
    }

    fn take(
        self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<Delivered> {
        let file = match self {
            Self::File(path) => {
                return files::replace(&path, write).map(|()| Delivered::File);
            }
            Self::Special(path) => OpenOptions::new().write(true).open(path)?,
            Self::Open(number) => open(number)?,
        };
        let mut file = BufWriter::new(file);
        match write(&mut file).and_then(|()| file.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                // Drops the buffer, so that the rest that the reader refused is not written again.
                drop(file.into_parts());
            }
            written => written?,
        }
        Ok(Delivered::Stream)
    }
}

/// The number of the open file of this process that `path` names, as `/proc/self/fd/1` does.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let own = fs::canonicalize(OPEN_FILES).ok()?;
    (folder == own).then_some(number)
}

#[cfg(not(unix))]
fn descriptor(_: &Path) -> Option<u32> {
    None
}

/// Duplicates an open file of this process by its number. Its position and earlier output stay.
#[cfg(unix)]
fn open(number: u32) -> io::Result<File> {
    use std::os::fd::AsFd;

    let copy = match number {
        1 => io::stdout().as_fd().try_clone_to_owned(),
        2 => io::stderr().as_fd().try_clone_to_owned(),
        _ => {
            let path = Path::new(OPEN_FILES).join(number.to_string());
            return OpenOptions::new().append(true).open(path);
        }
    };
    copy.map(File::from)
}

#[cfg(not(unix))]
fn open(_: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The folder in which the system lists the open files of the calling process.
const OPEN_FILES: &str = "/dev/fd";
/// The most symbolic links that Linux follows (`path_resolution(7)`).
const MOST_LINKS: u32 = 40;

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::thread;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("tailwater-deliver-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            drop(fs::remove_dir_all(&folder));
            fs::create_dir_all(&folder).expect("a folder for the test");
            Self(folder)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("a folder");
            let mut names: Vec<String> = entries
                .map(|entry| entry.expect("an entry").file_name())
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    fn put(path: &Path, text: &str) -> Result<Delivered, Undelivered> {
        deliver(path, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = Folder::new("links");
        fs::create_dir(folder.path("far")).unwrap();
        symlink("far/file", folder.path("near")).unwrap();
        symlink("near", folder.path("link")).unwrap();
        // The first turn creates the file, the second replaces it.
        for text in ["one", "two"] {
            assert_eq!(put(&folder.path("link"), text).unwrap(), Delivered::File);
            assert_eq!(fs::read_to_string(folder.path("far/file")).unwrap(), text);
        }
        let is_link = |name| {
            fs::symlink_metadata(folder.path(name))
                .unwrap()
                .is_symlink()
        };
        assert!(is_link("link") && is_link("near"));
        assert_eq!(folder.names(), ["far", "link", "near"]);
        symlink("b", folder.path("a")).unwrap();
        symlink("a", folder.path("b")).unwrap();
        let error = put(&folder.path("a"), "").unwrap_err().to_string();
        assert!(error.contains("/a: too many links"), "{error}");
    }

    #[test]
    fn a_fifo_is_written_to_and_its_reader_may_stop() {
        let folder = Folder::new("fifo");
        let fifo = folder.path("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        assert!(is_stream(&fifo));
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo).unwrap()
        });
        assert_eq!(put(&fifo, "all of it").unwrap(), Delivered::Stream);
        assert_eq!(reader.join().unwrap(), "all of it");
        // This reader opens the FIFO and leaves.
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || drop(File::open(fifo).unwrap())
        });
        let many = "a line\n".repeat(100_000);
        assert_eq!(put(&fifo, &many).unwrap(), Delivered::Stream);
        reader.join().unwrap();
        assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_device_stays_a_device() {
        let folder = Folder::new("device");
        symlink("/dev/null", folder.path("null")).unwrap();
        assert_eq!(
            put(&folder.path("null"), "text").unwrap(),
            Delivered::Stream
        );
        let device = fs::symlink_metadata("/dev/null").unwrap().file_type();
        assert!(device.is_char_device());
    }

    #[test]
    fn an_open_file_keeps_what_was_written_to_it_before() {
        use std::os::fd::AsRawFd;

        let folder = Folder::new("open");
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(folder.path("file"))
            .unwrap();
        file.write_all(b"before, ").unwrap();
        let name = PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd()));
        assert_eq!(put(&name, "after").unwrap(), Delivered::Stream);
        let text = fs::read_to_string(folder.path("file")).unwrap();
        assert_eq!(text, "before, after");
        assert!(is_stream(Path::new("/dev/stdout")) && is_stream(Path::new("/proc/self/fd/2")));
        assert!(!is_stream(&folder.path("1")));
    }

    #[test]
    fn an_error_names_the_file() {
        let folder = Folder::new("errors");
        for name in [folder.path("none/file"), folder.0.clone()] {
            let error = put(&name, "text").unwrap_err().to_string();
            let begin = format!("cannot write {}: ", name.display());
            assert!(error.starts_with(&begin), "{error}");
        }
        // No disk takes this.
        let full = Path::new("/dev/full");
        if full.exists() {
            let error = put(full, "text").unwrap_err().to_string();
            assert!(error.starts_with("cannot write /dev/full: "), "{error}");
        }
    }
}
