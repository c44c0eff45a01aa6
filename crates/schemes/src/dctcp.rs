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
//! | K | `switch.ecn_threshold` | 40 packets | the scenario |
//! | observation window | `dctcp.interval` | a window of data | RFC 8257 §3.3 |
//! | window without marks | `dctcp.no_decay` | counts | RFC 8257 §3.3 |
//! | answer to an echo | `dctcp.response` | a cut by `alpha / 2` | RFC 8257 §3.3 |
//!
//! What the RCC paper compares with differs in all of these: `initial_alpha = 0`, `min_window = 1`,
//! `interval = "rtt"`, `no_decay = true`, `response = "interval"`.
//!
//! Deviations: none by default.
//!
//! Open in the paper: the initial alpha (ns-2 starts at 0), and whether `alpha` of the window just
//! ended is used for the cut (it is, RFC 8257 §3.3). Losses are answered as NewReno does (§3.5).

use base::setting::Settings;
use base::{Count, Fraction, OrOff, Quantity, QuantityError, Span, Time};
use tcp::{Ack, Echo, EcnMode, Gauge, Loss, NewReno, SSTHRESH, SenderCc};

use crate::registry::{FlowInfo, MakeReceiver, Role, Roles, Scheme};

mod observer;

pub use observer::Observer;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "dctcp",
    summary: "Data Center TCP: shrinks its window by the share of bytes the switch marked",
    reference: "RFC 8257; Alizadeh et al., SIGCOMM 2010",
    roles: &[Role::Sender, Role::Marks],
    needs_marking: true,
    keys: Params::KEYS,
    gauges: &[SSTHRESH, ALPHA, observer::RECEIVER_ALPHA],
    build: |text| {
        let params = Params::read(text)?;
        let observe = params
            .receiver_alpha
            .0
            .map(|interval| (params.g.0, interval));
        Ok(Roles {
            receiver: observe.map(|(g, interval)| -> MakeReceiver {
                Box::new(move |_| Observer::new(g, interval).into())
            }),
            ecn: Some(EcnMode::Accurate),
            ..Roles::of_sender(params, Sender::new)
        })
    },
};

/// When an observation window ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interval {
    /// When the data sent since it began is acknowledged.
    Window,
    /// After a round trip by the sender's estimate if that lies between 200 us and 10 ms, else after
    /// 200 us: the RCC simulation.
    RoundTrip,
    /// After a fixed time.
    Every(Span),
}

impl Quantity for Interval {
    fn expected() -> String {
        format!("\"window\", \"rtt\" or {}", Span::expected())
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "window" => Ok(Self::Window),
            "rtt" => Ok(Self::RoundTrip),
            other => match Span::parse(other) {
                Ok(span) if span > Span::ZERO => Ok(Self::Every(span)),
                _ => Err(QuantityError::expected(&Self::expected(), text)),
            },
        }
    }
}

base::choices! {
    /// What an ECN echo does to the window.
    pub enum Response {
        /// The first of a window of data cuts it by alpha / 2.
        Standard = "standard",
        /// Every one halves ssthresh, and the end of a marked observation window cuts: the RCC simulation.
        Interval = "interval",
    }
}

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
        /// What marks do: standard cuts at the first echo of a window, interval at the end of a marked one as the RCC simulation does.
        pub response: Response = "standard",
        /// Receivers estimate the marked share of packets too, once in this time, and only report it: the trace receiver_alpha.
        pub receiver_alpha: OrOff<Span> = "off",
    }
}

/// What its senders report.
pub(crate) const SENDER_GAUGES: &[Gauge] = &[SSTHRESH, ALPHA];

const ALPHA: Gauge = Gauge {
    name: "alpha",
    unit: "share",
    help: "Estimated share of marked bytes, 0 to 1.",
};

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
    /// What ends it instead where it has a length in time.
    timed: Option<Box<Timed>>,
    /// Least window, in segments.
    min_segments: u32,
    no_decay: bool,
    response: Response,
}

/// An observation window with a length in time.
#[derive(Debug)]
struct Timed {
    /// The length; `None`: that of a round trip.
    length: Option<Span>,
    /// When it ends; `None` before the first ACK.
    end: Option<Time>,
    /// Smoothed round trip (RFC 6298 §2); zero before the first sample.
    srtt: Span,
}

impl Timed {
    const fn new(length: Option<Span>) -> Self {
        Self {
            length,
            end: None,
            srtt: Span::ZERO,
        }
    }

    /// Whether the window is over when this ACK comes; if so, the next one has begun.
    fn is_over(&mut self, ack: &Ack) -> bool {
        if let Some(rtt) = ack.rtt {
            self.srtt = if self.srtt == Span::ZERO {
                rtt
            } else {
                (self.srtt * 7 + rtt) / 8
            };
        }
        let believed = (LEAST_INTERVAL..LONGEST_INTERVAL).contains(&self.srtt);
        let round_trip = if believed { self.srtt } else { LEAST_INTERVAL };
        let length = self.length.unwrap_or(round_trip);
        let end = *self.end.get_or_insert(ack.now + length);
        if ack.now < end {
            return false;
        }
        let more = ack.now.since(end).as_ps() / length.as_ps();
        self.end = Some(end + length * (more + 1));
        true
    }
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
            timed: match params.interval {
                Interval::Window => None,
                Interval::RoundTrip => Some(Box::new(Timed::new(None))),
                Interval::Every(span) => Some(Box::new(Timed::new(Some(span)))),
            },
            min_segments: params.min_window.0,
            no_decay: params.no_decay,
            response: params.response,
        }
    }

    /// RFC 8257 §3.3 steps 1 to 8.
    fn observe(&mut self, ack: &Ack) {
        if let Some(timed) = &mut self.timed {
            // A timer would have fired before this ACK came; what it changes shows with the next
            // segment, which this ACK lets go.
            if timed.is_over(ack) {
                self.end_window();
            }
            self.count(ack);
            return;
        }
        self.count(ack);
        if ack.acknowledged >= self.window_end && self.acked > 0 {
            self.end_window();
            self.window_end = ack.next;
        }
    }

    fn count(&mut self, ack: &Ack) {
        self.acked += ack.bytes;
        if ack.echo != Echo::None {
            self.marked += ack.bytes;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the law is real-valued")]
    fn end_window(&mut self) {
        // Without decay the counts go on, too: the next share is that of all since the last mark.
        if self.acked == 0 || (self.no_decay && self.marked == 0) {
            return;
        }
        let (share, g) = (self.marked as f64 / self.acked as f64, self.g);
        self.alpha = (1.0 - g) * self.alpha + g * share;
        let marked = self.marked > 0;
        (self.acked, self.marked) = (0, 0);
        if marked && self.response == Response::Interval {
            self.cut();
        }
    }

    /// RFC 8257 §3.3 step 9: cwnd * (1 - alpha / 2).
    #[expect(clippy::cast_precision_loss, reason = "the law is real-valued")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 <= alpha <= 1"
    )]
    fn cut(&mut self) {
        let reduced = (self.reno.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64;
        let least = u64::from(self.min_segments) * self.reno.mss();
        self.reno.cwnd = reduced.max(least);
    }

    /// What an echo does at once.
    fn respond(&mut self, ack: &Ack) {
        match self.response {
            Response::Standard => {
                self.cut();
                self.reno.ssthresh = self.reno.cwnd;
            }
            Response::Interval => {
                let in_flight = ack.next - ack.acknowledged + ack.bytes;
                self.reno.ssthresh = (in_flight / 2).max(2 * self.reno.mss());
            }
        }
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn on_established(&mut self, mss: u16, segments: u32) {
        self.reno.on_established(mss, segments);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        match (ack.echo, self.response) {
            (Echo::Reduce, _) => self.respond(ack),
            (Echo::Repeated, Response::Interval) if ack.bytes > 0 => self.respond(ack),
            (Echo::Repeated, Response::Interval) => {}
            _ if ack.grows() => self.reno.grow(ack.bytes),
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.reno.on_loss(loss, in_flight, now);
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn on_idle(&mut self) {
        self.reno.on_idle();
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(sink);
        sink(ALPHA.name, self.alpha);
    }
}

/// Bounds of the round trip that [`Interval::RoundTrip`] believes in the published code of RCC.
const LEAST_INTERVAL: Span = Span::from_micros(200);
const LONGEST_INTERVAL: Span = Span::from_millis(10);

#[cfg(test)]
mod tests {
    use base::Extension;
    use tcp::Config;

    use super::*;

    fn sender(alpha: &str) -> Sender {
        sender_with(&[("dctcp.initial_alpha", alpha)])
    }

    fn sender_with(changed: &[(&str, &str)]) -> Sender {
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

    fn ack(acknowledged: u64, next: u64, echo: Echo) -> Ack {
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

    #[test]
    fn the_cut_uses_the_estimate_of_the_window_just_ended() {
        // alpha 0, all bytes of the window marked: alpha = 1/16, cwnd = 10000 * (1 - 1/32) = 9687.
        let mut sender = sender("0");
        sender.on_ack(&ack(1001, 10_001, Echo::Reduce));
        assert_eq!(sender.window(), 9687);
    }

    // RFC 8257 §3.3 steps 4 and 5: one share of all bytes of a window, not one for each ACK.
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

    #[test]
    fn with_all_packets_marked_alpha_tends_to_one_and_the_window_to_its_minimum() {
        let mut sender = sender("0");
        for round in 1..200 {
            sender.on_ack(&ack(round * 1000 + 1, round * 1000 + 1001, Echo::Reduce));
        }
        assert!(sender.alpha > 0.999);
        assert_eq!(sender.window(), 2000);
    }

    #[test]
    fn without_marks_alpha_decays_by_g_per_window() {
        let mut sender = sender("1");
        for round in 1..=10 {
            sender.on_ack(&ack(round * 1000 + 1, round * 1000 + 1001, Echo::None));
        }
        assert!((sender.alpha - libm::pow(15.0 / 16.0, 10.0)).abs() < 1e-12);
    }

    /// An ACK of a segment with ten outstanding, at so many microseconds.
    fn at(us: u64, echo: Echo) -> Ack {
        Ack {
            now: Time::ZERO + Span::from_micros(us),
            ..ack(us, us + 9000, echo)
        }
    }

    #[test]
    fn without_decay_alpha_waits_for_a_mark_whose_share_is_of_all_since_the_last() {
        let mut sender = sender_with(&[("dctcp.initial_alpha", "0.5"), ("dctcp.no_decay", "true")]);
        for round in 1..=9 {
            sender.on_ack(&ack(round * 1000 + 1, round * 1000 + 1001, Echo::None));
        }
        assert!((sender.alpha - 0.5).abs() < 1e-12);
        // One of ten segments: 15/16 of 0.5 and 1/16 of 0.1.
        sender.on_ack(&ack(10_001, 11_001, Echo::Reduce));
        assert!((sender.alpha - (0.5 * 15.0 / 16.0 + 0.1 / 16.0)).abs() < 1e-12);
    }

    #[test]
    fn the_interval_response_halves_ssthresh_at_every_echo_and_cuts_at_the_end() {
        let mut sender = sender_with(&[
            ("dctcp.initial_alpha", "1"),
            ("dctcp.response", "interval"),
            ("dctcp.interval", "200us"),
        ]);
        sender.on_ack(&at(1, Echo::Reduce));
        sender.on_ack(&at(100, Echo::Repeated));
        // Half of ten segments in flight, and no growth.
        assert_eq!((sender.window(), sender.reno.ssthresh), (10_000, 5000));
        // All marked, alpha stays 1: half of the window. The ACK itself belongs to the next interval and
        // is one of congestion avoidance, 1000 * 1000 / 5000 bytes.
        sender.on_ack(&at(201, Echo::None));
        assert_eq!((sender.window(), sender.reno.ssthresh), (5200, 5000));
        // Nothing was marked since: alpha decays, the window grows.
        sender.on_ack(&at(401, Echo::None));
        assert!((sender.alpha - 15.0 / 16.0).abs() < 1e-12);
        assert!(sender.window() > 5200);
    }

    #[test]
    fn an_interval_ends_with_the_first_ack_after_its_time() {
        let mut sender = sender_with(&[("dctcp.interval", "200us")]);
        // The first interval ends at 210 us; one in which nothing came counts for nothing.
        for us in [10, 200, 209, 210, 400, 950, 1010] {
            sender.on_ack(&at(us, Echo::None));
        }
        // It ended at 210, 950 (for 410 to 810) and 1010.
        assert!((sender.alpha - libm::pow(15.0 / 16.0, 3.0)).abs() < 1e-12);
    }

    #[test]
    fn the_round_trip_sets_the_interval_between_its_bounds() {
        for (rtt, intervals) in [(100, 5.0), (500, 2.0), (10_000, 5.0)] {
            let mut sender = sender_with(&[("dctcp.interval", "rtt")]);
            for us in (0..=1000).step_by(100) {
                let rtt = Some(Span::from_micros(rtt));
                sender.on_ack(&Ack {
                    rtt,
                    ..at(us, Echo::None)
                });
            }
            let expected = libm::pow(15.0 / 16.0, intervals);
            assert!((sender.alpha - expected).abs() < 1e-12, "{rtt} us");
        }
    }

    #[test]
    fn an_interval_is_a_word_or_some_time() {
        assert_eq!(Interval::parse("window"), Ok(Interval::Window));
        assert_eq!(Interval::parse("rtt"), Ok(Interval::RoundTrip));
        let span = Span::from_micros(200);
        assert_eq!(Interval::parse("200us"), Ok(Interval::Every(span)));
        assert!(Interval::parse("0us").is_err());
        assert!(Interval::parse("often").is_err());
    }
}
