//! DCTCP as the RCC paper simulates it, and anything between that and RFC 8257.
//!
//! | switch | field | RFC 8257 §3.3 | the RCC simulation |
//! |---|---|---|---|
//! | observation window | `dctcp.interval` | a window of data | `"rtt"` |
//! | window without marks | `dctcp.no_decay` | counts | `true`: does not |
//! | answer to an echo | `dctcp.response` | a cut by `alpha / 2` | `"interval"` |

use base::{Quantity, QuantityError, Span, Time};
use tcp::{Ack, Echo};

use super::{Params, Sender};

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
    /// The effect of an ECN echo on the window.
    pub enum Response {
        /// The first of a window of data cuts it by alpha / 2.
        Standard = "standard",
        /// Every one halves ssthresh, and the end of a marked observation window cuts: the RCC simulation.
        Interval = "interval",
    }
}

/// The switches of a sender that does not follow RFC 8257 in all of them.
#[derive(Debug)]
pub(super) struct Deviations {
    /// The clock of observation windows that have a length in time.
    timed: Option<TimedWindow>,
    no_decay: bool,
    response: Response,
}

/// An observation window with a length in time.
#[derive(Debug)]
struct TimedWindow {
    /// The length; `None`: that of a round trip.
    length: Option<Span>,
    /// When it ends; `None` before the first ACK.
    end: Option<Time>,
    /// Smoothed round trip (RFC 6298 §2); zero before the first sample.
    srtt: Span,
}

impl TimedWindow {
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

impl Deviations {
    /// The switches of `params`; `None` if all of them say RFC 8257.
    pub(super) fn of(params: &Params) -> Option<Self> {
        let timed = match params.interval {
            Interval::Window => None,
            Interval::RoundTrip => Some(TimedWindow::new(None)),
            Interval::Every(span) => Some(TimedWindow::new(Some(span))),
        };
        let differs = timed.is_some() || params.no_decay || params.response != Response::Standard;
        differs.then_some(Self {
            timed,
            no_decay: params.no_decay,
            response: params.response,
        })
    }

    /// What [`Sender`] does with an ACK.
    pub(super) fn on_ack(&mut self, sender: &mut Sender, ack: &Ack) {
        self.observe(sender, ack);
        match (ack.echo, self.response) {
            (Echo::None, _) | (_, Response::Standard) => sender.respond(ack),
            (Echo::Repeated, Response::Interval) if ack.bytes == 0 => {}
            (Echo::Repeated | Echo::Reduce, Response::Interval) => {
                let in_flight = ack.next - ack.acknowledged + ack.bytes;
                sender.reno.ssthresh = (in_flight / 2).max(2 * sender.reno.mss());
            }
        }
    }

    fn observe(&mut self, sender: &mut Sender, ack: &Ack) {
        // A timer would have fired before this ACK came; what it changes shows with the next segment,
        // which this ACK lets go.
        if let Some(timed) = &mut self.timed {
            if timed.is_over(ack) {
                self.end_window(sender);
            }
            return sender.count(ack);
        }
        sender.count(ack);
        if sender.is_window_over(ack) {
            self.end_window(sender);
            sender.window_end = ack.next;
        }
    }

    fn end_window(&self, sender: &mut Sender) {
        let is_marked = sender.marked > 0;
        // Without decay the counts go on, too: the next share is that of all since the last mark.
        if sender.acked == 0 || (self.no_decay && !is_marked) {
            return;
        }
        sender.estimate();
        if is_marked && self.response == Response::Interval {
            sender.cut();
        }
    }
}

/// Bounds of the round trip that [`Interval::RoundTrip`] believes in the published code of RCC.
const LEAST_INTERVAL: Span = Span::from_micros(200);
const LONGEST_INTERVAL: Span = Span::from_millis(10);

#[cfg(test)]
mod tests {
    use tcp::SenderCc;

    use super::super::tests::{ack, sender_with};
    use super::*;

    /// An ACK of a segment with ten outstanding, at this many microseconds.
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
