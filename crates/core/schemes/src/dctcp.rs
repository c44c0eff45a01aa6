//! DCTCP: the window shrinks in proportion to the share of marked bytes.
//!
//! The switch marks packets that find more than K waiting; the receiver echoes exactly which segments
//! were marked; the sender keeps a running estimate `alpha` of the marked share and cuts its window by
//! `alpha / 2` once per window of data.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | g | `dctcp.g` | 1/16 | RFC 8257 §4.2 |
//! | alpha at the start | `dctcp.initial_alpha` | 1 | RFC 8257 §4.2 |
//! | least window | `dctcp.min_window` | 2 segments | Linux |
//! | ECT | `dctcp.ect_everywhere` | data alone | RFC 8257 §3.4; ns-2: all packets |
//! | K | `switch.ecn_threshold` | 40 packets | the scenario |
//!
//! What the RCC paper compares with differs: `initial_alpha = 0`, `min_window = 1`, and three switches of
//! `dctcp/variant.rs`. What a receiver sees of marks is in `dctcp/observer.rs`.
//!
//! Deviations: none by default. Where windows grow by what is delivered (`tcp.window_growth = "delivery"`, the profile
//! `linux`), alpha counts that, in parts of 1024, and a loss in a marked window halves what is left, as in Linux 6.12.
//!
//! Open in the paper: the initial alpha (ns-2 starts at 0), and whether `alpha` of the window just
//! ended is used for the cut (it is, RFC 8257 §3.3). Losses are answered as NewReno does (§3.5).

use base::cast::{real, whole};
use base::setting::{SettingError, Settings};
use base::{Count, Fraction, OrOff, Quantity, Span, Time, WireSize};
use laws::Loadable;
use tcp::{
    Ack, Delivery, DeliveryCc, Echo, EcnMode, Established, Gauge, Growth, Loss, NewReno, Restart,
    SSTHRESH, SenderCc,
};

use crate::registry::linux::{KernelLaw, Linux, Reading, Runs};
use crate::registry::{FlowInfo, MakeReceiver, Role, Roles, Scheme};

mod observer;
mod variant;

pub use observer::Observer;
use variant::Deviations;
pub use variant::{Interval, Response};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "dctcp",
    summary: "Data Center TCP: shrinks its window by the share of bytes the switch marked",
    how: "Switches mark every packet that finds more than K waiting (switch.ecn_threshold), long before \
          the buffer is full. The receiver echoes exactly which segments were marked. The sender keeps a \
          moving average, alpha, of the share of marked bytes. Once per window of data with marks it \
          reduces its window by the share alpha/2: a little at little congestion, by half if everything is \
          marked. The window has a least value, so that very many senders overflow the buffer in spite of \
          marks.",
    reference: "RFC 8257; Alizadeh et al., SIGCOMM 2010",
    roles: &[Role::Sender, Role::Marks],
    needs_marking: true,
    keys: Params::KEYS,
    gauges: &[SSTHRESH, ALPHA, observer::RECEIVER_ALPHA],
    linux: Linux {
        control: Some("dctcp"),
        law: Some(&MARK),
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        let observe = params
            .receiver_alpha
            .0
            .map(|interval| (params.g.0, interval));
        Ok(Roles {
            receiver: observe.map(|(g, interval)| -> MakeReceiver {
                Box::new(move |_| Observer::new(g, interval).into())
            }),
            ecn: Some(params.ecn_mode()),
            ..Roles::of_sender(params, Sender::new)
        })
    },
    ..Scheme::PLAIN
};

/// Ports mark packets for senders of Linux. A user whose port has no queue to look at marks with `tc` instead.
const MARK: KernelLaw = KernelLaw {
    name: "mark",
    summary: "Packets that find a long queue get a congestion mark",
    keys: &[THRESHOLD],
    changes_acks: false,
    runs: Runs::Kernel(|text, port| {
        let error = |error| SettingError {
            key: THRESHOLD,
            error,
        };
        let OrOff(threshold) = OrOff::<WireSize>::parse(&text(THRESHOLD)).map_err(error)?;
        // The scenario refuses a scheme of marks where none are made.
        let from = threshold.map_or(u64::MAX, |size| size.in_bytes(port.packet_bytes));
        Ok(Loadable::mark(from))
    }),
    readings: &[Reading {
        key: "threshold_bytes",
        metric: None,
        words: None,
        read: |memory| memory.first_chunk().copied().map(u64::from_ne_bytes),
    }],
    lines: &["marks from {threshold_bytes} bytes on"],
    ..KernelLaw::PLAIN
};

/// Of the queue of a switch, whoever its packets are.
const THRESHOLD: &str = "switch.ecn_threshold";

base::settings! {
    /// Parameters of DCTCP.
    pub struct Params in "dctcp" {
        /// Weight of the newest window in the estimate of the marked share (g).
        pub g: Fraction = "0.0625",
        /// Estimate of the marked share before the first mark; ns-2 uses 0.
        pub initial_alpha: Fraction = "1",
        /// Least congestion window, in segments.
        pub min_window: Count = "2",
        /// When alpha is estimated: after a window of data, a round trip as the RCC simulation has it (rtt), or a fixed time.
        pub interval: Interval = "window",
        /// Whether alpha stays when nothing was marked, as in the RCC simulation, instead of decaying.
        pub no_decay: bool = "false",
        /// The response to marks: "standard" cuts at the first echo of a window, "interval" at the end of a marked window,
        /// as the RCC simulation does.
        pub response: Response = "standard",
        /// Whether SYNs, pure ACKs and FINs are ECN-capable too, as all packets of ns-2 are, so that RED marks them instead of dropping them.
        pub ect_everywhere: bool = "false",
        /// Receivers estimate the marked share of packets too, once in this time, and only report it: the trace receiver_alpha.
        pub receiver_alpha: OrOff<Span> = "off",
    }
}

impl Params {
    /// How hosts use marks.
    pub(crate) fn ecn_mode(&self) -> EcnMode {
        if self.ect_everywhere {
            EcnMode::Everywhere
        } else {
            EcnMode::Accurate
        }
    }
}

/// What its senders report.
pub(crate) const SENDER_GAUGES: &[Gauge] = &[SSTHRESH, ALPHA];

const ALPHA: Gauge = Gauge {
    name: "alpha",
    unit: "share",
    help: "Estimated share of marked bytes, 0 to 1.",
};

/// The denominator of alpha in Linux (`DCTCP_MAX_ALPHA`).
const PARTS: f64 = 1024.0;

/// A sender of one connection.
#[derive(Debug)]
pub struct Sender {
    reno: NewReno,
    g: f64,
    /// Estimated share of marked bytes (`DCTCP.Alpha`), 0 to 1.
    alpha: f64,
    /// Bytes acknowledged in this observation window, and those of them with an echo.
    acked: u64,
    marked: u64,
    /// The observation window ends when this offset is acknowledged (`DCTCP.WindowEnd`).
    window_end: u64,
    /// Least window, in segments.
    min_segments: u32,
    /// Whether losses are answered as in Linux.
    as_linux: bool,
    /// Whether alpha counts deliveries, as in Linux: since the first that the endpoint told of, which takes a record of
    /// segments.
    counts_deliveries: bool,
    /// The variant that answers ACKs in place of RFC 8257, if one is chosen.
    variant: Option<Box<Deviations>>,
}

impl Sender {
    /// With the state before the handshake.
    pub(crate) fn new(params: &Params, flow: &FlowInfo) -> Self {
        Self {
            reno: NewReno::new(&flow.config),
            g: params.g.0,
            alpha: params.initial_alpha.0,
            acked: 0,
            marked: 0,
            window_end: 0,
            min_segments: params.min_window.0,
            as_linux: flow.config.growth == Growth::Delivery,
            counts_deliveries: false,
            variant: Deviations::of(params).map(Box::new),
        }
    }

    /// RFC 8257 §3.3 steps 1 to 8.
    fn observe(&mut self, ack: &Ack) {
        self.count(ack);
        if self.is_window_over(ack) {
            self.estimate();
            self.window_end = ack.next;
        }
    }

    fn count(&mut self, ack: &Ack) {
        self.acked += ack.bytes;
        if ack.echo != Echo::None {
            self.marked += ack.bytes;
        }
    }

    fn is_window_over(&self, ack: &Ack) -> bool {
        ack.acknowledged >= self.window_end && self.acked > 0
    }

    fn estimate(&mut self) {
        let (share, g) = (real(self.marked) / real(self.acked), self.g);
        self.alpha = (1.0 - g) * self.alpha + g * share;
        (self.acked, self.marked) = (0, 0);
    }

    /// As Linux does, in whole parts of 1024: a share that is too small to decay is gone.
    fn estimate_in_parts(&mut self) {
        let alpha = whole(self.alpha * PARTS);
        let decay = whole(real(alpha) * self.g);
        let decay = if decay == 0 { alpha } else { decay };
        let marked = whole(real(self.marked) * PARTS * self.g) / self.acked.max(1);
        self.alpha = (real(alpha - decay + marked) / PARTS).min(1.0);
        (self.acked, self.marked) = (0, 0);
    }

    /// A cut at the first echo of a window of data, else growth as NewReno's (RFC 8257 §3.3, §3.5).
    fn respond(&mut self, ack: &Ack) {
        if ack.echo == Echo::Reduce {
            self.cut();
            self.reno.reduce_to(self.reno.cwnd);
        } else if ack.grows() {
            self.reno.grow(ack.bytes);
        }
    }

    /// RFC 8257 §3.3 step 9: cwnd * (1 - alpha / 2).
    fn cut(&mut self) {
        let reduced = if self.reno.counts_segments() {
            // As Linux: only whole segments are taken away, so that a small share takes none of a small window.
            let segments = self.reno.cwnd / self.reno.mss();
            let taken = whole(real(segments) * self.alpha / 2.0);
            (segments - taken) * self.reno.mss()
        } else {
            whole(real(self.reno.cwnd) * (1.0 - self.alpha / 2.0))
        };
        let least = u64::from(self.min_segments) * self.reno.mss();
        self.reno.cwnd = reduced.max(least);
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_established(&mut self, handshake: &Established) {
        self.reno.on_established(handshake);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        let Some(mut variant) = self.variant.take() else {
            if !self.counts_deliveries {
                self.observe(ack);
            }
            return self.respond(ack);
        };
        variant.on_ack(self, ack);
        self.variant = Some(variant);
    }

    fn as_delivery_cc(&mut self) -> Option<&mut dyn DeliveryCc> {
        Some(self)
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.reno.on_loss(loss, in_flight, now);
        // Linux: only losses that recovery or a timer repairs halve the window
        // (`tcp_process_tlp_ack`).
        if self.as_linux && loss == Loss::Tail {
            self.reno.cwnd = in_flight;
            self.cut();
            self.reno.reduce_to(self.reno.cwnd);
        }
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn is_slow_starting(&self) -> bool {
        self.reno.is_slow_starting()
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_idle(&mut self, restart: Restart) {
        self.reno.on_idle(restart);
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(sink);
        sink(ALPHA.name, self.alpha);
    }
}

impl DeliveryCc for Sender {
    /// Where windows grow by deliveries, so does alpha: with every ACK, those that report by SACK and those that come while
    /// nothing is outstanding, too (`dctcp_update_alpha`).
    fn on_delivery(&mut self, delivery: &Delivery) {
        if !self.as_linux || self.variant.is_some() {
            return;
        }
        if !std::mem::replace(&mut self.counts_deliveries, true) {
            (self.acked, self.marked) = (0, 0);
        }
        self.acked += delivery.segments;
        if delivery.echo {
            self.marked += delivery.segments;
        }
        if delivery.acknowledged >= self.window_end {
            self.estimate_in_parts();
            self.window_end = delivery.next;
        }
    }

    /// Linux halves the window that marks have left (`dctcp_react_to_loss`).
    fn on_loss_in_reduction(&mut self, window: u64, now: Time) {
        if self.as_linux {
            self.reno.cwnd = window;
            self.reno.on_loss(Loss::FastRetransmit, window, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Extension;
    use tcp::Config;

    use super::*;

    fn sender(alpha: &str) -> Sender {
        sender_with(&[("dctcp.initial_alpha", alpha)])
    }

    pub(super) fn sender_with(changed: &[(&str, &str)]) -> Sender {
        let text = |key: &str| {
            let changed = changed.iter().find(|(name, _)| *name == key);
            changed.map_or(Params::default_text(key), |(_, text)| text)
        };
        let config = Config {
            mss: 1000,
            initial_window: 10,
            ..Config::default()
        };
        Sender::new(
            &Params::read(&|key| text(key).to_owned()).unwrap(),
            &FlowInfo { size: None, config },
        )
    }

    pub(super) fn ack(acknowledged: u64, next: u64, echo: Echo) -> Ack {
        let (extension, now) = (Extension::NONE, Time::ZERO);
        Ack {
            bytes: 1000,
            acknowledged,
            next,
            echo,
            recovering: false,
            limited_by_window: true,
            rtt: None,
            extension,
            now,
        }
    }

    // Clauses: RFC8257-3.3-cut
    #[test]
    fn the_cut_uses_the_estimate_of_the_window_just_ended() {
        // alpha 0, all bytes of the window marked: alpha = 1/16, cwnd = 10000 * (1 - 1/32) = 9687.
        let mut sender = sender("0");
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        assert_eq!(sender.window(), 9687);
    }

    // RFC 8257 §3.3 steps 4 and 5: one share of all bytes of a window, not one for each ACK.
    // Clauses: RFC8257-3.3-share, RFC8257-3.3-window, RCC-eq1
    #[test]
    fn alpha_moves_once_per_window_by_the_share_of_its_bytes() {
        let mut sender = sender("1");
        // The first ACK ends the window of the handshake; the next one ends with offset 10,001.
        sender.on_ack(&ack(1001, 10_001, Echo::None));
        let first = 15.0 / 16.0;
        assert!((sender.alpha - first).abs() < 1e-12);
        for segment in 2..10 {
            let echo = match segment {
                3 => Echo::Reduce,
                4 | 5 => Echo::Repeated,
                _ => Echo::None,
            };
            sender.on_ack(&ack(segment * 1000 + 1, 20_001, echo));
            assert!((sender.alpha - first).abs() < 1e-12, "after {segment}");
        }
        sender.on_ack(&ack(10_001, 20_001, Echo::None));
        let second = first * 15.0 / 16.0 + 3.0 / 9.0 / 16.0;
        assert!((sender.alpha - second).abs() < 1e-12, "{}", sender.alpha);
    }

    // Linux 6.12, dctcp_ssthresh: of ten segments a share of 0.19 takes none, and one of 0.2 a whole one.
    #[test]
    fn windows_of_whole_segments_lose_whole_ones() {
        for (alpha, window) in [(0.19, 10_000), (0.2, 9000)] {
            let config = Config {
                mss: 1000,
                growth: Growth::Delivery,
                ..Config::default()
            };
            let mut sender = Sender::new(&Params::defaults(), &FlowInfo { size: None, config });
            sender.alpha = alpha;
            sender.cut();
            assert_eq!(sender.window(), window);
        }
    }

    /// A sender of Linux with segments of 1000 bytes.
    fn linux() -> Sender {
        let config = Config {
            mss: 1000,
            initial_window: 10,
            growth: Growth::Delivery,
            ..Config::default()
        };
        Sender::new(&Params::defaults(), &FlowInfo { size: None, config })
    }

    fn deliver(sender: &mut Sender, segments: u64, echo: bool, acknowledged: u64, next: u64) {
        sender.on_delivery(&Delivery {
            segments,
            echo,
            acknowledged,
            next,
        });
    }

    // Linux 6.12, dctcp_update_alpha: data that SACK reports count when they are delivered, and an ACK that delivers
    // nothing also ends a window if nothing is outstanding.
    #[test]
    fn alpha_of_linux_counts_deliveries_in_parts_of_1024() {
        let parts = |sender: &Sender| (sender.alpha * PARTS).to_string();
        let mut sender = linux();
        deliver(&mut sender, 0, false, 1, 1);
        assert_eq!(parts(&sender), "960");
        deliver(&mut sender, 1, false, 1001, 10_001);
        assert_eq!(parts(&sender), "900");
        // Of 14 segments, five of which SACK reports first, six are marked: 900 - 56 + 6 * 64 / 14.
        deliver(&mut sender, 6, true, 5001, 12_001);
        deliver(&mut sender, 7, false, 9001, 15_001);
        assert_eq!(parts(&sender), "900");
        deliver(&mut sender, 1, false, 15_001, 20_001);
        assert_eq!(parts(&sender), "871");
        // A share below 1/64 decays to nothing.
        sender.alpha = 15.0 / PARTS;
        deliver(&mut sender, 5, false, 20_001, 25_001);
        assert_eq!(parts(&sender), "0");
        // ACKs themselves say nothing more.
        sender.on_ack(&ack(25_001, 30_001, Echo::Repeated));
        assert_eq!(parts(&sender), "0");
    }

    #[test]
    fn alpha_counts_acks_where_nobody_tells_of_deliveries() {
        let mut sender = linux();
        sender.on_ack(&ack(1001, 10_001, Echo::None));
        assert!(sender.alpha < 0.95, "{}", sender.alpha);
    }

    // Linux 6.12, dctcp_state: a loss halves the window that marks have left.
    #[test]
    fn a_loss_in_a_marked_window_halves_what_marks_have_left_in_linux() {
        let mut sender = linux();
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        assert_eq!(sender.window(), 5000);
        sender.on_loss_in_reduction(7000, Time::ZERO);
        assert_eq!(sender.window(), 3000);
        // RFC 3168 §6.1.2: one reduction.
        let mut sender = self::sender("1");
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        sender.on_loss_in_reduction(7000, Time::ZERO);
        assert_eq!(sender.window(), 5000);
    }

    // Data acknowledged before a cut do not count for growth after it.
    #[test]
    fn growth_of_linux_begins_anew_after_a_cut() {
        let mut sender = linux();
        sender.counts_deliveries = true;
        sender.reno.ssthresh = 0;
        let grow = |sender: &mut Sender, count: u64| {
            (0..count).for_each(|_| sender.on_ack(&ack(1001, 10_001, Echo::None)));
        };
        grow(&mut sender, 9);
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        grow(&mut sender, 4);
        assert_eq!(sender.window(), 5000);
        grow(&mut sender, 1);
        assert_eq!(sender.window(), 6000);
    }

    #[test]
    fn with_all_packets_marked_alpha_tends_to_one_and_the_window_to_its_minimum() {
        let mut sender = sender("0");
        for round in 1..200 {
            sender.on_ack(&ack(round * 1000 + 1, round * 1000 + 1001, Echo::Reduce));
        }
        assert!(sender.alpha > 0.999);
        assert_eq!(sender.window(), 2000);
    }

    // Clauses: RFC8257-3.3-gain
    #[test]
    fn without_marks_alpha_decays_by_g_per_window() {
        let mut sender = sender("1");
        for round in 1..=10 {
            sender.on_ack(&ack(round * 1000 + 1, round * 1000 + 1001, Echo::None));
        }
        assert!((sender.alpha - libm::pow(15.0 / 16.0, 10.0)).abs() < 1e-12);
    }

    // RFC 8257 §3.3: nothing is known of the path, so the first mark halves the window.
    // Clauses: RFC8257-4.2-first
    #[test]
    fn alpha_is_one_at_first() {
        let mut sender = sender_with(&[]);
        assert!((sender.alpha - 1.0).abs() < 1e-12);
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        assert_eq!(sender.window(), 5000);
    }

    // RFC 8257 §3.3: CWR is on its way; echoes of the same window say nothing new.
    // Clauses: RFC8257-3.3-once
    #[test]
    fn an_echo_of_the_same_window_cuts_nothing() {
        let mut sender = sender("0.5");
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        let reduced = sender.window();
        for segment in 2..9 {
            sender.on_ack(&ack(segment * 1000 + 1, 10_001, Echo::Repeated));
            assert!(sender.window() >= reduced, "{}", sender.window());
        }
    }

    // Linux 6.12, tcp_process_tlp_ack: no recovery begins, so that nothing but `dctcp_ssthresh` is asked.
    #[test]
    fn a_tail_that_a_probe_repairs_is_a_mark_in_linux() {
        let mut sender = linux();
        sender.alpha = 0.5;
        sender.on_loss(Loss::Tail, 10_000, Time::ZERO);
        sender.on_recovered(None);
        assert_eq!(sender.window(), 8000);
        sender.on_loss(Loss::FastRetransmit, 8000, Time::ZERO);
        assert_eq!(sender.window(), 4000);
        let mut sender = self::sender("0.5");
        sender.on_loss(Loss::Tail, 10_000, Time::ZERO);
        assert_eq!(sender.window(), 5000);
    }

    // RFC 8257 §3.5: half of the flight, as without ECN, although alpha is small.
    // Clauses: RFC8257-3.5-loss
    #[test]
    fn a_loss_halves_the_window_whatever_alpha() {
        let mut sender = sender("0.1");
        sender.on_loss(Loss::FastRetransmit, 10_000, Time::ZERO);
        sender.on_recovered(None);
        assert_eq!(sender.window(), 5000);
        assert!((sender.alpha - 0.1).abs() < 1e-12);
    }
}
