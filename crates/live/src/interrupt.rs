//! Signals that ask the process to end: the network is removed first.

use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static HEARD: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Hears Ctrl-C, SIGTERM and SIGHUP from now on.
///
/// # Errors
/// If the system refuses.
pub fn listen() -> io::Result<()> {
    let heard = HEARD.get_or_init(Arc::default);
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        let number = usize::try_from(signal).map_err(io::Error::other)?;
        flag::register_usize(signal, Arc::clone(heard), number)?;
    }
    Ok(())
}

/// The signal that was heard, if any.
pub fn heard() -> Option<u8> {
    let signal = HEARD.get()?.load(Ordering::Relaxed);
    u8::try_from(signal).ok().filter(|signal| *signal > 0)
}

/// An error once a signal was heard.
pub(crate) fn check() -> io::Result<()> {
    match heard() {
        Some(_) => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted")),
        None => Ok(()),
    }
}
