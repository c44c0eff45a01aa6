//! A simulation that is taken from step to step has the same results as one that runs through.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{FlowId, Packet, Span, Time};
use engine::random::Stream;
use schemes::{FlowInfo, Sender};
use sim::metrics::Outcome;
use sim::observation::FlowState;
use sim::run;
use sim::stepper::Stepper;
use tcp::{Ack, Established, Loss, SegmentCc, SenderCc};

use super::support::points;

/// Everything in an outcome except its cost.
fn told(outcome: &Outcome) -> String {
    let mut outcome = outcome.clone();
    outcome.cost.cpu_us = 0.0;
    outcome.cost.ns_per_hop = 0.0;
    serde_json::to_string(&outcome).expect("outcomes are data")
}

#[test]
fn steps_of_any_length_change_nothing() {
    let schemes = "newreno,dctcp,rcc,ictcp,hscc,rwndq,rc3,pias,xcp,rcp,red,dctcp+hscc,rcc+cubic";
    for scheme in schemes.split(',') {
        for set in ["workload.jitter=100us", "workload.rounds=3"] {
            let sets = ["workload.senders=12", "workload.size=32KB", set];
            for point in points("incast", scheme, &sets) {
                let whole = told(&run::run(&point).expect("a conserving run"));
                for ps in [100_000_000, 7_777_777, 999_983] {
                    let mut stepper = Stepper::new(point.clone()).expect("a network");
                    while !stepper.finished() {
                        let until = stepper.seen().now + Span::from_ps(ps);
                        stepper.advance(until);
                    }
                    let stepped = stepper.finish().expect("a conserving run");
                    assert_eq!(told(&stepped), whole, "{scheme}, {set}, steps of {ps} ps");
                }
            }
        }
    }
}

#[test]
fn a_duration_ends_a_stepped_simulation_too() {
    let sets = ["workload.senders=4", "run.duration=3ms"];
    let point = points("long-flows", "dctcp", &sets).remove(0);
    let mut stepper = Stepper::new(point.clone()).expect("a network");
    stepper.advance(Time::ZERO + Span::from_secs(1));
    assert!(stepper.finished());
    assert_eq!(stepper.seen().now, Time::ZERO + Span::from_millis(3));
    assert!(
        stepper
            .seen()
            .flows
            .iter()
            .all(|flow| flow.start.is_some() && !flow.is_over())
    );
    let stepped = stepper.finish().expect("a conserving run");
    assert_eq!(
        told(&stepped),
        told(&run::run(&point).expect("a conserving run"))
    );
}

#[test]
fn what_is_seen_agrees_with_the_outcome() {
    let sets = ["workload.senders=40", "workload.jitter=100us"];
    let point = points("incast", "newreno", &sets).remove(0);
    let outcome = run::run(&point).expect("a conserving run");
    let mut stepper = Stepper::new(point).expect("a network");
    let (mut waited, mut flew) = (0, 0);
    while !stepper.finished() {
        let until = stepper.seen().now + Span::from_micros(50);
        let seen = stepper.advance(until);
        waited = waited.max(seen.ports[0].waiting);
        flew = flew.max(seen.connections.iter().map(|one| one.in_flight).sum());
        for flow in &seen.flows {
            assert!(flow.start.is_none_or(|start| start <= until));
            assert!(flow.completion.is_none_or(|end| end <= until));
        }
    }
    let seen = stepper.seen();
    assert!(seen.flows.iter().all(FlowState::is_over));
    assert_eq!(seen.ports[0].port, seen.bottleneck);
    assert_eq!(seen.ports[0].counters.drops, outcome.metrics.drops);
    assert!(outcome.metrics.drops > 0, "an incast that drops");
    // A look every 50 us misses the fullest moment by four packets at most: 50 us at 1 Gbit/s.
    let most = outcome.metrics.queue_max_bytes;
    assert!(
        waited <= most && waited + 4 * 1500 >= most,
        "{waited} of {most}"
    );
    assert!(flew > waited, "{flew}");
    for (flow, record) in seen.flows.iter().zip(&outcome.flows) {
        let end = flow.completion.expect("all are complete");
        let took = end.since(flow.start.expect("all have started")).as_micros();
        assert_eq!(Some(took), record.fct_us.get());
    }
}

#[test]
fn a_reset_repeats_an_episode_and_another_seed_does_not() {
    let point = points(
        "incast",
        "dctcp",
        &["workload.senders=8", "workload.jitter=100us"],
    )
    .remove(0);
    let mut stepper = Stepper::new(point).expect("a network");
    let mut digest = |seed| {
        stepper.reset(seed).expect("a network");
        assert!(!stepper.finished() && stepper.digest() == 0);
        stepper.advance(Time::NEVER);
        stepper.digest()
    };
    let first = digest(5);
    assert_ne!(digest(6), first);
    assert_eq!(digest(5), first);
}

/// A window that is decided from outside and read at every event.
struct Decided {
    slot: Arc<AtomicU64>,
    window: u64,
}

impl Decided {
    fn read(&mut self) {
        self.window = self.slot.load(Ordering::Relaxed);
    }
}

impl SenderCc for Decided {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_established(&mut self, _handshake: &Established) {
        self.read();
    }

    fn on_ack(&mut self, _ack: &Ack) {
        self.read();
    }

    fn on_loss(&mut self, _loss: Loss, _in_flight: u64, _now: Time) {
        self.read();
    }
}

/// The same windows, known in advance; each is valid from its time on.
struct Played {
    windows: Arc<[(Time, u64)]>,
    /// The window in force.
    window: u64,
    syn: Time,
}

impl Played {
    /// Events at the time of a decision come before it.
    fn play(&mut self, now: Time) {
        let before = self.windows.partition_point(|(from, _)| *from < now);
        self.window = before
            .checked_sub(1)
            .map_or(self.window, |last| self.windows[last].1);
    }
}

impl SenderCc for Played {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_established(&mut self, handshake: &Established) {
        self.play(self.syn + handshake.rtt.expect("the SYN was sent once"));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.play(ack.now);
    }

    fn on_loss(&mut self, _loss: Loss, _in_flight: u64, now: Time) {
        self.play(now);
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }
}

impl SegmentCc for Played {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if packet.flags.has(base::TcpFlags::SYN) {
            self.syn = now;
        }
    }
}

#[test]
fn decisions_from_outside_are_those_of_a_role_that_knows_them() {
    for senders in [8, 40] {
        let sets = [
            format!("workload.senders={senders}"),
            "workload.jitter=100us".to_owned(),
        ];
        let sets = sets.each_ref().map(String::as_str);
        let point = points("incast", "newreno", &sets).remove(0);
        // Random windows of 1 to 16 segments, another one every 100 us.
        let slots: Arc<[Arc<AtomicU64>]> = (0..senders).map(|_| Arc::default()).collect();
        let own = Arc::clone(&slots);
        let decided = move |id: FlowId, _: &FlowInfo| {
            let slot = Arc::clone(&own[id.0 as usize]);
            let window = slot.load(Ordering::Relaxed);
            Sender::Custom(Box::new(Decided { slot, window }))
        };
        let mut stepper =
            Stepper::with_senders(point.clone(), Arc::new(decided)).expect("a network");
        let mut stream = Stream::new(7, "decisions", senders);
        let mut windows = vec![Vec::new(); slots.len()];
        while !stepper.finished() {
            let now = stepper.seen().now;
            for (slot, windows) in slots.iter().zip(&mut windows) {
                let window = 1446 * (1 + stream.below(16));
                windows.push((now, window));
                slot.store(window, Ordering::Relaxed);
            }
            stepper.advance(now + Span::from_micros(100));
        }
        let decided = stepper.finish().expect("a conserving run");
        let windows: Vec<Arc<[(Time, u64)]>> = windows.into_iter().map(Into::into).collect();
        let played = move |id: FlowId, _: &FlowInfo| {
            let windows = Arc::clone(&windows[id.0 as usize]);
            Sender::Custom(Box::new(Played {
                window: windows[0].1,
                windows,
                syn: Time::ZERO,
            }))
        };
        let stepper = Stepper::with_senders(point, Arc::new(played)).expect("a network");
        let played = stepper.finish().expect("a conserving run");
        assert!(
            decided.metrics.drops > 0 || senders < 40,
            "windows that lose"
        );
        assert_eq!(told(&decided), told(&played), "{senders} senders");
    }
}
