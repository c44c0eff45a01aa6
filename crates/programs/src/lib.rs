//! Programs at a port of a Linux switch, which run the control laws of [`laws`] in the kernel.
//!
//! `bpf/` has a program for each law and one for congestion marks; headers of one job each parse packets, learn
//! the scales of windows from SYNs, and change a window with its checksum. Data leave by the port, and their ACKs
//! come in by it: so one device has both the queue that a law looks at and the windows that it changes.
//!
//! A program acts only as long as its lease is renewed. It never raises a window, never writes a window of zero,
//! lets everything pass that it does not know, and counts why.
//!
//! Without the feature `kernel` this crate is empty: the programs need clang, libelf and zlib to build.

#[cfg(feature = "kernel")]
mod port;
#[cfg(feature = "kernel")]
mod vectors;

#[cfg(feature = "kernel")]
pub use port::{Attached, Direction, Law, LoadError, Port, Reason};
#[cfg(feature = "kernel")]
pub use vectors::{Vector, Vectors};
