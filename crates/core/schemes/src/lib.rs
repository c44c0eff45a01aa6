//! Congestion-control schemes and the registry that names them.
//!
//! A scheme is a bundle of roles. A role it leaves out is the plain one: a NewReno sender, a receiver
//! that acknowledges at once. Schemes that fill different roles compose: `rcc+newreno` puts RCC's receiver
//! and its helper at the sending host beside a sender with a congestion window. Adding a scheme is one file and two lines below; `CONTRIBUTING.md`
//! shows it with an example.
//!
//! ```
//! let bundle = schemes::Bundle::parse("dctcp").expect("a registered scheme");
//! assert!(bundle.needs_marking());
//! assert!(schemes::Bundle::parse("dtcp").is_err());
//! ```

#[macro_use]
mod registry;
mod roster;
mod window_scale;

pub mod cubic;
pub mod dcqcn;
pub mod dctcp;
pub mod hscc;
pub mod ictcp;
pub mod newreno;
pub mod pias;
pub mod qos;
pub mod rc3;
pub mod rcc;
pub mod rcp;
pub mod rdtcp;
pub mod red;
pub mod red_ecn;
pub mod rwndq;
pub mod swift;
pub mod xcp;

// The clauses that decisions of senders follow.
pub mod clause;

pub use registry::{
    BuildRoles, Bundle, BundleError, Cause, Derived, FlowInfo, Helper, Hold, HostInfo, MakeHook,
    MakeHost, MakeQueue, MakeReceiver, MakeSender, Misfit, Origin, ParamTexts, PlainSwitches,
    PortInfo, RegistrationError, Role, Roles, Scheme, Ticker, TickerOf, all, give_up, given_up,
    linux, register,
};

/// The scheme of the plain sender, with which others are compared.
pub const PLAIN_SENDER: &Scheme = &newreno::SCHEME;

/// Names that messages show where a list of schemes is expected.
pub const EXAMPLES: [&str; 2] = [newreno::SCHEME.name, dctcp::SCHEME.name];

/// The scheme of the senders that Linux has unless it is told otherwise.
pub const USUAL_OF_LINUX: &Scheme = &cubic::SCHEME;

schemes! {
    newreno,
    dctcp { sender: Sender, receiver: Observer },
    rcc { receiver: GrantScheduler },
    rdtcp,
    ictcp { receiver: Interface },
    cubic { sender: Sender },
    hscc,
    rwndq,
    red,
    red_ecn,
    pias,
    xcp { sender: Sender, receiver: Receiver },
    rcp { sender: Sender, receiver: Receiver },
    rc3,
    qos,
    dcqcn { sender: Sender, receiver: Receiver },
    swift { sender: Sender, receiver: Receiver },
}
