//! TCP without input or output.
//!
//! An [`Endpoint`] is one side of a connection: handshake, sender, receiver, close, reset. It is
//! driven: segments go in with [`Endpoint::on_segment`], segments come out of [`Endpoint::poll`] and
//! [`Endpoint::emit_ack`], and [`Endpoint::deadline`] says when it wants [`Endpoint::on_deadline`].
//! Time is always an argument. A [`Host`] holds endpoints and the roles that a scheme plays at an end
//! host: a [`SenderCc`] per connection and a [`ReceiverCc`] per host, which sees all its connections
//! and may hold their ACKs back.
//!
//! The stream is counted in 64-bit offsets, where 0 is the SYN and 1 the first byte; only the wire
//! has 32-bit sequence numbers. Payload is counted, never stored.
//!
//! ```
//! use base::{FlowId, HostId, Seq, Time};
//! use tcp::{Config, Endpoint, Identity, NewReno};
//!
//! let config = Config::default();
//! let name = |local, remote| Identity {
//!     flow: FlowId(0), local: HostId(local), remote: HostId(remote), initial_seq: Seq(7),
//! };
//! let mut client = Endpoint::new(name(0, 1), config, NewReno::new(&config));
//! let mut server = Endpoint::new(name(1, 0), config, NewReno::new(&config));
//! server.listen();
//! client.write(3000);
//! client.connect();
//!
//! // A wire without delay: whatever one side emits the other gets at once.
//! let now = Time::ZERO;
//! loop {
//!     let mut quiet = true;
//!     while let Some(segment) = client.poll(now).or_else(|| client.due_ack(now)) {
//!         server.on_segment(&segment, now);
//!         quiet = false;
//!     }
//!     while let Some(segment) = server.poll(now).or_else(|| server.due_ack(now)) {
//!         client.on_segment(&segment, now);
//!         quiet = false;
//!     }
//!     if quiet { break }
//! }
//! assert_eq!(server.received(), 3000);
//! ```

mod assembler;
mod cc;
mod config;
mod endpoint;
mod gap;
mod host;
mod host_helper;
mod low_priority;
mod plays;
mod receiver;
mod receiver_cc;
mod restart;
mod rtt;
mod scoreboard;
mod sender;
mod timestamps;
mod wheel;

pub use assembler::Assembler;
pub use cc::{
    Ack, Delivery, DeliveryCc, Echo, Established, Gauge, Loss, NewReno, Orders, SSTHRESH,
    SegmentCc, SenderCc, Unlimited,
};
pub use config::{
    AfterSynLoss, Config, EcnMode, Growth, IdleWindow, LossDetection, ReceiveWindow, Recovery,
    RtoEstimator, SendBufferSize, SsthreshOf, TailLossProbe,
};
pub use endpoint::{Abort, Endpoint, Identity, Progress, SenderHelper, State};
pub use host::{Host, Wire};
pub use host_helper::HostHelper;
pub use low_priority::LowPriority;
pub use plays::Plays;
pub use receiver::Arrival;
pub use receiver_cc::{AckKind, AckSent, AckVerdict, Plain, ReceiverCc, Release, Released, Slot};
pub use restart::Restart;
pub use sender::SenderCounters;
pub use sender::info::{CongestionState, SenderInfo};

/// The clauses of RFCs that tests of this crate prove, a list for each document in TOML.
pub const CONFORMANCE: [&str; 15] = [
    include_str!("../conformance/rfc2018.toml"),
    include_str!("../conformance/rfc3042.toml"),
    include_str!("../conformance/rfc3168.toml"),
    include_str!("../conformance/rfc5681.toml"),
    include_str!("../conformance/rfc5682.toml"),
    include_str!("../conformance/rfc5961.toml"),
    include_str!("../conformance/rfc6298.toml"),
    include_str!("../conformance/rfc6582.toml"),
    include_str!("../conformance/rfc6675.toml"),
    include_str!("../conformance/rfc6937.toml"),
    include_str!("../conformance/rfc7323.toml"),
    include_str!("../conformance/rfc8257.toml"),
    include_str!("../conformance/rfc8985.toml"),
    include_str!("../conformance/rfc9293.toml"),
    include_str!("../conformance/rfc9438.toml"),
];
