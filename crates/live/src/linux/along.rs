//! What happens in a run over time, in either world: the queue of the bottleneck, and when senders noticed losses.

use base::{Span, Time};
use fabric::PortId;
use scenario::PointSpec;
use scenario::workload::Plan;
use schemes::Sender;
use serde_json::{Value, json};
use sim::error::RunError;
use sim::metrics::Outcome;
use sim::probe::{End, Probe};
use sim::run::{self, Limits, Watching};
use tcp::Endpoint;

/// A run over time, in microseconds from its zero.
#[derive(Clone, Default, Debug)]
pub(crate) struct Along {
    /// From when on how many bytes waited at the bottleneck.
    pub(crate) queue: Vec<(f64, u64)>,
    /// When the sender of which connection noticed which loss; nothing if nobody can tell.
    pub(crate) losses: Option<Vec<(f64, u32, Loss)>>,
}

/// How a sender noticed a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    /// By ACKs: it begins a fast recovery.
    Recovery,
    /// By a timer.
    Timeout,
}

impl Along {
    /// Adds it to what is told of a run.
    pub(crate) fn tell(&self, told: &mut Value) {
        told["queue"] = json!(self.queue);
        let losses = self.losses.as_ref().map(|losses| {
            let rows = losses.iter();
            let rows = rows.map(|(at, connection, loss)| json!([at, connection, loss.name()]));
            rows.collect::<Vec<_>>()
        });
        told["losses"] = json!(losses);
    }
}

impl Loss {
    /// As series call it.
    const fn name(self) -> &'static str {
        match self {
            Self::Recovery => "fast_retransmit",
            Self::Timeout => "timeout",
        }
    }
}

/// Simulates a point and looks at its queue as often as at that of a kernel.
pub(crate) fn simulate(point: &PointSpec, every: Span) -> Result<(Outcome, Along), RunError> {
    let plan = Plan::of(point);
    let mut looks = Looks {
        port: plan.bottleneck,
        every,
        next: Time::ZERO,
        level: 0,
        queue: Vec::new(),
        losses: Vec::new(),
        known: vec![Known::default(); plan.connections.len()],
    };
    let watching = Watching {
        probe: Some(&mut looks),
        breakdown: false,
    };
    let outcome = run::watch(Limits::NONE, point, watching)?;
    let along = Along {
        queue: looks.queue,
        losses: Some(looks.losses),
    };
    Ok((outcome, along))
}

/// Looks at a queue at regular times, and notes losses when they are noticed.
struct Looks {
    port: PortId,
    every: Span,
    /// When it looks next, and what waits until then.
    next: Time,
    level: u64,
    queue: Vec<(f64, u64)>,
    losses: Vec<(f64, u32, Loss)>,
    /// By connection.
    known: Vec<Known>,
}

/// What is known of a sender.
#[derive(Clone, Copy, Default)]
struct Known {
    timeouts: u64,
    is_recovering: bool,
}

impl Looks {
    /// Looks until this time.
    fn look(&mut self, until: Time) {
        while self.next <= until {
            // What has not changed is not told again.
            if self.queue.last().map(|(_, level)| *level) != Some(self.level) {
                self.queue.push((micros(self.next), self.level));
            }
            self.next += self.every;
        }
    }
}

impl Probe for Looks {
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if port == self.port {
            self.look(at);
            self.level = waiting;
        }
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        if !end.sends {
            return;
        }
        let known = &mut self.known[end.flow.0 as usize];
        let earlier = *known;
        *known = Known {
            timeouts: endpoint.counters().timeouts,
            is_recovering: endpoint.is_recovering(),
        };
        let loss = if known.timeouts > earlier.timeouts {
            Some(Loss::Timeout)
        } else {
            (known.is_recovering && !earlier.is_recovering).then_some(Loss::Recovery)
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
        let every = Span::from_micros(500);
        let (outcome, along) = simulate(&scenario.points()[0], every).unwrap();
        assert!(
            (100..=400).contains(&along.queue.len()),
            "{}",
            along.queue.len()
        );
        let of_looks = along.queue.iter().map(|(_, bytes)| *bytes).max();
        assert!(of_looks.is_some_and(|most| most <= outcome.metrics.queue_max_bytes));
        assert!(along.queue.iter().all(|(at, _)| (at % 500.0).abs() < 1e-6));
        let mut told = json!({});
        along.tell(&mut told);
        let losses = told["losses"].as_array().unwrap();
        assert!(!losses.is_empty(), "three flows overflow 30 packets");
        let timeouts = losses.iter().filter(|loss| loss[2] == "timeout").count() as u64;
        assert_eq!(timeouts, outcome.metrics.timeouts);
        assert!(losses.iter().any(|loss| loss[2] == "fast_retransmit"));
        Along::default().tell(&mut told);
        assert!(told["losses"].is_null(), "not told is not none");
    }
}
