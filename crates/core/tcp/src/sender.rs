//! The sending half of a connection: what may be sent, in which order.
//!
//! Windows come from the congestion control and from the peer; this half decides what is sent within
//! them. Loss detection and recovery are in [`recovery`], timers in [`timer`]; a sender that keeps a record
//! of every segment has both in [`repair`].

mod commit;
mod control;
mod counters;
mod facts;
pub(crate) mod info;
mod listener;
mod nagle;
mod pace;
mod recovery;
mod repair;
mod small_queue;
mod timer;
mod window;

use std::sync::Arc;

use base::cast;
use base::{Extension, Span, Time};

use crate::cc::{Established, Orders, SenderCc};
use crate::config::{Agreement, Config};
use crate::low_priority::{LowLoop, LowSegment};
use crate::plays::Plays;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;

pub use counters::SenderCounters;

use repair::Repair;
use small_queue::HostQueue;
pub(crate) use timer::Expiry;
use timer::Timer;

/// See the module documentation. Offsets count the stream: 0 is the SYN, 1 the first byte.
/// Fields are in the order of use: every ACK touches the first ones, only losses the last.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender<C> {
    /// First offset not acknowledged (SND.UNA).
    una: u64,
    /// Next offset to send (SND.NXT); goes back to `una` at a timeout.
    next: u64,
    /// Highest offset sent so far.
    max: u64,
    /// First offset beyond the peer's window. It may move back: what was sent beyond stays sent.
    edge: u64,
    /// Offset of the segment that set `edge` last, in the peer's stream (SND.WL1). SND.WL2 is not needed:
    /// an acknowledgement below `una`, and so below SND.WL2, is not processed at all.
    edge_set_by: u64,
    /// One past the last byte the application wrote.
    written: u64,
    timer: Timer,
    /// Segment size both sides agreed on.
    mss: u64,
    rtt: RttEstimator,
    /// The segment being timed: its end and when it was sent. One at a time (RFC 6298 §3).
    timed: Option<(u64, Time)>,
    /// Most bytes that were in flight when an ACK came, in the window of data that ends at `used_until`.
    used: u64,
    used_until: u64,
    /// Duplicate ACKs since the last new one.
    dupacks: u32,
    /// Timeouts or probes in a row.
    attempts: u32,
    /// Probes of a closed window since the peer was heard last.
    unanswered: u32,
    phase: Phase,
    /// What the congestion control allows to be outstanding, in bytes.
    window: u64,
    /// Whether the segment at `una` is to be sent again, whatever the windows.
    retransmit_first: bool,
    /// Whether the application has closed; the FIN then has offset `written`.
    closed: bool,
    /// Whether both sides agreed on SACK.
    sack: bool,
    /// Whether both sides agreed on ECN.
    ecn: bool,
    /// Whether the next new segment tells the peer that the window was reduced.
    cwr_due: bool,
    /// Whether the byte at `next` was sent as a probe of a closed window.
    probed: bool,
    /// Whether this recovery had its rescue retransmission (RFC 6675 §4 rule 4).
    rescued: bool,
    /// What the peer's orders to send again do: those that the congestion control asks for, or a helper.
    orders: Orders,
    /// Whether the congestion control says when segments leave ([`SegmentCc::pacing`](crate::SegmentCc::pacing)).
    paces: bool,
    /// Whether every segment passes [`pace`] first: the congestion control paces, or segments may be held back and are not
    /// recorded.
    gated: bool,
    /// Whether segments may wait in the host's queue ([`small_queue`]).
    crowds_host: bool,
    /// Whether the congestion control sees the segments that leave ([`SenderCc::as_segment_cc`]).
    sees_sent: bool,
    /// Whether a record of every segment is kept ([`repair`]).
    recorded: bool,
    /// When a segment that pacing or the host's queue holds back may leave; [`Time::NEVER`] if none is held.
    held_until: Time,
    /// Shared by the connections with these settings.
    pub(crate) config: Arc<Config>,
    /// The loop at low priorities, if there is one.
    low: Option<Box<LowLoop>>,
    /// Bytes sent by limited transmit since the last new ACK: not part of the flight (RFC 5681 §3.2).
    limited: u64,
    /// Window beyond the congestion control's during recovery without SACK (RFC 6582 §3.2).
    inflation: i64,
    /// `una` at the last timeout, until something new is acknowledged.
    timed_out_at: Option<u64>,
    /// When the timer of a probe was started ([`Timer::Probe`]).
    probe_since: Time,
    /// When data was last sent, to notice idleness.
    last_sent: Option<Time>,
    counters: SenderCounters,
    scoreboard: Scoreboard,
    pub(crate) cc: C,
    /// ECN echoes up to this acknowledgement belong to a window that was already answered.
    cwr_end: u64,
    /// The record, if one is kept.
    repair: Option<Box<Repair>>,
    /// `max` when loss was last detected (RFC 6582 §3.2 step 2); recovery ends there.
    recover: u64,
    /// Highest offset sent again in this recovery (`HighRxt`, RFC 6675 §2).
    high_rxt: u64,
    /// The first of timeouts in a row, where time bounds them ([`Config::patience`]).
    first_timeout: Time,
    /// Where the last short segment ends for which others wait.
    short_end: u64,
    /// The segments waiting in the host's queue; `None` until one waits.
    host_queue: Option<Box<HostQueue>>,
}

/// Where the sender is in loss recovery. After a timeout it is `Open`: it goes back and slow-starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Open,
    /// Fast recovery, until everything up to `recover` is acknowledged.
    Recovery {
        /// Whether a partial ACK has come: only the first restarts the timer (RFC 6582 §3.2 step 5).
        partial: bool,
    },
}

/// A segment to be sent. It is returned in registers.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the segment"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    pub(crate) offset: u64,
    pub(crate) payload: u16,
    pub(crate) fin: bool,
    /// Whether some of it was sent before.
    pub(crate) again: bool,
    /// Whether it tells the peer that the window was reduced (RFC 3168 §6.1.2).
    pub(crate) cwr: bool,
    /// Whether it ends what the application has written so far: it carries PSH (RFC 9293 §3.9.1.2). Of senders with a
    /// record alone.
    pub(crate) push: bool,
}

/// What an arriving segment tells the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback<'a> {
    /// Offset of the segment in the peer's stream.
    pub(crate) offset: u64,
    /// Acknowledged up to here.
    pub(crate) ack: u64,
    /// One past the last offset that the advertised window allows.
    pub(crate) edge: u64,
    /// SACKed ranges, as offsets.
    pub(crate) sacked: &'a [(u64, u64)],
    /// Whether the segment echoes a congestion mark.
    pub(crate) echo: bool,
    /// Whether the segment carries nothing but the acknowledgement.
    pub(crate) bare: bool,
    /// The timestamp that the segment echoes, if timestamps are in use.
    pub(crate) stamp: Option<u32>,
    pub(crate) extension: Extension,
    pub(crate) now: Time,
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    pub(crate) fn new(config: Arc<Config>, mut cc: C) -> Self {
        let of_segments = cc.as_role_mut().as_segment_cc();
        let paces = of_segments.as_ref().map(|cc| cc.pacing().is_some());
        Self {
            orders: if config.go_back_n {
                cc.as_role().orders().max(Orders::Obeyed)
            } else {
                cc.as_role().orders()
            },
            low: config
                .low_priority
                .map(|settings| Box::new(LowLoop::new(settings))),
            sees_sent: paces.is_some(),
            paces: paces.unwrap_or(false),
            gated: paces.unwrap_or(false) || !config.nodelay,
            short_end: 0,
            crowds_host: false,
            host_queue: None,
            held_until: Time::NEVER,
            window: cc.as_role().window(),
            recorded: false,
            repair: None,
            cc,
            mss: u64::from(config.mss),
            una: 0,
            next: 0,
            max: 0,
            written: 1,
            closed: false,
            edge: 0,
            edge_set_by: 0,
            phase: Phase::Open,
            recover: 0,
            used: 0,
            used_until: 0,
            dupacks: 0,
            inflation: 0,
            limited: 0,
            retransmit_first: false,
            high_rxt: 0,
            first_timeout: Time::ZERO,
            rescued: false,
            scoreboard: Scoreboard::default(),
            sack: false,
            ecn: false,
            rtt: RttEstimator::new(&config),
            timed: None,
            timer: Timer::Off,
            probe_since: Time::ZERO,
            attempts: 0,
            unanswered: 0,
            timed_out_at: None,
            probed: false,
            last_sent: None,
            cwr_end: 0,
            cwr_due: false,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// The application has `bytes` more to send.
    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closed, "nothing is written after the close");
        if self.recorded && self.offers(bytes) {
            return;
        }
        self.written = self.written.saturating_add(bytes).min(MAX_OFFSET);
    }

    /// The application has written everything.
    pub(crate) fn close(&mut self) {
        self.closed = !(self.recorded && self.closes_later());
    }

    /// The application takes back what was not sent and has written everything.
    pub(crate) fn close_early(&mut self) {
        self.written = self.highest().max(1);
        self.closed = true;
        if let Some(repair) = &mut self.repair {
            repair.take_back_unsent(self.written);
        }
    }

    /// The peer's SYN has arrived.
    pub(crate) fn agree(&mut self, agreed: Agreement) {
        self.mss = u64::from(agreed.mss);
        self.sack = agreed.sack;
        self.ecn = agreed.ecn;
        // What arrives at low priority has no place in a record, and what only the peer repairs needs none.
        self.recorded = self.repairs()
            && self.low.is_none()
            && !self.config.go_back_n
            && self.config.keeps_record(agreed.sack);
        self.repair = self
            .recorded
            .then(|| Box::new(Repair::new(&self.config, agreed.sack)));
        self.take_back_written();
        self.gated = self.may_always_be_held();
    }

    /// The SYN is acknowledged: data may flow up to `edge`. `rtt` is the round trip that it shows; the first window has one
    /// segment or is `whole`. Congestion control is told the round trip of a SYN that was sent only once, and what the
    /// acknowledgement carries.
    pub(crate) fn establish(
        &mut self,
        edge: u64,
        (rtt, whole): (Option<Span>, bool),
        (first_try, extension): (Option<Span>, Extension),
    ) {
        self.edge = edge;
        (self.una, self.next, self.max) = (1, 1, 1);
        match rtt {
            Some(rtt) => {
                self.rtt.sample(rtt, (1, 1), &self.config);
                self.note_handshake(rtt);
            }
            None => self.rtt.after_syn_loss(&self.config),
        }
        let handshake = Established {
            mss: cast::low_16(self.mss),
            segments: if whole { self.config.initial_window } else { 1 },
            rtt: first_try,
            extension,
        };
        self.control(|cc| cc.on_established(&handshake));
        self.open_buffer();
    }

    /// The connection is over: nothing more is sent.
    pub(crate) fn stop(&mut self) {
        self.timer = Timer::Off;
        self.held_until = Time::NEVER;
        self.retransmit_first = false;
    }

    /// The next segment to send, if the windows allow one. Data goes in the order: the segment that
    /// recovery asks for, lost data, new data.
    #[inline(always)]
    pub(crate) fn next_segment(&mut self, now: Time) -> Option<Outgoing> {
        if self.gated && self.holds_back(now) {
            return None;
        }
        if self.recorded {
            return self.next_with_record(now);
        }
        if self.retransmit_first {
            self.retransmit_first = false;
            if self.una < self.max {
                return Some(self.commit(self.una, self.mss, self.max, now));
            }
        }
        if self.sack && matches!(self.phase, Phase::Recovery { .. }) {
            return self.next_in_sack_recovery(now);
        }
        self.next_in_order(now)
    }

    #[inline(never)]
    fn next_with_record(&mut self, now: Time) -> Option<Outgoing> {
        // The record lies apart while it is in use, so that it and the rest can change each other.
        let mut repair = self.repair.take()?;
        let segment = self.next_recorded(&mut repair, now);
        self.repair = Some(repair);
        segment
    }

    /// Whether there is anything to send, if the windows allow it: retransmissions, data, or a FIN.
    #[inline(always)]
    pub(crate) const fn has_work(&self) -> bool {
        self.retransmit_first
            || self.una < self.max
            || self.next < self.written + self.closed as u64
    }

    /// The segment at `next`, within both windows.
    #[inline(always)]
    fn next_in_order(&mut self, now: Time) -> Option<Outgoing> {
        let bound = self.skip_arrived();
        if self.next >= self.written {
            let fin_unsent = self.closed && self.next == self.written;
            return fin_unsent.then(|| self.commit(self.next, 0, MAX_OFFSET, now));
        }
        self.restart_after_idle(now);
        // DEVIATION(RFC 9293 §3.8.6): the FIN does not count. Linux 6.12 keeps data back that just fills the peer's window
        // and has a FIN behind it (tcp_snd_wnd_test), for the same time as a part of a segment below.
        let wanted = (bound - self.next).min(self.mss);
        let room = self.window_end().min(self.edge).saturating_sub(self.next);
        if room >= wanted {
            return Some(self.commit(self.next, wanted, MAX_OFFSET, now));
        }
        // Sender's silly-window avoidance (RFC 1122 §4.2.3.4): less than a full segment leaves only
        // when nothing is outstanding that would bring an ACK and with it a larger window.
        // DEVIATION(RFC 1122 §4.2.3.4): then it leaves at once, and not only when the window has room for half of the
        // largest window seen, or after 0.1 to 1 s; Linux 6.12 waits for the timer of window probes, 200 ms at least
        // (tcp_snd_wnd_test, tcp_write_wakeup). Receivers and switches that grant less than a segment would otherwise
        // stop the connection for that time.
        if room > 0 && self.in_flight() == 0 {
            return Some(self.commit(self.next, room, MAX_OFFSET, now));
        }
        // Data may have been written after the window had closed.
        self.review_timer(now);
        None
    }

    /// Moves on to what the receiver is not known to have, and returns where that ends at the latest:
    /// after a timeout what has been reported since, and what has arrived at low priority, need not be
    /// sent.
    #[inline(always)]
    fn skip_arrived(&mut self) -> u64 {
        let may_skip = self.next < self.max || self.low.is_some();
        if !may_skip || self.scoreboard.is_empty() {
            return self.written;
        }
        let (from, hole_end) = self.scoreboard.skip_sacked(self.next);
        if let Some(low) = &mut self.low
            && from > self.next.max(self.max)
        {
            low.skipped.add(self.next.max(self.max), from);
        }
        self.next = from;
        hole_end.unwrap_or(self.written).min(self.written)
    }

    /// The next segment at low priority: once the windows allow nothing more, what is written goes out
    /// this way, too. A write without end has no last segment to begin with.
    #[inline(always)]
    pub(crate) fn next_low(&mut self) -> Option<LowSegment> {
        self.low.as_ref()?;
        self.next_of_low()
    }

    #[inline(never)]
    fn next_of_low(&mut self) -> Option<LowSegment> {
        let low = self.low.as_mut()?;
        if self.written >= MAX_OFFSET {
            return None;
        }
        let segment = low.next(self.written, self.next, self.mss)?;
        self.counters.low_priority += 1;
        Some(segment)
    }

    /// Whether the ordinary loop has passed everything before `end`, so that copies of it need not
    /// leave, and such copies are to be withdrawn.
    pub(crate) fn withdraws(&self, end: u64) -> bool {
        let low = self.low.as_ref();
        low.is_some_and(|low| low.withdraws()) && end <= self.next.max(self.una)
    }
}

/// Beyond every stream: "unlimited" data ends here.
const MAX_OFFSET: u64 = 1 << 62;
