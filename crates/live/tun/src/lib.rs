//! Our TCP against the kernel's, over a TUN device.
//!
//! One side of the device is a namespace with the kernel's TCP, the other one is this process: it reads
//! packets, lets the endpoints of `tcp`, unchanged, answer them, and writes what they send. So endpoints that
//! were only simulated are held against a stack that nobody here wrote. Time is the monotonic clock, and what a
//! network would do to packets on their way, [`Impairment`], is done here, drawn from a seed.
//!
//! [`Session`] makes transfers of both directions and says whether every byte was right and how the connections
//! closed; [`serve`] answers requests with files, for programs that know nothing of all this; [`fetch`] is such a
//! program. [`script`] lets a timed script happen to the kernel. TUN devices are Linux's: elsewhere the crate is empty.

#![cfg(target_os = "linux")]

mod capture;
mod connection;
mod device;
mod failure;
mod fetch;
mod host;
mod low;
mod path;
mod request;
pub mod script;
mod serve;
mod stack;
mod transfer;

pub use failure::Failure;
pub use fetch::{Fetch, fetch};
pub use low::LowRule;
pub use path::Impairment;
pub use serve::{Serve, serve};
pub use transfer::{Done, Session, Setup, Side, Transfer};
