//! Tail-loss probes: a segment that makes the loss of the last ones seen before the timer expires
//! (RFC 8985 §7).

use base::Span;

use crate::config::{Config, TailLossProbe, whole_us};

/// The sender's state of RFC 8985 §5.3 that is about probes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailProbe {
    kind: TailLossProbe,
    /// What was sent up to when the probe left, until that is settled (`TLP.end_seq`), and whether the
    /// probe was a segment sent before (`TLP.is_retrans`).
    sent: Option<(u64, bool)>,
}

/// What an ACK says to a sender that has probed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) ack: u64,
    /// The end of the segment that it reports to have come twice, if it does.
    pub(crate) duplicate: Option<u64>,
    /// Whether it is a bare ACK that changes nothing.
    pub(crate) idle: bool,
}

impl TailProbe {
    /// A sender that probes, if the settings say so.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        let kind = config.tail_loss_probe;
        (kind != TailLossProbe::Off).then_some(Self { kind, sent: None })
    }

    /// RFC 8985 §7.2: how long after the last new data a probe is due, with this many segments in flight. Linux 6.12 takes
    /// the whole microseconds of two round trips (`tcp_schedule_loss_probe`).
    #[inline(always)]
    pub(crate) fn timeout(&self, srtt: Span, segments: usize, config: &Config) -> Span {
        if srtt == Span::ZERO {
            return config.initial_rto;
        }
        let wait = match (segments, self.kind) {
            (1, TailLossProbe::Linux) => config.in_ticks(config.min_rto),
            (1, _) => config.delayed_ack_timeout,
            _ => config.timer_slack,
        };
        match self.kind {
            TailLossProbe::Linux => whole_us(srtt * 2) + wait,
            _ => srtt * 2 + wait,
        }
    }

    /// RFC 8985 §7.3: whether a probe may leave. One is out at a time.
    pub(crate) const fn may_probe(&self) -> bool {
        self.sent.is_none()
    }

    /// A probe has left; everything sent ends at `end` now.
    pub(crate) const fn on_probe(&mut self, end: u64, again: bool) {
        self.sent = Some((end, again));
    }

    /// What was sent up to when the probe left that is out, if one is.
    pub(crate) fn end(&self) -> Option<u64> {
        self.sent.map(|(end, _)| end)
    }

    /// Copies of segments that are out as probes: none or one.
    pub(crate) fn copies(&self) -> u32 {
        u32::from(self.sent.is_some_and(|(_, again)| again))
    }

    /// A reduction of the window answers whatever a probe could find.
    pub(crate) const fn settle(&mut self) {
        self.sent = None;
    }

    /// RFC 8985 §7.4.2. Returns whether the probe repaired a loss, which the window has to answer for.
    #[must_use]
    pub(crate) fn on_ack(&mut self, answer: &Answer) -> bool {
        let Some((end, again)) = self.sent else {
            return false;
        };
        if answer.ack < end {
            return false;
        }
        let harmless = !again || answer.duplicate == Some(end);
        let repaired = !harmless && answer.ack > end;
        if harmless || repaired || answer.idle {
            self.sent = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(kind: TailLossProbe) -> Config {
        Config {
            tail_loss_probe: kind,
            timer_slack: Span::from_millis(2),
            ..Config::default()
        }
    }

    fn timeout(kind: TailLossProbe, segments: usize) -> Span {
        let config = config(kind);
        let probe = TailProbe::of(&config).expect("it probes");
        probe.timeout(Span::from_millis(10), segments, &config)
    }

    // RFC 8985 §7.2: two round trips, and the delay of an ACK when it may wait for a second segment.
    // Clauses: RFC8985-7.2-timeout
    #[test]
    fn a_probe_is_due_after_two_round_trips_and_what_may_delay_the_ack() {
        let ms = Span::from_millis;
        assert_eq!(timeout(TailLossProbe::Rfc8985, 2), ms(22));
        assert_eq!(timeout(TailLossProbe::Rfc8985, 1), ms(60));
        assert_eq!(timeout(TailLossProbe::Linux, 1), ms(220));
        // Linux drops the part of a microsecond of two round trips.
        let odd = Span::from_ps(10_000_700_000);
        for (kind, ps) in [
            (TailLossProbe::Linux, 20_001_000_000),
            (TailLossProbe::Rfc8985, 20_001_400_000),
        ] {
            let settings = config(kind);
            let probe = TailProbe::of(&settings).expect("it probes");
            let expected = Span::from_ps(ps) + settings.timer_slack;
            assert_eq!(probe.timeout(odd, 2, &settings), expected);
        }
        let config = config(TailLossProbe::Linux);
        let probe = TailProbe::of(&config).expect("it probes");
        assert_eq!(probe.timeout(Span::ZERO, 2, &config), config.initial_rto);
        assert!(TailProbe::of(&Config::default()).is_none());
    }

    const PLAIN: Answer = Answer {
        ack: 100,
        duplicate: None,
        idle: false,
    };

    fn answered(again: bool, answer: Answer) -> (bool, bool) {
        let mut probe = TailProbe::of(&config(TailLossProbe::Rfc8985)).expect("it probes");
        probe.on_probe(100, again);
        assert!(!probe.may_probe());
        (probe.on_ack(&answer), probe.may_probe())
    }

    // RFC 8985 §7.4.2.
    // Clauses: RFC8985-7.3-one, RFC8985-7.4.2-loss
    #[test]
    fn only_a_probe_sent_again_that_was_needed_is_a_loss() {
        // New data was delivered.
        assert_eq!(answered(false, PLAIN), (false, true));
        // The original and the copy were delivered: a duplicate says so, or an ACK that changes nothing.
        let duplicate = Answer {
            duplicate: Some(100),
            ..PLAIN
        };
        assert_eq!(answered(true, duplicate), (false, true));
        // Another segment came twice: that says nothing of the probe.
        let other = Answer {
            duplicate: Some(50),
            ..PLAIN
        };
        assert_eq!(answered(true, other), (false, false));
        let idle = Answer {
            idle: true,
            ..PLAIN
        };
        assert_eq!(answered(true, idle), (false, true));
        // The copy arrived alone; the ACK behind it shows that.
        assert_eq!(answered(true, PLAIN), (false, false));
        assert_eq!(answered(true, Answer { ack: 101, ..PLAIN }), (true, true));
        // What was sent before is not acknowledged yet.
        assert_eq!(answered(true, Answer { ack: 99, ..idle }), (false, false));
    }
}
