//! RCC: the receiver decides every sender's window and holds ACKs back.
//!
//! Each receiving host has a scheduler. It assigns windows to its connections (`assign`), counts the
//! data that senders may have in the network (`scheduler`), and lets an ACK leave only while
//! that stays below the budget; the others wait in the buffer queue (`ack_queue`), short flows
//! first. Each connection runs a NewReno-like control, an ECN response (`control`) and a round-trip
//! estimate with a timer that sends lost ACKs again (`timing`). The sender obeys ([`tcp::Orders`]); composed
//! with another scheme, `rcc+newreno`, it has that one's congestion window beside the receiver's.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | `queue_maxsize` | `rcc.max_queue` | 40 packets | §6.1; `"auto"`: RDTCP |
//! | p | `rcc.priority` | remaining size | Alg. 1 l. 3 |
//! | surplus | `rcc.surplus` | with priorities only | Alg. 1 l. 10-17 |
//! | release test | `rcc.release` | below the budget | Alg. 2 l. 3 |
//! | maximum of skiptime | `rcc.skip_max` | C * `RTO_r` / 2 | §4.2 |
//! | PSH bonus | `rcc.push_bonus` | C * `RTO_r` / 4 | §4.5 |
//! | alpha | `rcc.alpha` | moving average, 1/16 | §4.6, eq. 3 |
//! | history queue | `rcc.history` | every ACK | §4.4 |
//! | window after recovery | `rcc.full_ack` | segment + MSS | published code; §4.3: as NewReno, flight + MSS |
//! | least `RTO_r` | `rcc.min_rto` | 10 ms | §6.1 |
//! | withheld grants | `rcc.hold` | ACKs are held | ours; [`laws::Grants`] |
//! | doubling of `RTO_r` | `rcc.max_backoff` | up to 64 times | Alg. 3 l. 6 |
//! | retransmissions of the sender's own | `rcc.sender_retransmits` | as TCP's | footnote 7 |
//!
//! Deviations: data in flight is counted in bytes by a formula that cannot leak; the surplus loop ends
//! when a window covers the whole need; windows are assigned when the SYN is accepted; the queue is
//! drained whenever the flight falls, not only when an ACK is generated; duplicates reset on data in
//! order, as TCP's do; a grant that was lost leaves the flight with the receiver's timer, a repeated
//! SYN, or data repeated while its ACK waits; an ACK of a flow that expects no more data passes the buffer queue, where
//! Algorithm 2 has every ACK wait. Alpha is a moving average with weight 1/16, where equation 3 has the plain ratio of a round
//! trip (`rcc.alpha = "ratio"`). A mark halves ssthresh, and marked data does not grow the window: so the published code, and
//! not the text. The surplus goes to the highest priority first, as RDTCP has it, where Algorithm 1 as printed begins with
//! the lowest (`rcc.surplus = "largest"`). The first window after recovery is one segment more than the one that filled the
//! gap, as in the published code, where NewReno has one more than what is in flight (`rcc.full_ack = "flight"`).
//!
//! With `rcc.hold = "grant"` every ACK leaves, and what is held back is its right edge: `grants`, which calls the law
//! that runs in the kernel.
//!
//! Open in the paper: whether the priority is the initial or the remaining size (remaining: the two
//! groups of Fig. 7(c) need it), whether the release test includes equality (as printed it does; here it
//! does not: 40 packets in flight give the queue of §6.1), whether merged duplicate ACKs hide losses from
//! the sender (`rcc.merge_dupacks`).

mod ack_queue;
mod assign;
mod control;
mod grants;
mod kernel;
mod params;
mod scheduler;
mod timing;

pub use scheduler::GrantScheduler;

use base::setting::Settings;
use tcp::{EcnMode, Orders};

use crate::Receiver;
use crate::registry::linux::Linux;
use crate::registry::{Helper, HostInfo, Misfit, Role, Roles, Scheme, Ticker, TickerOf};
use grants::Grants;
pub use params::Params;
#[cfg(test)]
pub(crate) use params::Timer as TimerLaw;
use params::Withheld;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "rcc",
    summary: "Receiver-oriented congestion control: the receiver sets windows and paces ACKs",
    how: "Each receiving host has a scheduler over all its connections. It counts the data that senders \
          may have in the network, and lets an ACK leave only while this is below a budget, rcc.max_queue; \
          the other ACKs wait in a queue, those of short flows first. It assigns every connection its \
          window, by a control like NewReno's and a response to marks. It has a timer of its own, which \
          sends an ACK again when the data that the ACK asked for do not come. Senders obey: the windows \
          and ACKs that they get decide what they send, so that the queue in front of the receiver stays \
          bounded whatever the number of senders.",
    reference: "RCC: Receiver-oriented Congestion Control, Computer Communications 2017",
    roles: &[Role::Helper, Role::Receiver, Role::Marks],
    keys: Params::KEYS,
    gauges: scheduler::GAUGES,
    linux: Linux {
        law: Some(&kernel::AT_RECEIVER),
        ..Linux::NOTHING
    },
    // The queue of ACKs decides when each leaves (§6.1: every segment is acknowledged); one that waits for a second
    // segment, which a window of one does not allow, would wait for its timer.
    tcp: &[("tcp.delayed_ack", "1")],
    build: &|text| {
        let params = Params::read(text)?;
        Ok(Roles {
            timers: vec![Ticker {
                key: "rcc.min_rto",
                every: params.min_rto,
                each: TickerOf::Flow,
            }],
            helper: Some(helper(&params)),
            misfits: misfit(&params).into_iter().collect(),
            receiver: Some(Box::new(move |host| receiver(&params, host))),
            ecn: Some(EcnMode::Unechoed),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

/// RCC §4.3: congestion control is the receiver's, so only the advertised window limits senders. They tell the size of a
/// flow, so that the receiver can prefer short ones, and send again what it orders.
pub(crate) const fn helper(params: &Params) -> Helper {
    Helper {
        tells_size: true,
        // RCC footnote 7.
        orders: if params.sender_retransmits {
            Orders::Obeyed
        } else {
            Orders::Awaited
        },
        is_unlimited: true,
    }
}

/// The receiver's role, which depends on what it holds back.
pub(crate) fn receiver(params: &Params, host: &HostInfo) -> Receiver {
    match params.hold {
        Withheld::Ack => GrantScheduler::new(params, host).into(),
        Withheld::Grant => Receiver::Custom(Box::new(Grants::new(params, host))),
    }
}

/// A receiver that holds grants back ignores marks, which would set the budget.
pub(crate) fn misfit(params: &Params) -> Option<Misfit> {
    (params.hold == Withheld::Grant && params.max_queue.0.is_none()).then(|| Misfit {
        keys: &["rcc.max_queue", "rcc.hold"],
        message: "rcc.max_queue = \"auto\" follows marks, but rcc.hold = \"grant\" ignores marks"
            .to_owned(),
        remedy: "set rcc.max_queue to a size, as in \"40pkt\"".to_owned(),
    })
}
