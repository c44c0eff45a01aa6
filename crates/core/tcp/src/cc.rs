//! The role that decides a sender's window, and the plain one: NewReno.

use base::cast::real;
use base::{Extension, Packet, Span, Time};

use crate::config::Config;
use crate::restart::Restart;

/// Congestion control of one connection's sender.
///
/// It decides windows, never what is retransmitted: loss recovery belongs to the sender, which calls
/// these methods after it has updated its own state.
///
/// What few schemes need is in two roles of their own: [`SegmentCc`], which sees every segment that leaves, and
/// [`DeliveryCc`], which sees all that is delivered.
pub trait SenderCc {
    /// Bytes that may be outstanding. It holds until the next event, so it is asked after each of those below.
    fn window(&self) -> u64;

    /// The handshake is complete.
    fn on_established(&mut self, handshake: &Established) {
        let _ = handshake;
    }

    /// An ACK has arrived that acknowledges new data, carries an ECN echo, or something in the
    /// scheme's header space.
    fn on_ack(&mut self, ack: &Ack) {
        let _ = ack;
    }

    /// The receiver role has sent a notice of its own ([`Released::Notice`](crate::Released::Notice)), which acknowledges
    /// nothing: this is the scheme's header space of it.
    fn on_notice(&mut self, notice: Extension, now: Time) {
        let _ = (notice, now);
    }

    /// A loss was detected with `in_flight` bytes outstanding; the sender is about to retransmit.
    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        let _ = (loss, in_flight, now);
    }

    /// Fast recovery is over. `limit` bounds the window so that no burst follows (RFC 6582 §3.2 step
    /// 3, option 1); none with SACK, whose pipe estimate prevents the burst.
    fn on_recovered(&mut self, limit: Option<u64>) {
        let _ = limit;
    }

    /// The last [`SenderCc::on_loss`] was needless: nothing had been lost. The window is as before again, or
    /// larger if it has grown since (RFC 4015 §3.2). Only senders that look for it call this
    /// ([`Config::undo`], [`Config::frto`]).
    fn on_undo(&mut self) {}

    /// Nothing was sent for longer than the retransmission timeout, and something is about to be: the window becomes what
    /// `restart` makes of it.
    fn on_idle(&mut self, restart: Restart) {
        let _ = restart;
    }

    /// Whether the window is below its threshold, so that it grows with all that is acknowledged. Asked where
    /// windows count segments ([`Config::counts_segments`]).
    fn is_slow_starting(&self) -> bool {
        false
    }

    /// The part that sees every segment that leaves; `None`: there is none. Whether there is one is asked once, when the
    /// endpoint is made.
    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        None
    }

    /// The part that sees deliveries; `None`: there is none.
    fn as_delivery_cc(&mut self) -> Option<&mut dyn DeliveryCc> {
        None
    }

    /// What it does with the peer's orders to send again. Asked once, when the endpoint is made.
    fn orders(&self) -> Orders {
        Orders::Ignored
    }

    /// Reports its state by the names of [`Gauge`]s, for traces; its window is known without.
    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        let _ = sink;
    }
}

/// Of a congestion control: what sees every segment that leaves, and may say when the next one does.
///
/// None of its methods changes the window.
pub trait SegmentCc {
    /// A segment of this connection is about to leave; header fields of the scheme may be set.
    fn on_send(&mut self, packet: &mut Packet, now: Time);

    /// The earliest time at which the next segment with data or FIN may leave, retransmissions
    /// included; `None`: whenever the windows allow. It may change with every event.
    /// Asked when the endpoint is made: a sender that does not pace then is not asked again.
    fn pacing(&self) -> Option<Time> {
        None
    }
}

/// Of a congestion control: what only senders with a record of all that they have in flight can tell it.
pub trait DeliveryCc {
    /// What an ACK says has been delivered, before anything follows from it; the window stays as it is. Told with every
    /// ACK but the one that ends the handshake and those of data that say nothing new (Linux's header prediction).
    fn on_delivery(&mut self, delivery: &Delivery) {
        let _ = delivery;
    }

    /// A loss was detected in a window of data whose marks reduce the window already, to `window` bytes of whole
    /// segments so far. RFC 3168 §6.1.2 asks for one reduction. Only with proportional rate reduction
    /// ([`Recovery::Prr`](crate::Recovery::Prr)).
    fn on_loss_in_reduction(&mut self, window: u64, now: Time) {
        let _ = (window, now);
    }

    /// Data is about to leave while none is in the network; `last` is when data last left. The window stays as it is.
    fn on_start(&mut self, last: Time, now: Time) {
        let _ = (last, now);
    }
}

/// The state of a sender after a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Established {
    /// Bytes of a full segment.
    pub mss: u16,
    /// Segments of the first window; 1 if a SYN was lost (RFC 5681 §3.1).
    pub segments: u32,
    /// The round trip of a SYN that was sent only once.
    pub rtt: Option<Span>,
    /// The header space of the segment that completed the handshake.
    pub extension: Extension,
}

/// What the end of a connection does with the peer's orders. A bare ACK with PSH orders the segment at its number to be
/// sent again, whatever the count of duplicates ([`Released::Order`](crate::Released::Order)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Orders {
    /// It is an ACK like any other.
    Ignored,
    /// The segment is sent again.
    Obeyed,
    /// So it is, and losses of data are repaired in no other way: neither by duplicate ACKs and SACK blocks nor by the
    /// timer. SYN and FIN are sent again in any case: no order asks for them.
    Awaited,
}

/// A number of a role's state that traces can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gauge {
    /// Its name, which ends in its unit if it has one: `"ssthresh_bytes"`.
    pub name: &'static str,
    /// Its unit, or what it counts.
    pub unit: &'static str,
    /// What it means, as sentences.
    pub help: &'static str,
}

/// The only gauge of [`NewReno`].
pub const SSTHRESH: Gauge = Gauge {
    name: "ssthresh_bytes",
    unit: "bytes",
    help: "Slow-start threshold of the sender, once there is one.",
};

/// What an ACK says to congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Bytes newly acknowledged, or newly delivered where windows grow by that ([`Growth::Delivery`]); 0 for a
    /// duplicate that says something else.
    ///
    /// [`Growth::Delivery`]: crate::Growth::Delivery
    pub bytes: u64,
    /// First offset not yet acknowledged.
    pub acknowledged: u64,
    /// First offset not yet sent.
    pub next: u64,
    /// What the ECN echo of this ACK means.
    pub echo: Echo,
    /// Whether the ACK came in fast recovery, in which windows do not grow.
    pub recovering: bool,
    /// Whether the sender uses its window, so that this ACK shows the window to be right: at least half
    /// of it was in flight at some time in the last round trip (RFC 7661 §4.2). A window that something
    /// else keeps from being used (the application, the receiver, a switch that rewrites windows) does not
    /// grow.
    pub limited_by_window: bool,
    /// The round-trip sample of this ACK, if it gave one. Where segments are recorded, it is that of the segment delivered last.
    pub rtt: Option<Span>,
    /// The scheme's header space.
    pub extension: Extension,
    /// When the ACK arrived.
    pub now: Time,
}

impl Ack {
    /// Whether a window may grow with this ACK, as far as recovery and its use decide it.
    #[inline(always)]
    pub const fn grows(&self) -> bool {
        !self.recovering && self.limited_by_window
    }
}

/// What an ACK says has been delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Segments that it acknowledges or reports and that none before it did; maybe 0.
    pub segments: u64,
    /// Whether it echoes a mark.
    pub echo: bool,
    /// First offset not yet acknowledged.
    pub acknowledged: u64,
    /// First offset not yet sent.
    pub next: u64,
}

/// The ECN echo of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Echo {
    /// None.
    None,
    /// One of a window of data that was already answered.
    Repeated,
    /// The first of its window: the window is to be reduced, once (RFC 3168 §6.1.2).
    Reduce,
}

/// How a loss was detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// By duplicate ACKs or SACK blocks.
    FastRetransmit,
    /// By the answer to a probe of the tail, whose copy has repaired it ([`TailLossProbe::Linux`]): the window answers as
    /// to a mark.
    ///
    /// [`TailLossProbe::Linux`]: crate::TailLossProbe::Linux
    Tail,
    /// By the retransmission timer, for a segment it had not yet sent again.
    Timeout,
    /// By the retransmission timer, again for the same segment.
    RepeatedTimeout,
}

/// A sender that only the advertised window limits.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl SenderCc for Unlimited {
    #[inline]
    fn window(&self) -> u64 {
        u64::MAX
    }
}

/// RFC 5681 and RFC 6582, classic ECN response of RFC 3168.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: u64,
    mss: u64,
    initial_window: u64,
    byte_counting_limit: u64,
    /// Whether slow start follows a timeout: set by the timeout, cleared when the window reaches
    /// `ssthresh`.
    after_timeout: bool,
    /// What was too little for more window: square bytes of eq. 3, or bytes acknowledged where growth counts
    /// segments.
    remainder: u64,
    /// Whether growth counts what is acknowledged and not ACKs.
    counts_segments: bool,
    /// Window and threshold before the last loss, until that is taken back.
    before_loss: Option<(u64, u64)>,
}

impl NewReno {
    /// The state before the handshake.
    pub fn new(config: &Config) -> Self {
        let mss = u64::from(config.mss);
        let initial_window = mss * u64::from(config.initial_window);
        Self {
            cwnd: initial_window,
            ssthresh: config.initial_ssthresh,
            mss,
            initial_window,
            byte_counting_limit: u64::from(config.byte_counting_limit),
            after_timeout: false,
            remainder: 0,
            counts_segments: config.counts_segments(),
            before_loss: None,
        }
    }

    /// Bytes of a segment.
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Whether windows have whole segments ([`Config::counts_segments`]).
    pub fn counts_segments(&self) -> bool {
        self.counts_segments
    }

    /// Slow start or congestion avoidance for `bytes` newly acknowledged (RFC 5681 §3.1).
    #[inline]
    pub fn grow(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if self.counts_segments {
            return self.grow_by_segments(bytes);
        }
        if self.cwnd < self.ssthresh {
            // Eq. 2, with the limit L of RFC 3465 §2.2; 1 after a timeout (§2.3).
            let limit = if self.after_timeout {
                1
            } else {
                self.byte_counting_limit
            };
            self.cwnd += bytes.min(limit * self.mss);
        } else {
            self.after_timeout = false;
            // Eq. 3, with what whole bytes leave over kept for the next ACK: dropping it would cost
            // half a byte of twelve per ACK at 120 segments.
            let due = self.mss * self.mss + self.remainder;
            self.remainder = due % self.cwnd;
            self.cwnd += (due / self.cwnd).max(1);
        }
    }

    /// As Linux grows: by all that is acknowledged in slow start, and beyond ssthresh by a segment for each
    /// window acknowledged, however few ACKs say so (RFC 5681 §3.1, the byte-counting variant of eq. 3).
    #[inline(never)]
    fn grow_by_segments(&mut self, bytes: u64) {
        let slow = bytes.min(self.ssthresh.saturating_sub(self.cwnd));
        self.cwnd += slow;
        if slow == bytes {
            return;
        }
        let window = self.cwnd;
        // What was acknowledged while the window was larger counts for one segment.
        let gathered = u64::from(self.remainder >= window);
        self.remainder = self.remainder * (1 - gathered) + bytes - slow;
        self.cwnd += (gathered + self.remainder / window) * self.mss;
        self.remainder %= window;
    }

    /// The window is this now, and grows from here as in congestion avoidance.
    pub fn reduce_to(&mut self, window: u64) {
        (self.cwnd, self.ssthresh) = (window, window);
        if self.counts_segments {
            self.remainder = 0;
        }
    }

    /// Eq. 4 of RFC 5681 §3.1.
    fn halve(&mut self, in_flight: u64) {
        let half = in_flight / 2;
        // Windows that count segments have whole ones.
        let rest = if self.counts_segments {
            self.remainder = 0;
            half % self.mss
        } else {
            0
        };
        self.ssthresh = (half - rest).max(2 * self.mss);
    }
}

impl SenderCc for NewReno {
    #[inline(always)]
    fn window(&self) -> u64 {
        self.cwnd
    }

    fn on_established(&mut self, handshake: &Established) {
        self.mss = u64::from(handshake.mss);
        self.initial_window = self.mss * u64::from(handshake.segments);
        self.cwnd = self.initial_window;
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack) {
        match ack.echo {
            Echo::None if ack.grows() => self.grow(ack.bytes),
            // RFC 3168 §6.1.2: as for a loss, but nothing is retransmitted.
            Echo::Reduce => {
                self.halve(self.cwnd);
                self.cwnd = self.ssthresh;
            }
            // RFC 3168 §6.1.2: no growth on an ACK with an echo.
            Echo::None | Echo::Repeated => {}
        }
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, _now: Time) {
        if loss != Loss::RepeatedTimeout {
            self.before_loss = Some((self.cwnd, self.ssthresh));
        }
        match loss {
            // RFC 6582 §3.2 step 2; the inflation by duplicates is the sender's.
            Loss::FastRetransmit | Loss::Tail => {
                self.halve(in_flight);
                self.cwnd = self.ssthresh;
            }
            // RFC 5681 §3.1: the loss window is one segment.
            Loss::Timeout => {
                self.halve(in_flight);
                self.cwnd = self.mss;
                self.after_timeout = true;
            }
            // RFC 5681 §3.1: ssthresh is held for a segment already sent again by the timer.
            Loss::RepeatedTimeout => self.cwnd = self.mss,
        }
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.cwnd = self.ssthresh.min(limit.unwrap_or(u64::MAX));
    }

    fn is_slow_starting(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn on_undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before_loss.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = self.ssthresh.max(ssthresh);
            self.after_timeout = false;
        }
    }

    fn on_idle(&mut self, restart: Restart) {
        self.ssthresh = restart.ssthresh(self.ssthresh, self.cwnd);
        self.cwnd = restart.window(self.cwnd, self.initial_window);
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        if self.ssthresh != u64::MAX {
            sink(SSTHRESH.name, real(self.ssthresh));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(bytes: u64) -> Ack {
        Ack {
            bytes,
            acknowledged: 1,
            next: 1,
            echo: Echo::None,
            recovering: false,
            limited_by_window: true,
            rtt: None,
            extension: Extension::NONE,
            now: Time::ZERO,
        }
    }

    #[test]
    fn slow_start_doubles_and_avoidance_adds_a_segment_per_round() {
        let mut cc = NewReno::new(&Config {
            mss: 1000,
            initial_window: 4,
            ..Config::default()
        });
        for _ in 0..4 {
            cc.on_ack(&acked(1000));
        }
        assert_eq!(cc.window(), 8000);
        cc.ssthresh = 8000;
        // Eq. 3: 8000 + 8 * 125 less the rounding as the window grows.
        for _ in 0..8 {
            cc.on_ack(&acked(1000));
        }
        assert!((8900..=9000).contains(&cc.window()), "{}", cc.window());
    }

    // Clauses: RFC5681-3.1-avoidance
    #[test]
    fn avoidance_adds_a_segment_per_round_to_large_windows_too() {
        // Eq. 3 makes cwnd^2 grow by 2 mss^2 per ACK: from 500 segments, 500 ACKs give
        // sqrt(250000 + 1000) = 500.999 segments. In whole bytes an ACK would add 2 of them at first
        // and 1 as soon as the window is a byte larger.
        let mut cc = NewReno::new(&Config {
            mss: 1000,
            initial_window: 500,
            ..Config::default()
        });
        cc.ssthresh = 1;
        for _ in 0..500 {
            cc.on_ack(&acked(1000));
        }
        assert!(
            (500_998..=501_000).contains(&cc.window()),
            "{}",
            cc.window()
        );
    }

    #[test]
    fn avoidance_ends_what_a_timeout_did_to_slow_start() {
        // RFC 3465 §2.3: L is 1 in the slow start that follows a timeout, and in no later one.
        let mut cc = NewReno::new(&Config {
            mss: 1000,
            initial_window: 2,
            byte_counting_limit: 2,
            ..Config::default()
        });
        cc.on_loss(Loss::Timeout, 12_000, Time::ZERO);
        for expected in [2000, 3000, 4000, 5000, 6000, 6166] {
            cc.on_ack(&acked(3000));
            assert_eq!(cc.window(), expected);
        }
        cc.on_idle(Restart::Initial);
        cc.on_ack(&acked(3000));
        assert_eq!(cc.window(), 4000);
    }

    // Linux 6.12, tcp_cwnd_restart.
    #[test]
    fn a_halved_window_returns_to_three_quarters_of_what_it_was() {
        let mut cc = NewReno::new(&Config::default());
        (cc.cwnd, cc.ssthresh) = (80 * 1460, 30 * 1460);
        cc.on_idle(Restart::Halved {
            times: 2,
            initial: 10 * 1460,
            mss: 1460,
        });
        assert_eq!((cc.cwnd, cc.ssthresh), (20 * 1460, 60 * 1460));
    }

    #[test]
    fn an_ack_for_many_segments_grows_slow_start_by_the_byte_counting_limit() {
        let config = Config {
            mss: 1000,
            initial_window: 4,
            ..Config::default()
        };
        for (limit, expected) in [(1, 5000), (2, 6000)] {
            let mut cc = NewReno::new(&Config {
                byte_counting_limit: limit,
                ..config
            });
            cc.on_ack(&acked(3000));
            assert_eq!(cc.window(), expected);
        }
    }
}
