//! Network namespaces with names, as `ip netns` makes them.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic;
use std::path::PathBuf;
use std::thread;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};

/// A namespace that exists until its name is removed.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    file: File,
}

impl Namespace {
    /// Makes a namespace.
    ///
    /// # Errors
    /// If the name is taken, or the kernel refuses.
    pub fn create(name: &str) -> io::Result<Self> {
        fs::create_dir_all(FOLDER)?;
        let path = path(name);
        File::options().write(true).create_new(true).open(&path)?;
        let made = on_own_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let nothing = None::<&str>;
            let own = Some("/proc/thread-self/ns/net");
            mount(own, &path, nothing, MsFlags::MS_BIND, nothing)?;
            Ok(())
        });
        match made {
            Ok(()) => Self::open(name),
            Err(error) => {
                drop(fs::remove_file(&path));
                Err(error)
            }
        }
    }

    /// A namespace that exists.
    ///
    /// # Errors
    /// If no namespace has this name.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            file: File::open(path(name))?,
        })
    }

    /// Another handle of the same namespace.
    ///
    /// # Errors
    /// If the process has no room for another open file.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            name: self.name.clone(),
            file: self.file.try_clone()?,
        })
    }

    /// The name, below `/run/netns`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does `work` inside: sockets that it opens belong to the namespace. Only the network changes; files stay the
    /// machine's, except for `/proc/sys/net` and `/proc/thread-self/net`.
    ///
    /// # Errors
    /// If the kernel refuses, and the errors of `work`.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_own_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Moves this thread inside for good.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Removes the name; the namespace disappears with its last socket. A missing name is no error.
///
/// # Errors
/// If the name cannot be removed.
pub fn remove(name: &str) -> io::Result<()> {
    let path = path(name);
    // An interrupted creation leaves a file without a mount.
    umount2(&path, MntFlags::MNT_DETACH).unwrap_or(());
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a namespace has this name.
pub fn exists(name: &str) -> bool {
    path(name).exists()
}

/// The names of all namespaces.
///
/// # Errors
/// If they cannot be listed.
pub fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(name)
}

/// A separate thread changes its namespace and ends; other threads stay in theirs.
fn on_own_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => panic::resume_unwind(panic),
    })
}

/// Where `ip netns` looks for names.
const FOLDER: &str = "/run/netns";
