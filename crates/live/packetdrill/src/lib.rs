//! Scripts in packetdrill's syntax for an endpoint.
//!
//! A script lists the calls of an application, the segments of a peer, and the segments that must leave, with their
//! times. packetdrill runs it against a kernel. This crate runs it against the sans-IO [`tcp::Endpoint`], in virtual
//! time. [`script`] parses the syntax, and [`segment`] its segments. `driver` runs it, `matcher` compares the leaving
//! segments with the expected ones, [`assertion`] evaluates the Python between `%{` and `}%` as far as assertions on
//! `tcp_info` need it, and [`kernel`] translates requests to a kernel into settings.
//!
//! A script sets options in the notation of packetdrill:
//!
//! ```
//! let script = "
//! --tcp.profile=linux
//!  0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//! +0    listen(3, 1) = 0
//! +0    < S 0:0(0) win 32792 <mss 1000,sackOK>
//! +0    > S. 0:0(0) ack 1 <mss 1448,nop,nop,sackOK>
//! +.1   < . 1:1(0) ack 1 win 8000
//! +0    accept(3, ..., ...) = 4
//! +0    write(4, ..., 2000) = 2000
//! +0    > . 1:2001(2000) ack 1
//! +.1   %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
//! +0    < . 1:1(0) ack 2001 win 8000
//! ";
//! packetdrill::run(script, &packetdrill::DefaultHost).expect("it passes");
//! ```
//!
//! It is a crate and no folder of tests, because `cargo xtask packetdrill` runs public collections with it, and because
//! a script names a profile and a scheme, which the TCP crate does not know.

pub mod assertion;
pub mod corpus;
mod driver;
mod failure;
pub mod kernel;
pub mod matcher;
mod options;
pub mod script;
pub mod segment;

pub use failure::{FailureCause, Lacks, ScriptFailure};
pub use kernel::{DefaultHost, LinuxHost, ScriptHost};

/// Runs a script on this host. The host's settings and scheme apply, as changed by the script.
///
/// # Errors
/// The first line that needs a missing feature, or with which the endpoint disagrees.
pub fn run(text: &str, host: &dyn ScriptHost) -> Result<(), ScriptFailure> {
    let script = script::Script::parse(text)?;
    let machine = options::machine(&script, host)?;
    driver::Driver::new(machine).run(&script)
}
