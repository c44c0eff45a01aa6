//! Laws at ports of a machine that forwards: a device observed, a law attached, its state read, the law detached.
//!
//! Everything that is attached is pinned in a BPF file system of our own and recorded beside it in advance. So any
//! later command finds it, even if the previous one was killed. [`doctor`] tests the machine's support for all this; it
//! is there without the feature `kernel`, too. Programs at ports are Linux's: on other systems the crate is empty.

#![cfg(target_os = "linux")]

#[cfg(feature = "kernel")]
mod attach;
#[cfg(feature = "kernel")]
mod certified;
#[cfg(feature = "kernel")]
mod decisions;
#[cfg(feature = "kernel")]
mod detach;
#[cfg(feature = "kernel")]
mod device;
mod doctor;
#[cfg(feature = "kernel")]
mod error;
#[cfg(feature = "kernel")]
mod metrics;
#[cfg(feature = "kernel")]
mod namespace;
#[cfg(feature = "kernel")]
mod observe;
#[cfg(feature = "kernel")]
mod record;
#[cfg(feature = "kernel")]
mod settings;
#[cfg(feature = "kernel")]
mod status;
#[cfg(feature = "kernel")]
mod trial;
#[cfg(feature = "kernel")]
mod watch;

pub use doctor::doctor;

#[cfg(feature = "kernel")]
pub use attach::{Attach, attach};
#[cfg(feature = "kernel")]
pub use decisions::log;
#[cfg(feature = "kernel")]
pub use detach::{Which, detach};
#[cfg(feature = "kernel")]
pub use error::DeployError;
#[cfg(feature = "kernel")]
pub use metrics::serve;
#[cfg(feature = "kernel")]
pub use observe::{Observe, observe};
#[cfg(feature = "kernel")]
pub use settings::AttachableLaw;
#[cfg(feature = "kernel")]
pub use status::{Attachment, attachments};
#[cfg(feature = "kernel")]
pub use trial::trial;
#[cfg(feature = "kernel")]
pub use watch::watch;
