//! Episodes are simulations whose senders obey decisions, and observations are true.

use std::num::NonZeroUsize;
use std::sync::Arc;

use base::cast::real;
use base::{FlowId, Packet, Span, TcpFlags, Time};
use engine::random::Stream;
use learning::{
    Act, Agents, Autoreset, Batch, DecisionInterval, Draw, Environment, EnvironmentSettings,
    Feature, From, Step, StepResults, Task, Term,
};
use plan::PointSpec;
use scenario::{Overrides, Problems, Source};
use schemes::{FlowInfo, Sender};
use sim::stepper::Stepper;
use tcp::{Ack, Established, Loss, SegmentCc, SenderCc};

const SENDERS: usize = 8;
const STEP: Span = Span::from_micros(100);

fn settings(agents: Agents, act: Act) -> EnvironmentSettings {
    EnvironmentSettings {
        agents,
        act,
        interval: DecisionInterval::Fixed(STEP),
        observe: Feature::ALL.to_vec(),
        reward: vec![(Term::FlowTime, -1.0)],
        max_steps: None,
        max_window: None,
    }
}

fn task_of(
    settings: EnvironmentSettings,
    sets: &[&str],
    draws: Vec<Draw>,
) -> Result<Task, Problems> {
    let given = [
        format!("workload.senders={SENDERS}"),
        "workload.jitter=100us".to_owned(),
    ];
    let overrides = Overrides {
        schemes: Some("newreno".to_owned()),
        sets: given
            .into_iter()
            .chain(sets.iter().map(|set| (*set).to_owned()))
            .collect(),
        ..Overrides::default()
    };
    let source = Source::builtin("incast").expect("a scenario that comes with the program");
    Task::new(settings, (source, overrides), draws)
}

fn begun(settings: EnvironmentSettings, sets: &[&str], seed: u64) -> Environment {
    let task = task_of(settings, sets, Vec::new()).expect("settings without mistakes");
    Environment::new(Arc::new(task), seed).expect("an episode")
}

/// Windows that are known in advance, each with its start time.
struct Played {
    windows: Arc<[(Time, u64)]>,
    window: u64,
    syn: Time,
}

impl Played {
    fn play(&mut self, now: Time) {
        let before = self.windows.partition_point(|(from, _)| *from < now);
        self.window = self.windows[before - 1].1;
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
        if packet.flags.has(TcpFlags::SYN) {
            self.syn = now;
        }
    }
}

#[test]
fn an_episode_is_the_simulation_of_a_role_with_the_same_windows() {
    // Few segments and losses of half a buffer, so that timeouts and recoveries occur.
    for (seed, most) in [(1, 8), (2, 40)] {
        let mut environment = begun(settings(Agents::Flow, Act::Window), &[], seed);
        let point = environment.stepper().point().clone();
        let mss = mss(&point);
        let mut stream = Stream::new(seed, "decisions", most);
        let mut windows = vec![Vec::new(); SENDERS];
        let mut now = environment.stepper().seen().now;
        loop {
            let decisions: [u16; SENDERS] = std::array::from_fn(|_| {
                u16::try_from(1 + stream.below(most)).expect("a small number")
            });
            for (windows, decision) in windows.iter_mut().zip(decisions) {
                windows.push((now, u64::from(decision) * mss));
            }
            let step = environment.step(&decisions.map(f32::from));
            now += STEP;
            if step.terminated {
                break;
            }
        }
        let windows: Vec<Arc<[(Time, u64)]>> = windows.into_iter().map(Into::into).collect();
        let played = move |id: FlowId, _: &FlowInfo| {
            let windows = Arc::clone(&windows[id.0 as usize]);
            let window = windows[0].1;
            let syn = Time::ZERO;
            Sender::Custom(Box::new(Played {
                windows,
                window,
                syn,
            }))
        };
        let mut stepper = Stepper::with_senders(point, Arc::new(played)).expect("a network");
        stepper.advance(now);
        assert_eq!(stepper.digest(), environment.stepper().digest());
        assert!(most < 40 || environment.episode().drops > 0);
    }
}

/// Payload of a segment: without losses, the settings at the first SYN agree with it.
fn mss(point: &PointSpec) -> u64 {
    let group = &point.groups[0];
    u64::from(sim::endpoint_config(&group.keys, &group.roles()).mss)
}

#[test]
fn terms_add_up_to_what_happened() {
    let mut environment = begun(settings(Agents::Flow, Act::Window), &[], 3);
    let mut sums = [0.0; Term::ALL.len()];
    let mut value = 0.0;
    let last = loop {
        let step: Step = environment.step(&[30.0; SENDERS]);
        value += step.reward;
        for (sum, term) in sums.iter_mut().zip(step.terms) {
            *sum += term;
        }
        if step.terminated {
            break environment.episode();
        }
    };
    let sum = |term: Term| {
        sums[Term::ALL
            .iter()
            .position(|one| *one == term)
            .expect("a term")]
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    let all = real(last.completed);
    assert_eq!(last.completed, SENDERS as u64);
    assert!(near(
        sum(Term::FlowTime) * STEP.as_micros(),
        last.fct_mean_us * all
    ));
    assert!(near(value, -sum(Term::FlowTime)));
    assert!(near(sum(Term::Completed), all));
    let (drops, timeouts) = (real(last.drops), real(last.timeouts));
    assert!(near(sum(Term::Drops), drops) && near(sum(Term::Timeouts), timeouts) && drops > 0.0);
    // 8 flows of 32 KiB over 1 Gbit/s; the last ACKs may come behind the last step, and FINs count as a byte.
    let point = environment.stepper().point();
    let bytes = sum(Term::Goodput) * 125e6 * STEP.as_secs();
    let sent = all * point.text("workload.size").parse_size();
    assert!((bytes - sent).abs() < 0.1 * sent, "{bytes} of {sent}");
}

trait Size {
    fn parse_size(&self) -> f64;
}

impl Size for str {
    fn parse_size(&self) -> f64 {
        let (number, factor) = match (self.strip_suffix("KiB"), self.strip_suffix("KB")) {
            (Some(number), _) => (number, 1024.0),
            (None, Some(number)) => (number, 1000.0),
            (None, None) => panic!("a size in KB or KiB: {self}"),
        };
        factor * number.parse::<f64>().expect("a number")
    }
}

#[test]
fn agents_see_what_their_connections_do() {
    let feature = |feature| {
        Feature::ALL
            .iter()
            .position(|one| *one == feature)
            .expect("a feature")
    };
    for agents in Agents::ALL {
        let mut environment = begun(settings(*agents, Act::Window), &[], 1);
        let count = if *agents == Agents::Flow { SENDERS } else { 1 };
        let mut seen = vec![0.0; count * Feature::ALL.len()];
        environment.observe(&mut seen);
        assert!(
            (seen[feature(Feature::Rtt)] - 1.0).abs() < 1e-6,
            "no round trip yet"
        );
        for _ in 0..8 {
            environment.step(&vec![10.0; count]);
        }
        environment.observe(&mut seen);
        let sum = |one: Feature| -> f32 {
            seen.chunks(Feature::ALL.len())
                .map(|agent| agent[feature(one)])
                .sum()
        };
        let of_first = |one: Feature| seen[feature(one)];
        assert!((sum(Feature::Active) - 8.0).abs() < 1e-6);
        assert!((of_first(Feature::Window) - 10.0).abs() < 1e-6);
        // 80 segments are more than the wires hold, so they fill the link and wait.
        assert!(
            (sum(Feature::Goodput) - 0.96).abs() < 0.04,
            "{}",
            sum(Feature::Goodput)
        );
        assert!(of_first(Feature::Rtt) > 2.0 && of_first(Feature::Queue) > 0.3);
        assert!(sum(Feature::InFlight) > 50.0 && sum(Feature::InFlight) <= 80.0);
        assert!(sum(Feature::Remaining) > sum(Feature::InFlight));
    }
}

#[test]
fn rates_and_factors_do_what_they_say() {
    // An eighth of the link for each flow: all of it together, and no queue.
    let mut environment = begun(settings(Agents::Flow, Act::Rate), &[], 1);
    while !environment.step(&[0.124; SENDERS]).terminated {}
    let episode = environment.episode();
    assert_eq!((episode.drops, episode.timeouts), (0, 0));
    let mut seen = vec![0.0; SENDERS * Feature::ALL.len()];
    environment.observe(&mut seen);
    assert!(seen[0] < 1e-6, "no flow runs any more");
    // Each sends a packet in the time of eight, so at most the other flows' packets are before it.
    let most = environment.stepper().seen().ports[0]
        .counters
        .max_waiting_bytes;
    assert!(most <= 8 * 1500, "{most}");
    // 8 x 32 KiB take 2.2 ms on the wire, plus two round trips.
    assert!(episode.fct_max_us < 3500.0, "{}", episode.fct_max_us);
    let mut environment = begun(settings(Agents::Flow, Act::Factor), &[], 1);
    for expected in [20.0, 40.0, 80.0, 93.0] {
        environment.step(&[2.0; SENDERS]);
        environment.observe(&mut seen);
        assert!(
            seen[0] >= expected,
            "{} after doubling, not {expected}",
            seen[0]
        );
    }
}

/// Buffers for the results of a batch.
struct Room {
    observations: Vec<f32>,
    finals: Vec<f32>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    terms: Vec<f64>,
}

impl Room {
    fn new(count: usize) -> Self {
        let size = SENDERS * Feature::ALL.len();
        Self {
            observations: vec![0.0; count * size],
            finals: vec![0.0; count * size],
            rewards: vec![0.0; count],
            terminated: vec![false; count],
            truncated: vec![false; count],
            terms: vec![0.0; count * Term::ALL.len()],
        }
    }

    fn told(&mut self) -> StepResults<'_> {
        StepResults {
            observations: &mut self.observations,
            finals: &mut self.finals,
            rewards: &mut self.rewards,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            terms: &mut self.terms,
        }
    }
}

#[test]
fn threads_change_nothing_and_episodes_follow_from_the_seed() {
    let number = |number| NonZeroUsize::new(number).expect("a number above 0");
    let mut all = Vec::new();
    for jobs in [1, 3] {
        let task = task_of(settings(Agents::Flow, Act::Window), &[], Vec::new()).expect("settings");
        let mut batch = Batch::new(task, number(5), Autoreset::NextStep, number(jobs));
        let mut room = Room::new(5);
        let seeds: Vec<_> = (10..15).map(|seed| Some(Some(seed))).collect();
        batch
            .reset(&seeds, &mut room.observations)
            .expect("episodes");
        let (mut told, mut episodes) = (Vec::new(), Vec::new());
        for step in 0..120_u8 {
            let decisions = vec![f32::from(1 + step % 9); 5 * SENDERS];
            batch.step(&decisions, room.told()).expect("episodes");
            told.extend(
                room.observations
                    .iter()
                    .map(|seen| u64::from(seen.to_bits())),
            );
            told.extend(room.rewards.iter().map(|reward| reward.to_bits()));
            episodes.extend(batch.ended().map(|(number, episode)| (number, *episode)));
        }
        assert!(episodes.len() > 10, "{}", episodes.len());
        assert!(
            (10..15).contains(&episodes[0].1.seed),
            "the first has the seed itself"
        );
        all.push((told, episodes));
    }
    assert_eq!(all[0], all[1]);
}

#[test]
fn an_episode_that_is_over_begins_again_when_it_is_to() {
    let number = |number| NonZeroUsize::new(number).expect("a number above 0");
    for autoreset in Autoreset::ALL {
        let sets = EnvironmentSettings {
            max_steps: Some(3),
            ..settings(Agents::Flow, Act::Window)
        };
        let task = task_of(sets, &[], Vec::new()).expect("settings");
        let mut batch = Batch::new(task, number(1), *autoreset, number(1));
        let mut room = Room::new(1);
        batch
            .reset(&[Some(Some(1))], &mut room.observations)
            .expect("an episode");
        let first = room.observations.clone();
        let mut ends = Vec::new();
        for _ in 0..8 {
            batch
                .step(&[4.0; SENDERS], room.told())
                .expect("an episode");
            ends.push(room.truncated[0]);
            if room.truncated[0] {
                let last = match autoreset {
                    Autoreset::SameStep => &room.finals,
                    _ => &room.observations,
                };
                assert_ne!(last, &first, "what was seen last");
            }
        }
        let expected = match autoreset {
            Autoreset::NextStep => [false, false, true, false, false, false, true, false],
            Autoreset::SameStep => [false, false, true, false, false, true, false, false],
            Autoreset::Disabled => [false, false, true, false, false, false, false, false],
        };
        assert_eq!(ends, expected, "{autoreset:?}");
        if *autoreset == Autoreset::Disabled {
            assert_eq!(
                (room.terminated[0], room.rewards[0].to_bits()),
                (true, 0.0_f64.to_bits())
            );
        }
    }
}

#[test]
fn what_is_drawn_follows_from_the_seed_and_stays_within_its_bounds() {
    let range = |bounds, unit: &str, whole, log| From::Range {
        bounds,
        unit: unit.to_owned(),
        whole,
        log,
    };
    let draw = |key: &str, from| Draw {
        key: key.to_owned(),
        from,
    };
    let draws = vec![
        draw("link.rate", range((1.0, 10.0), "Gbps", false, true)),
        draw("link.delay", range((5.0, 40.0), "us", false, false)),
        draw("workload.size", range((16.0, 18.0), "KB", true, false)),
        draw(
            "switch.buffer",
            From::Choice(vec!["64KB".to_owned(), "128KB".to_owned()]),
        ),
    ];
    let task = task_of(settings(Agents::Flow, Act::Window), &[], draws).expect("settings");
    let task = Arc::new(task);
    let keys = ["link.rate", "link.delay", "workload.size", "switch.buffer"];
    let drawn = |seed| {
        let environment = Environment::new(Arc::clone(&task), seed).expect("an episode");
        keys.map(|key| environment.stepper().point().text(key).to_owned())
    };
    let all: Vec<_> = (0..60).map(drawn).collect();
    assert_eq!(drawn(7), all[7]);
    let number = |text: &str, unit: &str| {
        text.strip_suffix(unit)
            .expect("its unit")
            .parse::<f64>()
            .expect("a number")
    };
    for [rate, delay, ..] in &all {
        assert!((1.0..=10.0).contains(&number(rate, "Gbps")), "{rate}");
        assert!((5.0..=40.0).contains(&number(delay, "us")), "{delay}");
    }
    // Half of the logarithms lie below the root of ten. Binomial(60, 0.5): standard deviation 3.9; 4 of them.
    let slow = all
        .iter()
        .filter(|drawn| number(&drawn[0], "Gbps") < 3.162)
        .count();
    assert!((15..=45).contains(&slow), "{slow}");
    for (place, texts) in [
        (2, vec!["16KB", "17KB", "18KB"]),
        (3, vec!["128KB", "64KB"]),
    ] {
        let mut found: Vec<&str> = all.iter().map(|drawn| drawn[place].as_str()).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, texts);
    }
}

#[test]
fn wrong_settings_are_named() {
    let said = |task: Result<Task, Problems>| match task {
        Ok(_) => panic!("a mistake"),
        Err(problems) => problems.to_string(),
    };
    let good = || settings(Agents::Flow, Act::Window);
    let twice = EnvironmentSettings {
        observe: vec![Feature::Rtt, Feature::Rtt],
        ..good()
    };
    assert!(said(task_of(twice, &[], Vec::new())).contains("observe cannot be \"rtt\""));
    let nothing = EnvironmentSettings {
        observe: Vec::new(),
        ..good()
    };
    assert!(said(task_of(nothing, &[], Vec::new())).contains("observe names nothing"));
    let two = ["link.delay=10us,20us"];
    assert!(
        said(task_of(good(), &two, Vec::new()))
            .contains("this scenario has 2: of values of link.delay")
    );
    let draw = Draw {
        key: "link.dealy".to_owned(),
        from: From::Choice(vec!["1us".to_owned()]),
    };
    assert!(said(task_of(good(), &[], vec![draw])).contains("link.dealy"));
    let number = Draw {
        key: "workload.rounds".to_owned(),
        from: From::Range {
            bounds: (1.0, 3.0),
            unit: String::new(),
            whole: true,
            log: false,
        },
    };
    let task = Arc::new(task_of(good(), &[], vec![number]).expect("a task"));
    let failed = (0..20).filter_map(|seed| Environment::new(Arc::clone(&task), seed).err());
    let failed: Vec<String> = failed.map(|failure| failure.to_string()).collect();
    assert!(!failed.is_empty() && failed[0].contains("connections where the others have 24"));
    let agents = Agents::parse("flows").expect_err("no such agents");
    assert_eq!(
        agents.0[0].remedy().as_deref(),
        Some("\"flow\", \"host\" or \"port\"")
    );
    assert!(DecisionInterval::parse("5").is_err() && DecisionInterval::parse("0us").is_err());
}
