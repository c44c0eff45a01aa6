//! Our TCP against the kernel's, over a TUN device.
//!
//! One side of the device is a namespace with the kernel's TCP, the other one is this process. It reads packets, passes
//! them to the unchanged endpoints of `tcp`, and writes their answers. So endpoints that were only simulated are
//! checked against an independent stack. Time is the monotonic clock. Impairments of a network, [`Impairment`], are
//! made here, drawn from a seed.
//!
//! [`Session`] makes transfers in both directions and reports whether every byte was right and how the connections
//! closed. [`serve`] answers requests with files, for ordinary programs; [`fetch`] is such a program. [`script`] runs a
//! timed script against the kernel. TUN devices exist on Linux only: on other systems the crate is empty.

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
