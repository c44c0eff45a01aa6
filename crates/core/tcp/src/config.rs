//! What a connection may be told.

use base::{Ecn, Rate, Span, Time};

use crate::low_priority::LowPriority;
use crate::wheel;

/// Settings of one endpoint. Sizes in bytes unless the name says otherwise.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "features that a stack has or has not, each with its RFC"
)]
pub struct Config {
    /// Largest payload of a segment; the smaller of both sides counts.
    pub mss: u16,
    /// Bytes of a segment on the wire beside its payload, which rates count.
    pub header_bytes: u32,
    /// Rate of the host's link.
    pub link_rate: Rate,
    /// Switches on the way to the peer; 1 where nobody has counted them.
    pub hops: u32,
    /// Round trip of a full packet in the empty network; zero where nobody has computed it.
    pub base_rtt: Span,
    /// Initial congestion window in segments (RFC 6928 §2).
    pub initial_window: u32,
    /// Slow-start threshold at the start; `u64::MAX`: none (RFC 5681 §3.1).
    pub initial_ssthresh: u64,
    /// Segments a congestion window may grow per ACK in slow start: the limit L of RFC 3465 §2.2.
    pub byte_counting_limit: u32,
    /// Whether selective acknowledgements are offered (RFC 2018).
    pub sack: bool,
    /// Whether the first two duplicate ACKs each send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// Whether duplicate ACKs make the sender send again what they show to be lost (RFC 5681 §3.2); if not,
    /// only its timer does.
    pub fast_retransmit: bool,
    /// Whether the window of an idle connection becomes smaller (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// The new window.
    pub idle_window: IdleWindow,
    /// Whether [`Ack::limited_by_window`] says how much of the window is used (RFC 7661); if not, every
    /// window counts as used.
    ///
    /// [`Ack::limited_by_window`]: crate::Ack::limited_by_window
    pub window_validation: bool,
    /// Lower bound of the retransmission timeout (RFC 6298 §2.4).
    pub min_rto: Span,
    /// Upper bound of the retransmission timeout (RFC 6298 §2.5).
    pub max_rto: Span,
    /// Retransmission timeout before the first round-trip sample (RFC 6298 §2.1).
    pub initial_rto: Span,
    /// Clock granularity G of RFC 6298 §2.2.
    pub clock_granularity: Span,
    /// Lower bound of the retransmission timeout when data begins after a SYN or SYN-ACK had to be sent
    /// again (RFC 6298 §5.7).
    pub rto_after_syn_loss: Span,
    /// Timeout of the first SYN or SYN-ACK; doubled each time.
    pub syn_rto: Span,
    /// First timeouts of a SYN that are not doubled. It is sent again this many times more.
    pub syn_linear_timeouts: u32,
    /// How often a SYN is sent again before the connection fails.
    pub syn_retries: u32,
    /// How often a SYN-ACK is sent again before the connection fails.
    pub syn_ack_retries: u32,
    /// What follows from a SYN or SYN-ACK that had to be sent again.
    pub after_syn_loss: AfterSynLoss,
    /// How often data is sent again after timeouts in a row before the connection fails (RFC 9293 §3.8.3).
    pub retries: u32,
    /// For how long data is sent again after the first of such timeouts, instead of `retries`.
    pub patience: Option<Span>,
    /// After how many segments an ACK is due; 1: after each (RFC 5681 §4.2).
    pub delayed_ack: u32,
    /// Longest delay of an ACK, as far as `delayed_ack_bound` allows.
    pub delayed_ack_timeout: Span,
    /// No ACK is delayed for longer.
    pub delayed_ack_bound: Span,
    /// Receive buffer.
    pub receive_buffer: u64,
    /// How much of it a receiver offers.
    pub receive_window: ReceiveWindow,
    /// Shift of advertised windows; `None`: the option is not sent (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// Whether the window of a SYN-ACK is scaled as those of other segments are, against RFC 7323 §2.2.
    pub scale_syn_ack: bool,
    /// How congestion marks are used.
    pub ecn: EcnMode,
    /// Whether retransmissions are ECN-capable under [`EcnMode::Classic`] too, against RFC 3168 §6.1.5.
    pub ecn_retransmissions: bool,
    /// How long a closed connection answers stray segments: twice the segment lifetime (RFC 9293 §3.6.1).
    pub time_wait: Span,
    /// Whether the receiver role of its host controls the connection; if not, the role sees its data
    /// but was never told of its opening.
    pub receiver_control: bool,
    /// What is sent at low priorities besides; both sides have it or neither.
    pub low_priority: Option<LowPriority>,
    /// What shows a segment to be lost.
    pub loss_detection: LossDetection,
    /// Whether and when the last segments are probed before the timer expires (RFC 8985 §7).
    pub tail_loss_probe: TailLossProbe,
    /// Added to RACK's reordering timer and to the timeout of a tail-loss probe; Linux: 2 ms.
    pub timer_slack: Span,
    /// Whether timestamps are offered (RFC 7323 §3).
    pub timestamps: bool,
    /// How the window moves to ssthresh.
    pub recovery: Recovery,
    /// What a loss makes ssthresh a share of.
    pub ssthresh_of: SsthreshOf,
    /// Whether the receiver's SACK reports still count after a timeout (RFC 6675 §5.1).
    pub keep_scoreboard: bool,
    /// Whether a timeout may turn out to be needless (RFC 5682 §3.1).
    pub frto: bool,
    /// Whether needless reductions of the window are taken back (RFC 4015).
    pub undo: bool,
    /// Whether a receiver reports what it got twice (RFC 2883).
    pub dsack: bool,
    /// Segments acknowledged at once at the start, after idle time, data that had come in order before, and marks; 0: as
    /// all others.
    pub quick_acks: u32,
    /// Longest time that a receiver holds SACK reports back to send one for many; zero: it sends each at once.
    pub sack_delay: Span,
    /// Added to the time that reports are held back.
    pub sack_delay_slack: Span,
    /// How the retransmission timeout follows from round trips.
    pub rto_estimator: RtoEstimator,
    /// Period of the clock whose ticks end timers, and in which [`RtoEstimator::Linux`] counts; zero: timers end
    /// exactly.
    pub tick: Span,
    /// What makes windows grow.
    pub growth: Growth,
    /// Whether a connection keeps little in the queue of its own host and the rest in its socket (Linux,
    /// `tcp_small_queue_check`).
    pub small_queues: bool,
    /// Memory for what the application has written and the peer has not acknowledged; `None`: no end of it. A record is kept
    /// then. Ignored with [`Config::low_priority`] and [`Config::go_back_n`].
    pub send_buffer: Option<SendBufferSize>,
    /// Bytes for headers in the memory of a segment (Linux, `MAX_TCP_HEADER`).
    pub header_room: u32,
    /// Whether a short segment leaves at once; if not, it waits while an earlier short one is not acknowledged
    /// (RFC 9293 §3.7.4 in Linux's form; `TCP_NODELAY`).
    pub nodelay: bool,
    /// Whether a receiver discards what comes beyond a gap and orders everything from the gap on, once, as `RoCE` does.
    pub go_back_n: bool,
    /// After how long a gap is ordered again that has not been filled.
    pub go_back_again: Span,
}

/// What the options of both SYNs decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    /// Bytes of a full segment: the smaller of both.
    pub(crate) mss: u16,
    /// Whether both permit SACK.
    pub(crate) sack: bool,
    /// Whether both use ECN.
    pub(crate) ecn: bool,
}

/// Memory for what is written and not acknowledged, in bytes (Linux, `tcp_wmem`). It grows with the window from the least to
/// the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendBufferSize {
    /// Its size before the handshake.
    pub least: u64,
    /// Its size at the end.
    pub most: u64,
}

/// How much of its buffer a receiver offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiveWindow {
    /// All of it (RFC 9293 §3.8.6).
    Buffer,
    /// What a sender uses: 64 KiB at first, and then twice what is read in a round trip (Linux, `tcp_rcv_space_adjust`
    /// and `tcp_grow_window`). A segment with which it grows is acknowledged at once where [`Config::quick_acks`] has
    /// any. It takes for granted that the application reads at once: bytes that wait to be read do not widen the window
    /// later.
    Grows,
}

/// What follows from a SYN or SYN-ACK that had to be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterSynLoss {
    /// The first window is one segment (RFC 5681 §3.1), there is no sample of the round trip (RFC 6298 §3), and every
    /// SYN-ACK doubles the timeout of the next.
    Rfc5681,
    /// As Linux 6.12 has it: the first window is one segment after two copies and more, unless the echo of a timestamp shows
    /// that the first one had arrived (`tcp_init_transfer`, `tcp_try_undo_spurious_syn`); the echo is a sample of the round
    /// trip (`tcp_synack_rtt_meas`); and a SYN-ACK that answers a copy of the SYN doubles nothing (`tcp_check_req`).
    Linux,
}

/// The window of a connection after a pause longer than its retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleWindow {
    /// The initial window (RFC 5681 §4.1).
    Initial,
    /// Half of what it was for each timeout but the first (RFC 2861 §3.1; Linux, `tcp_cwnd_restart`).
    Halves,
}

/// What makes windows grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// The ACKs of new data, with a limit for each (RFC 5681 §3.1, RFC 3465).
    Acks,
    /// The segments that are acknowledged, without a limit per ACK in both phases.
    Segments,
    /// As `Segments`, but each when it is known to be delivered: one that SACK has reported counts no more when
    /// it is acknowledged, and those that an ACK reports beyond a hole count with it. Needs a record of segments.
    Delivery,
}

/// What shows a segment to be lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// Three duplicate ACKs, or SACK blocks above it (RFC 5681 §3.2, RFC 6675 §4).
    DupAcks,
    /// The delivery of what was sent later (RFC 8985 §6). Needs SACK.
    Rack,
    /// As `Rack`, with the round trip of what an ACK acknowledges and not of what was sent last: of a delayed ACK it
    /// is the longer one, so that a first report leaves more patience (Linux 6.12, `tcp_rack_advance`).
    RackLinux,
}

impl LossDetection {
    /// Whether it needs to know when segments left.
    pub const fn is_by_time(self) -> bool {
        matches!(self, Self::Rack | Self::RackLinux)
    }
}

/// When the end of a flight is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TailLossProbe {
    /// Never.
    Off,
    /// After two round trips, and the longest delay of an ACK if one segment is in flight.
    Rfc8985,
    /// After two round trips, and the minimum RTO if one segment is in flight.
    Linux,
}

/// How the window moves to ssthresh after a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// At once; then what has left the network is replaced (RFC 6675 §5).
    Rfc6675,
    /// In proportion to what is delivered (RFC 6937); without SACK each duplicate ACK tells of a segment.
    Prr,
}

/// The quantity that ssthresh is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SsthreshOf {
    /// The bytes outstanding (RFC 5681 eq. 4).
    Flight,
    /// The congestion window, as in Linux.
    Window,
    /// The estimate of the bytes in the network, as in ns-3.
    Pipe,
}

/// How the timeout follows from round trips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoEstimator {
    /// The sum of mean and four deviations, and no less than the minimum (RFC 6298 §2).
    Rfc6298,
    /// The mean, and four deviations or the minimum; the largest deviation of a round trip counts at once.
    Linux,
}

/// How an endpoint takes part in explicit congestion notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMode {
    /// Not at all.
    Off,
    /// ECE until CWR (RFC 3168 §6.1).
    Classic,
    /// ECE tells exactly which segments were marked (RFC 8257 §3.2).
    Accurate,
    /// As `Accurate`, and every segment is ECN-capable: SYNs and pure ACKs too, against RFC 3168 §6.1.1
    /// and §6.1.4. In ns-2 all packets of a connection are.
    Everywhere,
    /// Data is ECN-capable, but marks are used at the receiver and not echoed.
    Unechoed,
}

impl Config {
    /// Whether a segment without data is ECN-capable (RFC 3168 §6.1.1, §6.1.4: it is not).
    #[inline(always)]
    pub(crate) fn ecn_without_data(&self) -> Ecn {
        if self.ecn == EcnMode::Everywhere {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        }
    }

    /// Whether the sender keeps a record of every segment, which some mechanisms need. Some of them work with what SACK
    /// reports, and do nothing without.
    #[must_use]
    pub(crate) fn keeps_record(&self, sack: bool) -> bool {
        let reported = self.loss_detection.is_by_time()
            || self.tail_loss_probe != TailLossProbe::Off
            || self.keep_scoreboard;
        let repairs = self.recovery == Recovery::Prr || self.frto || self.undo;
        sack && reported || repairs || self.send_buffer.is_some()
    }

    /// The time as a sender keeps it that counts round trips as Linux does: in whole microseconds (`tcp_mstamp_refresh`,
    /// `tcp_skb_timestamp_us`).
    #[must_use]
    #[inline(always)]
    pub(crate) fn stamp(&self, now: Time) -> Time {
        match self.rto_estimator {
            RtoEstimator::Linux => Time::ZERO + whole_us(now.since(Time::ZERO)),
            RtoEstimator::Rfc6298 => now,
        }
    }

    /// Memory that a segment takes beside its payload in Linux 6.12 on a processor of 64 bits: the room for headers and 64
    /// bytes more (`skbuff.c, SKB_SMALL_HEAD_SIZE`), `sk_buff` (256 bytes), and the description of the pages with the payload
    /// (320; `tcp.c, tcp_stream_alloc_skb`, `skbuff.h, SKB_TRUESIZE`).
    pub(crate) const fn memory_beside(&self) -> u64 {
        self.header_room as u64 + 64 + SK_BUFF + PAGES
    }

    /// Memory by which a send buffer grows for each segment of the window. Linux 6.12 takes that of a linear buffer, whose
    /// size is a power of two (`tcp_sndbuf_expand`); it counts the option for timestamps as payload.
    pub(crate) fn memory_share(&self, mss: u64) -> u64 {
        let stamps = if self.timestamps { STAMPS } else { 0 };
        let linear = mss + stamps + u64::from(self.header_room) + PAGES;
        linear.next_power_of_two() + SK_BUFF
    }

    /// Whether windows have whole segments and grow by those that ACKs tell of, however few ACKs do.
    #[must_use]
    pub fn counts_segments(&self) -> bool {
        self.growth != Growth::Acks
    }

    /// When a timer of this length that starts `now` expires.
    #[must_use]
    pub(crate) fn expiry(&self, now: Time, timeout: Span) -> Time {
        if self.tick == Span::ZERO {
            return now + timeout;
        }
        wheel::expiry(now, timeout, self.tick)
    }

    /// The last tick before this time, or at it.
    #[must_use]
    pub(crate) fn tick_of(&self, time: Time) -> Time {
        if self.tick == Span::ZERO {
            return time;
        }
        time.before(Span::from_ps(time.as_ps() % self.tick.as_ps()))
    }

    /// This timeout as a clock that ticks keeps it: rounded up to whole ticks.
    #[must_use]
    pub(crate) fn in_ticks(&self, timeout: Span) -> Span {
        if self.tick == Span::ZERO {
            return timeout;
        }
        self.tick * timeout.as_ps().div_ceil(self.tick.as_ps())
    }

    /// How long Linux sends data again: as long as `retries` timeouts take that begin with 200 ms, whatever the round trip,
    /// and double up to `max_rto` (`retransmits_timed_out`, `tcp_model_timeout`).
    #[must_use]
    pub fn patience_of(retries: u32, max_rto: Span) -> Span {
        let first = Span::from_millis(200);
        let doubled = (max_rto.as_ps() / first.as_ps())
            .checked_ilog2()
            .unwrap_or(0);
        let growing = first * ((2 << retries.min(doubled)) - 1);
        growing + max_rto * u64::from(retries.saturating_sub(doubled))
    }

    /// The smallest shift with which a window as large as the receive buffer can be advertised
    /// (RFC 7323 §2.3: at most 14).
    #[must_use]
    pub const fn scale_for(receive_buffer: u64) -> u8 {
        let mut shift = 0;
        while shift < MAX_SCALE && receive_buffer >> shift > u16::MAX as u64 {
            shift += 1;
        }
        shift
    }
}

impl Default for Config {
    /// A current stack: RFC 5681, 6298, 6582, 6675, 6928, an ACK per segment.
    fn default() -> Self {
        let receive_buffer = 4 << 20;
        Self {
            mss: 1460,
            header_bytes: 40,
            link_rate: Rate::from_bps(1_000_000_000),
            hops: 1,
            base_rtt: Span::ZERO,
            initial_window: 10,
            initial_ssthresh: u64::MAX,
            byte_counting_limit: 1,
            sack: true,
            limited_transmit: true,
            fast_retransmit: true,
            idle_restart: true,
            idle_window: IdleWindow::Initial,
            window_validation: true,
            min_rto: Span::from_millis(200),
            max_rto: Span::from_secs(60),
            initial_rto: Span::from_secs(1),
            clock_granularity: Span::ZERO,
            rto_after_syn_loss: Span::from_secs(3),
            syn_rto: Span::from_secs(1),
            syn_linear_timeouts: 0,
            syn_retries: 6,
            syn_ack_retries: 6,
            after_syn_loss: AfterSynLoss::Rfc5681,
            retries: 15,
            patience: None,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(40),
            delayed_ack_bound: Span::from_ps(u64::MAX),
            receive_buffer,
            receive_window: ReceiveWindow::Buffer,
            window_scale: Some(Self::scale_for(receive_buffer)),
            scale_syn_ack: false,
            ecn: EcnMode::Off,
            ecn_retransmissions: false,
            time_wait: Span::from_secs(60),
            receiver_control: true,
            low_priority: None,
            loss_detection: LossDetection::DupAcks,
            tail_loss_probe: TailLossProbe::Off,
            timer_slack: Span::ZERO,
            timestamps: false,
            recovery: Recovery::Rfc6675,
            ssthresh_of: SsthreshOf::Flight,
            keep_scoreboard: false,
            frto: false,
            undo: false,
            dsack: false,
            quick_acks: 0,
            sack_delay: Span::ZERO,
            sack_delay_slack: Span::ZERO,
            rto_estimator: RtoEstimator::Rfc6298,
            tick: Span::ZERO,
            growth: Growth::Acks,
            small_queues: false,
            send_buffer: None,
            header_room: 320,
            nodelay: true,
            go_back_n: false,
            go_back_again: Span::from_micros(500),
        }
    }
}

/// The whole microseconds of a time, in which Linux counts.
#[inline(always)]
pub(crate) const fn whole_us(span: Span) -> Span {
    Span::from_ps(span.as_ps() - span.as_ps() % PS_PER_US)
}

/// RFC 7323 §2.3.
const MAX_SCALE: u8 = 14;
/// `skbuff.h`: aligned sizes of `sk_buff` and `skb_shared_info`.
const SK_BUFF: u64 = 256;
const PAGES: u64 = 320;
/// Timestamps and their padding (RFC 7323, appendix A).
const STAMPS: u64 = 12;
const PS_PER_US: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    // `ss -m` shows tb87040 for a new connection of a distribution, which is room for 20 segments in linear buffers; User-mode
    // Linux without IPv6 has 46080 (`SO_MEMINFO`).
    #[test]
    fn a_send_buffer_counts_a_segment_as_a_power_of_two() {
        let share = |header_room, timestamps, mss| {
            let config = Config {
                timestamps,
                header_room,
                ..Config::default()
            };
            20 * config.memory_share(mss)
        };
        assert_eq!(share(320, true, 1448), 87_040);
        assert_eq!(share(320, false, 1460), 87_040);
        assert_eq!(share(256, true, 1448), 46_080);
    }

    #[test]
    fn memory_of_a_segment_is_that_of_its_header_and_two_descriptions() {
        assert_eq!(Config::default().memory_beside(), 960);
    }

    // Documentation/networking/ip-sysctl: tcp_retries2 of 15 is 924.6 s, and of 8 it is 102.2 s.
    #[test]
    fn fifteen_retries_of_linux_take_a_quarter_of_an_hour() {
        let patience = |retries| Config::patience_of(retries, Span::from_secs(120));
        assert_eq!(patience(15), Span::from_millis(924_600));
        assert_eq!(patience(8), Span::from_millis(102_200));
    }
}
