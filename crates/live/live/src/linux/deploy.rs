//! A law at a port of a machine that forwards: attached, watched, detached.
//!
//! What stands is pinned in a BPF file system of our own and written down beside it before it is made, so that any
//! later command finds it, whatever ended the one before.

mod attach;
mod detach;
mod error;
mod metrics;
mod observe;
mod place;
mod record;
mod settings;
mod status;
mod watch;

use std::io;

use machine::namespace::Namespace;
use scenario::Problem;

pub use attach::{Attach, attach};
pub use detach::{Which, detach};
pub use error::DeployError;
pub use metrics::serve;
pub use observe::{Observe, observe};
pub use settings::Scheme;
pub use status::{Attachment, attachments};
pub use watch::watch;

/// Does `work` in the network namespace of this name, which is the own one if it is empty.
fn inside<T: Send>(
    netns: &str,
    work: impl FnOnce() -> Result<T, DeployError> + Send,
) -> Result<T, DeployError> {
    if netns.is_empty() {
        return work();
    }
    let namespace = Namespace::open(netns).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let problem = Problem::new(format!("there is no network namespace {netns}"));
            DeployError::from(problem.help("`ip netns` lists them"))
        }
        _ => error.into(),
    })?;
    namespace.within(|| Ok(work()))?
}
