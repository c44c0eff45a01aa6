//! The TCP of a Linux kernel in virtual time, as an oracle for the simulator's.
//!
//! User-mode Linux with time travel is a kernel whose processor costs no time: a transfer takes only the time of links,
//! queues and timers, as in a simulation. [`list`] names the scenarios, [`kernel`] builds the kernel, [`boot`] runs
//! scenarios on it, [`mod@simulate`] runs them here, [`mod@judge`] decides, [`mod@compare`] does both for many,
//! [`mod@page`] writes the result. [`mod@question`] makes a scenario from a command line. [`stream`] compares single
//! endpoints with the segments that the kernel's senders received.

pub mod answer;
pub mod boot;
pub mod compare;
pub mod judge;
pub mod kernel;
pub mod list;
pub mod page;
pub mod question;
pub mod simulate;
pub mod stream;
pub mod walk;

pub use compare::compare;
pub use judge::judge;
pub use page::page;
pub use simulate::simulate;
