//! Commands that work in another network namespace.

use std::io;

use machine::namespace::Namespace;
use scenario::Problem;

use crate::error::DeployError;

/// Does `work` in the network namespace of this name, which is the own one if it is empty.
pub(crate) fn inside<T: Send>(
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
