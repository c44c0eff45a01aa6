//! Programs at a port of a Linux switch, or at the device of a receiver, which run the control laws of [`laws`] in the
//! kernel.
//!
//! `bpf/` has a program for each law and one for congestion marks. Its headers parse packets, learn window scales from
//! SYNs, and change a window with its checksum. Data leaves by the port, and its ACKs come in by it, so one device has
//! both the queue that a law reads and the windows that it changes.
//!
//! A program acts only as long as its lease is renewed. It never raises a window and never writes a window of zero. It
//! passes every packet that it does not understand, and counts the reasons.
//!
//! Without the feature `kernel` this crate is empty: the programs need clang, libelf and zlib to build.

#[cfg(feature = "kernel")]
mod call_reader;
#[cfg(feature = "kernel")]
mod error;
#[cfg(feature = "kernel")]
mod losses;
#[cfg(feature = "kernel")]
mod maps;
#[cfg(feature = "kernel")]
mod objects;
#[cfg(feature = "kernel")]
pub mod observer;
#[cfg(feature = "kernel")]
mod pinned;
#[cfg(feature = "kernel")]
mod port;
#[cfg(feature = "kernel")]
pub mod probes;
#[cfg(feature = "kernel")]
mod reason;
#[cfg(feature = "kernel")]
mod receiver;
#[cfg(feature = "kernel")]
mod ring_reader;
#[cfg(feature = "kernel")]
mod vectors;
#[cfg(feature = "kernel")]
mod watchdog;

#[cfg(feature = "kernel")]
pub use call_reader::CallReader;
#[cfg(feature = "kernel")]
pub use error::LoadError;
#[cfg(feature = "kernel")]
pub use losses::{LossEvent, Losses};
#[cfg(feature = "kernel")]
pub use maps::Maps;
#[cfg(feature = "kernel")]
pub use objects::{COMPILER, build, object, queue};
#[cfg(feature = "kernel")]
pub use pinned::{AttachedProgram, Pinned};
#[cfg(feature = "kernel")]
pub use port::{Attached, Direction, HookedProgram, LoadOptions, Port};
#[cfg(feature = "kernel")]
pub use reason::Reason;
#[cfg(feature = "kernel")]
pub use receiver::{Receiver, Segment, SegmentKind};
#[cfg(feature = "kernel")]
pub use ring_reader::RingReader;
#[cfg(feature = "kernel")]
pub use vectors::{GrantVector, Vector, Vectors};
#[cfg(feature = "kernel")]
pub use watchdog::Watchdog;
