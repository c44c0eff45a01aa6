//! The TCP of a Linux kernel in virtual time, as an oracle for the simulator's.
//!
//! User-mode Linux with time travel is a kernel whose processor costs no time: what a transfer takes is what links,
//! queues and timers make it take, as in a simulation. [`list`] names the scenarios, [`kernel`] builds the kernel,
//! [`boot`] runs scenarios on it, [`mod@simulate`] runs them here, [`mod@judge`] decides, [`mod@compare`] does both for many, [`mod@page`] tells.
//! [`mod@question`] makes a scenario of a command line, and [`stream`] holds single endpoints against what the kernel's senders received.

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
