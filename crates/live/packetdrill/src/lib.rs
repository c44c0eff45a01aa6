//! Scripts in packetdrill's syntax that drive an endpoint.
//!
//! A script says what an application does, what the peer sends, and what must leave and when; packetdrill
//! runs it against a kernel, this crate against the sans-IO [`tcp::Endpoint`], in virtual time. [`script`]
//! reads the syntax, with the segments in [`segment`]; `driver` lets it happen, `matcher` compares what
//! leaves with what is expected, [`assertion`] evaluates the Python between `%{` and `}%` as far as
//! assertions on `tcp_info` need it, and [`kernel`] translates what a script asks of a kernel into settings.
//!
//! A script names settings of its own as packetdrill's options are named:
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
//! packetdrill::run(script, &packetdrill::Own).expect("it passes");
//! ```
//!
//! It is a crate and no folder of tests because `cargo xtask packetdrill` runs public collections with it,
//! and because a script names a profile and a scheme, which the crate of TCP does not know.

pub mod assertion;
pub mod corpus;
mod driver;
pub mod kernel;
pub mod matcher;
mod options;
pub mod script;
pub mod segment;

use std::fmt;

pub use kernel::{Host, Kernel, Own};

/// Why a script did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Line of the script, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub cause: Cause,
}

/// What can be wrong with a script or with the endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The script needs something that is not there: which, in the words of [`Lacks`].
    Lacks(Lacks, String),
    /// The endpoint did something else.
    Differs(String),
}

/// What scripts may need that the endpoint, its host or this interpreter does not have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lacks {
    /// Syntax that is not read.
    Syntax,
    /// A call of the application.
    Call,
    /// A command of the shell, or a setting of the kernel.
    Command,
    /// A value of `tcp_info`.
    Info,
    /// Packets that a queue of the kernel paces.
    Pacing,
    /// A time of the day in place of virtual time.
    Clock,
}

impl Lacks {
    /// It in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Syntax => "syntax that is not read",
            Self::Call => "a call that is not driven",
            Self::Command => "a command or setting of the kernel without a counterpart",
            Self::Info => "a value of tcp_info that is not kept",
            Self::Pacing => "pacing by the fq queue",
            Self::Clock => "a clock other than virtual time",
        }
    }
}

/// Runs a script on this host. Its settings and the scheme of the sender are those of the host, changed by
/// what the script asks for.
///
/// # Errors
/// The first line that asks for something that is not there, or that the endpoint does not do.
pub fn run(text: &str, host: &dyn Host) -> Result<(), Failure> {
    let script = script::Script::parse(text)?;
    let machine = options::machine(&script, host)?;
    driver::Driver::new(machine).run(&script)
}

impl Failure {
    /// The endpoint differs at `line`.
    pub(crate) fn differs(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            cause: Cause::Differs(what.into()),
        }
    }

    /// Line `line` needs `what`.
    pub(crate) fn lacks(line: usize, lack: Lacks, what: impl Into<String>) -> Self {
        Self {
            line,
            cause: Cause::Lacks(lack, what.into()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.cause {
            Cause::Lacks(lack, what) => write!(f, "{}: {what}", lack.words()),
            Cause::Differs(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}
