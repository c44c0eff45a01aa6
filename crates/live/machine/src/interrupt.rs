//! Signals that ask the process to end. The network is removed first.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static HEARD: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Handles Ctrl-C, SIGTERM and SIGHUP from now on. Signals that were ignored when the process was started, as with
/// `nohup` and shells without job control, stay ignored.
///
/// # Errors
/// If the system refuses.
pub fn listen() -> io::Result<()> {
    let heard = HEARD.get_or_init(Arc::default);
    let ignored = ignored()?;
    let listened = [SIGHUP, SIGINT, SIGTERM].into_iter();
    for signal in listened.filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        let number = usize::try_from(signal).map_err(io::Error::other)?;
        flag::register_usize(signal, Arc::clone(heard), number)?;
    }
    Ok(())
}

/// A bit mask of the signals that this process ignores; the lowest bit is signal 1.
fn ignored() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.ok_or_else(|| io::Error::other("the kernel does not report which signals are ignored"))
}

/// The signal that has arrived, if any.
pub fn heard() -> Option<u8> {
    let signal = HEARD.get()?.load(Ordering::Relaxed);
    u8::try_from(signal).ok().filter(|signal| *signal > 0)
}

/// An error once a signal has arrived.
pub fn check() -> io::Result<()> {
    match heard() {
        Some(_) => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
        None => Ok(()),
    }
}
