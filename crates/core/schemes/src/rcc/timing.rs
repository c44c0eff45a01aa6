//! Round-trip estimate at the receiver (RCC §4.4), and the timer that sends lost ACKs again (§4.5).

use std::collections::VecDeque;

use base::{Span, Time};

use super::params::{History, Timer};

/// Times data that an ACK released: from the ACK's transmission, so that its wait in the buffer queue
/// is not part of the sample, to the arrival of the first segment it allowed.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// ACKs in transmission order.
    history: VecDeque<Record>,
    /// Whether all of them are timed at the same time, or one.
    timed: History,
    /// Zero before the first sample.
    srtt: Span,
    rttvar: Span,
    /// Factor on the timeout: doubles at each firing, 1 again at the next sample.
    backoff: u64,
    /// When the ACK last sent is taken for lost; [`Time::NEVER`] if data has come since.
    pub(super) deadline: Time,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    ack: u64,
    /// Offset of the data that this ACK releases.
    expected: u64,
    sent: Time,
}

impl Timing {
    pub(super) const fn new(timed: History) -> Self {
        Self {
            history: VecDeque::new(),
            timed,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            backoff: 1,
            deadline: Time::NEVER,
        }
    }

    /// An ACK leaves that allows `window` bytes from `ack` on.
    pub(super) fn on_ack_sent(&mut self, ack: u64, window: u64, mss: u64, rto: Span, now: Time) {
        while self
            .history
            .front()
            .is_some_and(|record| now.since(record.sent) > rto)
        {
            self.history.pop_front();
        }
        if self.history.back().is_some_and(|record| record.ack == ack) {
            // Sent twice: which of them released the data cannot be told.
            self.history.pop_back();
            return;
        }
        if self.timed == History::Single && !self.history.is_empty() {
            return;
        }
        let expected = ack + window.saturating_sub(mss) / mss * mss;
        self.history.push_back(Record {
            ack,
            expected,
            sent: now,
        });
    }

    /// Data that begins at `offset` has come.
    pub(super) fn on_data(&mut self, offset: u64, now: Time) {
        let Some(index) = self
            .history
            .iter()
            .position(|record| record.expected == offset)
        else {
            return;
        };
        self.sample(now.since(self.history[index].sent));
        self.history.drain(..=index);
    }

    /// The timer has fired.
    pub(super) fn back_off(&mut self, max: u64) {
        self.backoff = (self.backoff * 2).min(max);
    }

    /// `RTO_r`.
    pub(super) fn rto(&self, timer: Timer, min: Span) -> Span {
        let base = match timer {
            Timer::Adaptive => (self.srtt + self.rttvar * 4).max(min),
            Timer::Constant => min,
        };
        base * self.backoff
    }

    /// Smoothed round trip; zero before the first sample.
    pub(super) const fn srtt(&self) -> Span {
        self.srtt
    }

    /// Gain 0.1, as in the published code; RFC 6298's gains serve equally well.
    fn sample(&mut self, rtt: Span) {
        self.backoff = 1;
        if self.srtt == Span::ZERO {
            (self.srtt, self.rttvar) = (rtt, rtt);
            return;
        }
        self.rttvar = self.rttvar - self.rttvar / 10 + self.srtt.abs_diff(rtt) / 10;
        self.srtt = self.srtt - self.srtt / 10 + rtt / 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1446;
    const RTO: Span = Span::from_millis(10);

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn a_sample_runs_from_the_ack_to_the_last_segment_it_allowed() {
        let mut timing = Timing::new(History::All);
        timing.on_ack_sent(1, 2 * MSS, MSS, RTO, us(0));
        timing.on_data(1, us(150));
        assert_eq!(timing.srtt(), Span::ZERO, "an earlier ACK allowed this one");
        timing.on_data(1 + MSS, us(172));
        assert_eq!(timing.srtt(), Span::from_micros(172));
        assert_eq!(timing.rto(Timer::Adaptive, RTO), RTO);
    }

    #[test]
    fn an_ack_sent_twice_gives_no_sample() {
        let mut timing = Timing::new(History::All);
        timing.on_ack_sent(1, MSS, MSS, RTO, us(0));
        timing.on_ack_sent(1, MSS, MSS, RTO, us(100));
        timing.on_data(1, us(172));
        assert_eq!(timing.srtt(), Span::ZERO);
    }

    #[test]
    fn an_ack_older_than_the_timeout_is_forgotten() {
        let mut timing = Timing::new(History::All);
        timing.on_ack_sent(1, MSS, MSS, RTO, us(0));
        timing.on_ack_sent(1 + MSS, MSS, MSS, RTO, us(10_001));
        timing.on_data(1, us(10_100));
        assert_eq!(timing.srtt(), Span::ZERO);
    }

    // Clauses: RCC-alg3-6
    #[test]
    fn the_timeout_doubles_until_the_next_sample() {
        let mut timing = Timing::new(History::All);
        for _ in 0..10 {
            timing.back_off(64);
        }
        assert_eq!(timing.rto(Timer::Adaptive, RTO), RTO * 64);
        timing.on_ack_sent(1, MSS, MSS, RTO, us(0));
        timing.on_data(1, us(172));
        assert_eq!(timing.rto(Timer::Adaptive, RTO), RTO);
    }

    // Clauses: RDTCP-rtt
    #[test]
    fn a_single_history_times_one_ack_at_a_time() {
        for (history, expected) in [(History::All, 140), (History::Single, 160)] {
            let mut timing = Timing::new(history);
            timing.on_ack_sent(1, MSS, MSS, RTO, us(0));
            timing.on_ack_sent(1 + MSS, MSS, MSS, RTO, us(20));
            if history == History::Single {
                timing.on_data(1, us(160));
            }
            timing.on_data(1 + MSS, us(160));
            assert_eq!(timing.srtt(), Span::from_micros(expected));
        }
    }

    // Clauses: RDTCP-timer
    #[test]
    fn a_constant_timer_ignores_the_round_trip() {
        let mut timing = Timing::new(History::All);
        timing.on_ack_sent(1, MSS, MSS, RTO, us(0));
        timing.on_data(1, us(9_000));
        // srtt + 4 * rttvar = 5 * 9 ms after the first sample.
        assert_eq!(timing.rto(Timer::Adaptive, RTO), Span::from_millis(45));
        assert_eq!(timing.rto(Timer::Constant, RTO), RTO);
    }
}
