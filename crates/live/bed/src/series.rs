//! Series of a run on Linux or in the simulator: the queue of the bottleneck, the bytes that receivers read, and when
//! senders noticed losses.

use std::collections::BTreeMap;

use base::Time;
use fabric::PortId;
use plan::PointSpec;
use plan::workload::Plan;
use protocol::LossKind;
use schemes::Sender;
use sim::error::RunError;
use sim::metrics::Outcome;
use sim::probe::{End, Probe};
use sim::run::{self, Limits, Watching};
use tcp::Endpoint;

use crate::counters::SAMPLE_INTERVAL;

/// Events of a run, each with its time in microseconds since the start of the run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Series {
    /// The queue of the bottleneck: the waiting bytes from this time on.
    pub(crate) queue: Vec<(f64, u64)>,
    /// Reads: the time, the connection, and the bytes read.
    pub(crate) arrivals: Vec<(f64, u32, u64)>,
    /// Each noticed loss with its time, connection and kind; `None` if losses were not observed. The sender notices it,
    /// except for a timer of the receiver's FIN.
    pub(crate) losses: Option<Vec<(f64, u32, LossKind)>>,
}

/// The bytes read by receivers. Each connection has at most one row per sampling interval of the queue.
#[derive(Clone, Default, Debug)]
pub(crate) struct Arrivals {
    rows: Vec<(f64, u32, u64)>,
    /// By connection: the index of its last row.
    last: BTreeMap<u32, usize>,
}

impl Arrivals {
    /// This many more bytes were read at `at_us`. Times must not decrease.
    pub(crate) fn add(&mut self, connection: u32, at_us: f64, bytes: u64) {
        let slot = |at_us: f64| (at_us / SAMPLE_INTERVAL.as_micros()).floor();
        if let Some(last) = self.last.get(&connection) {
            let row = &mut self.rows[*last];
            if slot(row.0) >= slot(at_us) {
                row.2 += bytes;
                return;
            }
        }
        self.last.insert(connection, self.rows.len());
        self.rows.push((at_us, connection, bytes));
    }

    /// Rows of microseconds, connection and bytes, in the order of time.
    pub(crate) fn into_rows(self) -> Vec<(f64, u32, u64)> {
        self.rows
    }
}

/// Simulates a point and samples its queue as often as a kernel's.
pub(crate) fn simulate(point: &PointSpec) -> Result<(Outcome, Series), RunError> {
    let plan = Plan::of(point);
    let mut probe = SeriesProbe {
        port: plan.bottleneck,
        next: Time::ZERO,
        level: 0,
        queue: Vec::new(),
        losses: Vec::new(),
        arrivals: Arrivals::default(),
        known: vec![EndpointState::default(); plan.connections.len()],
    };
    let watching = Watching {
        probe: Some(&mut probe),
        breakdown: false,
    };
    let outcome = run::watch(Limits::NONE, point, watching)?;
    let series = Series {
        queue: probe.queue,
        arrivals: probe.arrivals.into_rows(),
        losses: Some(probe.losses),
    };
    Ok((outcome, series))
}

/// Samples a queue at regular times, and records reads and noticed losses.
struct SeriesProbe {
    port: PortId,
    /// The time of the next sample, and the waiting bytes until then.
    next: Time,
    level: u64,
    queue: Vec<(f64, u64)>,
    losses: Vec<(f64, u32, LossKind)>,
    arrivals: Arrivals,
    /// By connection.
    known: Vec<EndpointState>,
}

/// The state of a connection.
#[derive(Clone, Copy, Default)]
struct EndpointState {
    /// At its receiver and at its sender.
    timeouts: [u64; 2],
    /// Whether its sender is.
    is_recovering: bool,
    /// Bytes read by its receiver.
    received: u64,
}

impl SeriesProbe {
    /// Samples until this time.
    fn look(&mut self, until: Time) {
        while self.next <= until {
            // An unchanged value is not recorded again.
            if self.queue.last().map(|(_, level)| *level) != Some(self.level) {
                self.queue.push((micros(self.next), self.level));
            }
            self.next += SAMPLE_INTERVAL;
        }
    }
}

impl Probe for SeriesProbe {
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if port == self.port {
            self.look(at);
            self.level = waiting;
        }
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        let known = &mut self.known[end.flow.0 as usize];
        let earlier = *known;
        let timeouts = &mut known.timeouts[usize::from(end.sends)];
        *timeouts = endpoint.counters().timeouts;
        if end.sends {
            known.is_recovering = endpoint.is_recovering();
        } else {
            known.received = endpoint.received();
            let new = known.received - earlier.received;
            if new > 0 {
                self.arrivals.add(end.flow.0, micros(now), new);
            }
        }
        let loss = if known.timeouts == earlier.timeouts {
            (known.is_recovering && !earlier.is_recovering).then_some(LossKind::FastRetransmit)
        } else {
            Some(LossKind::Timeout)
        };
        let noted = loss.map(|loss| (micros(now), end.flow.0, loss));
        self.losses.extend(noted);
    }

    fn on_end(&mut self, now: Time) {
        self.look(now);
    }
}

fn micros(at: Time) -> f64 {
    at.since(Time::ZERO).as_micros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Overrides, Scenario, Source};

    #[test]
    fn a_simulated_queue_is_looked_at_and_losses_are_noted() {
        let text = "schemes = [\"newreno\"]\nswitch.buffer = \"30pkt\"\nswitch.ecn_threshold = \"off\"\n\
            run.duration = \"200ms\"\nlink.rate = \"100Mbps\"\n\
            [workload]\nkind = \"incast\"\nsenders = 3\nsize = \"unlimited\"\n";
        let scenario = Scenario::load(Source::new("long", text), &Overrides::default()).unwrap();
        let (outcome, series) = simulate(&scenario.points()[0]).unwrap();
        assert!(
            (100..=400).contains(&series.queue.len()),
            "{}",
            series.queue.len()
        );
        let of_looks = series.queue.iter().map(|(_, bytes)| *bytes).max();
        assert!(of_looks.is_some_and(|most| most <= outcome.metrics.queue_max_bytes));
        assert!(series.queue.iter().all(|(at, _)| (at % 500.0).abs() < 1e-6));
        // 200 ms have 400 slots, each with at most a row for each of three connections.
        assert!(
            series.arrivals.len() <= 400 * 3,
            "{}",
            series.arrivals.len()
        );
        let bytes = |rows: &[(f64, u32, u64)]| rows.iter().map(|(.., bytes)| bytes).sum::<u64>();
        let received: u64 = outcome.flows.iter().map(|flow| flow.received_bytes).sum();
        assert_eq!(bytes(&series.arrivals), received);
        let losses = series.losses.unwrap();
        assert!(!losses.is_empty(), "three flows overflow 30 packets");
        let count = |kind| losses.iter().filter(|(.., own)| *own == kind).count() as u64;
        assert_eq!(count(LossKind::Timeout), outcome.metrics.timeouts);
        assert!(count(LossKind::FastRetransmit) > 0);
    }

    #[test]
    fn what_is_read_in_one_slot_is_one_row() {
        let mut arrivals = Arrivals::default();
        for (connection, at_us, bytes) in [
            (0, 10.0, 1),
            (1, 20.0, 2),
            (0, 499.0, 4),
            (0, 500.0, 8),
            (1, 1200.0, 16),
        ] {
            arrivals.add(connection, at_us, bytes);
        }
        let rows = [(10.0, 0, 5), (20.0, 1, 2), (500.0, 0, 8), (1200.0, 1, 16)];
        assert_eq!(arrivals.into_rows(), rows);
    }
}
