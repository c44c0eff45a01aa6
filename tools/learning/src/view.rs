//! An agent's observation of its connections.

use base::{Span, Time};

use base::cast::real;

use crate::facts::Facts;
use crate::settings::Feature;
use crate::slot::Counts;

/// The observation of one agent after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The counts of its senders in the step.
    pub(crate) counts: Counts,
    /// The sum of the round trips measured in the step, each divided by the round trip without queues.
    pub(crate) ratios: f64,
    /// Their mean; without a measurement, the mean of an earlier step; at first 1.
    rtt: f64,
    /// The running flows, the start of the oldest, and the sum of their senders' windows in segments.
    pub(crate) active: u64,
    pub(crate) oldest: Time,
    pub(crate) windows: f64,
    /// Segments in flight, and the same plus unsent ones.
    pub(crate) in_flight: f64,
    pub(crate) remaining: f64,
    /// Bytes that wait at its port.
    pub(crate) waiting: u64,
    /// Packets that its port dropped in the step.
    pub(crate) drops: u64,
}

impl View {
    /// Before the first step.
    pub(crate) const FRESH: Self = Self {
        counts: Counts::NONE,
        ratios: 0.0,
        rtt: 1.0,
        active: 0,
        oldest: Time::NEVER,
        windows: 0.0,
        in_flight: 0.0,
        remaining: 0.0,
        waiting: 0,
        drops: 0,
    };

    /// Begins another step, which keeps only the last round trip.
    pub(crate) fn begin_step(&mut self) {
        *self = Self {
            rtt: self.rtt,
            ..Self::FRESH
        };
    }

    /// The sender of a connection with the round trip `round_trip` without queues has counted `new` in the step.
    pub(crate) fn add(&mut self, new: Counts, round_trip: Span) {
        self.counts = self.counts.and(new);
        self.ratios += real(new.rtt_ps) / real(round_trip.as_ps());
    }

    /// Ends the step after everything has been added.
    pub(crate) fn end_step(&mut self) {
        if self.counts.rtts > 0 {
            self.rtt = self.ratios / real(self.counts.rtts);
        }
    }

    /// A feature that the agent requested, at `now`.
    pub(crate) fn feature(
        &self,
        feature: Feature,
        agent: usize,
        (facts, now): (&Facts, Time),
    ) -> f64 {
        let counts = &self.counts;
        match feature {
            Feature::Window => self.windows / real(self.active.max(1)),
            Feature::InFlight => self.in_flight,
            Feature::Remaining => self.remaining,
            Feature::Goodput => {
                real(counts.acked) / (facts.links[agent].0 * facts.interval.as_secs())
            }
            Feature::Rtt => self.rtt,
            Feature::Marks => real(counts.marked) / real(counts.acked.max(1)),
            Feature::Losses => real(counts.losses),
            Feature::Timeouts => real(counts.timeouts),
            Feature::Queue => real(self.waiting) / facts.buffer,
            Feature::Drops => real(self.drops),
            Feature::Active => real(self.active),
            Feature::Age if self.active == 0 => 0.0,
            Feature::Age => now.since(self.oldest.min(now)).as_secs() / facts.round_trip.as_secs(),
        }
    }
}
