//! Programs in the kernel of this machine: laws, packets, leases.

mod frame;
mod laws_agree;
mod leases;
mod live;
mod packets;

use programs::LoadError;

/// What was loaded, or nothing where this machine does not let programs into its kernel, which is said aloud.
fn loaded<T>(loaded: Result<T, LoadError>) -> Option<T> {
    match loaded {
        Ok(loaded) => Some(loaded),
        Err(error) if is_root() => panic!("{error}"),
        Err(error) => {
            testing::skipped(&format!("without privileges {error}"));
            None
        }
    }
}

/// Whether this process may do everything, so that a refusal is the program's fault.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
