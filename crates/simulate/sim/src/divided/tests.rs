use std::iter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use engine::random::Stream;
use scenario::{Overrides, Problems, Scenario, Source};

use super::*;
use crate::threads::{Ledger, Threads};

/// Random flows between the hosts of several racks, with losses.
const RACKS: &str = r#"
[topology]
kind = "leaf-spine"
racks = 4
spines = 2
hosts = 3
[link]
rate = "10Gbps"
delay = "2us"
[switch]
buffer = "12pkt"
ecn_threshold = "3pkt"
[tcp]
min_rto = "1ms"
initial_rto = "1ms"
syn_rto = "1ms"
[workload]
kind = "poisson"
size = "60KB"
load = 0.9
flows = 40
start = "0s"
"#;

fn points(schemes: &str, sets: &[String]) -> Vec<PointSpec> {
    scenario(schemes, sets).unwrap_or_else(|problems| panic!("{schemes} {sets:?}: {problems}"))
}

fn scenario(schemes: &str, sets: &[String]) -> Result<Vec<PointSpec>, Problems> {
    let overrides = Overrides {
        schemes: Some(schemes.to_owned()),
        sets: sets.to_vec(),
        ..Overrides::default()
    };
    let scenario = Scenario::load(Source::new("test.toml", RACKS), &overrides)?;
    Ok(scenario.points().to_vec())
}

/// Everything in the outcome except its cost.
fn told(mut outcome: Outcome) -> String {
    (
        outcome.cost.events,
        outcome.cost.cpu_us,
        outcome.cost.ns_per_hop,
    ) = (0, 0.0, 0.0);
    format!("{outcome:#?}")
}

/// The lines in which two texts differ, with some that say where.
fn difference(one: &str, other: &str) -> String {
    let lines = one.lines().zip(other.lines());
    let keeps = |line: &str| {
        ["from:", "to:", "flow:"]
            .iter()
            .any(|key| line.contains(key))
    };
    let told = lines.filter(|(one, other)| one != other || keeps(one));
    let told: Vec<_> = told
        .map(|(one, other)| format!("{one} | {other}"))
        .collect();
    let differs = |line: &String| {
        let (one, other) = line.split_once(" | ").unwrap_or_default();
        one != other
    };
    let shown = (0..told.len()).filter(|place| told[*place..].iter().take(3).any(differs));
    shown
        .take(40)
        .map(|place| told[place].clone() + "\n")
        .collect()
}

/// Calls [`compare`], and says whether the point could be divided.
fn agree(point: &PointSpec, breakdown: bool, divisions: &[(usize, usize, usize)]) -> bool {
    let mut compared = Compared::default();
    compare(point, breakdown, divisions, &mut compared);
    compared.divided > 0
}

/// Counts of a comparison.
#[derive(Debug, Default)]
struct Compared {
    /// Points, and how many of them could be divided.
    points: u64,
    divided: u64,
    /// Simulations in parts, their windows and their packet-hops.
    in_parts: u64,
    windows: u64,
    packet_hops: u64,
}

impl Compared {
    /// Prints it for `cargo xtask trust threads`.
    #[expect(clippy::print_stdout, reason = "the figures of a chore")]
    fn print(&self, what: &str) {
        println!(
            "{what}: {} points, {} of them divisible; {} simulations in parts with {} windows and {} \
             packet-hops, all equal to the whole",
            self.points, self.divided, self.in_parts, self.windows, self.packet_hops
        );
    }
}

/// Fails if the parts of a point have another outcome than the whole, with and without breakdown.
fn compare(
    point: &PointSpec,
    breakdown: bool,
    divisions: &[(usize, usize, usize)],
    compared: &mut Compared,
) {
    let watching = || Watching {
        probe: None,
        breakdown,
    };
    let whole = run::watch(Limits::NONE, point, watching());
    compared.points += 1;
    for (number, (parts, shortened, threads)) in divisions.iter().enumerate() {
        let division = Division {
            parts: NonZeroUsize::new(*parts).unwrap(),
            shortened: NonZeroUsize::new(*shortened).unwrap(),
            threads: NonZeroUsize::new(*threads).unwrap(),
        };
        // On a clock that jumps, threads rest and are tried again all the time.
        let limits = Limits {
            wall: if parts % 2 == 1 {
                jumping
            } else {
                Limits::NONE.wall
            },
            ..Limits::NONE
        };
        let divided = within(limits, point, division, watching());
        let place = format!(
            "{} in {parts} parts, windows / {shortened}, {threads} threads",
            point.scheme
        );
        match (&whole, divided) {
            (Ok(whole), Ok((outcome, divided))) => {
                if divided.obstacle.is_none() {
                    compared.divided += u64::from(number == 0);
                    compared.in_parts += 1;
                    compared.windows += divided.windows;
                    compared.packet_hops += outcome.cost.packet_hops;
                }
                let undivided = divided.obstacle.is_some();
                let (whole, outcome) = (told(whole.clone()), told(outcome));
                assert!(
                    whole == outcome,
                    "{place}: {}",
                    difference(&whole, &outcome)
                );
                // All other divisions would run the whole point again.
                if undivided {
                    return;
                }
            }
            (Err(whole), Err(divided)) => {
                compared.divided += u64::from(number == 0);
                assert_eq!(whole.to_string(), divided.to_string(), "{place}");
            }
            (whole, divided) => panic!("{place}: {:?} {:?}", whole.is_ok(), divided.map(|_| ())),
        }
    }
}

/// A clock on which every wait is long.
fn jumping() -> Duration {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    Duration::from_millis(TICKS.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn every_scheme_comes_to_the_same_in_parts() {
    for scheme in schemes::all() {
        for point in points(scheme.name, &[]) {
            let divisions = [(2, 1, 1), (5, 2, 2), (usize::MAX, 7, 1)];
            assert!(agree(&point, true, &divisions));
        }
    }
}

#[test]
fn networks_of_every_shape_come_to_the_same_in_parts() {
    try_shapes(1, 12);
}

#[test]
fn a_run_with_a_failed_flow_does_not_last_until_the_end_of_time_wait() {
    // The receiver of a flow that has failed waits for ever, so the run ends with its last event. A part keeps connections
    // that have ended, and the whole does not.
    let sets = [
        "topology.racks=2",
        "topology.spines=3",
        "topology.hosts=1",
        "link.delay=500ns",
        "link.rate=7Gbps",
        "switch.buffer=20pkt",
        "switch.loss=0.02",
        "workload.size=websearch",
        "workload.flows=25",
        "tcp.retries=1",
    ];
    for point in points("newreno", &sets.map(str::to_owned)) {
        let whole = run::run(&point).unwrap();
        assert!(whole.metrics.flows_failed > 0 && whole.cost.simulated_us < 60e6);
        assert!(agree(&point, false, &[(2, 1, 1)]));
    }
}

#[test]
fn of_equal_packets_that_a_link_keeps_the_first_goes_on_first_in_parts_too() {
    let sets = [
        "topology.racks=2",
        "topology.spines=3",
        "topology.hosts=1",
        "link.delay=1ns",
        "link.rate=7Gbps",
        "switch.buffer=unlimited",
        "bottleneck.reordering=0.1",
        "workload.size=websearch",
        "workload.flows=25",
        "tcp.retries=1",
    ];
    for point in points("newreno", &sets.map(str::to_owned)) {
        assert!(agree(&point, true, &[(2, 1, 1)]));
    }
}

#[test]
#[ignore = "it takes minutes: cargo xtask trust threads"]
fn a_thousand_networks_come_to_the_same_in_parts() {
    try_shapes(2, 1_000).print("random networks");
}

/// Compares random networks with their parts.
fn try_shapes(seed: u64, shapes: u64) -> Compared {
    let mut random = Stream::new(seed, "shapes", 0);
    let mut one_of = |words: &[&str]| {
        let place = random.below(words.len() as u64);
        words[usize::try_from(place).unwrap()].to_owned()
    };
    let mut compared = Compared::default();
    for shape in 0..shapes {
        let mut sets = vec![
            format!("topology.racks={}", one_of(&["2", "3", "5"])),
            format!("topology.spines={}", one_of(&["1", "2", "3"])),
            format!("topology.hosts={}", one_of(&["1", "2", "4"])),
            format!("link.delay={}", one_of(&["1ns", "500ns", "3us", "40us"])),
            format!("link.rate={}", one_of(&["1Gbps", "7Gbps", "10Gbps"])),
            format!("switch.buffer={}", one_of(&["3pkt", "20pkt", "unlimited"])),
            format!("workload.size={}", one_of(&["1B", "20KB", "websearch"])),
            format!("topology.ecmp={}", one_of(&["symmetric", "flow", "packet"])),
            format!("switch.loss={}", one_of(&["0", "0.02"])),
            format!("bottleneck.reordering={}", one_of(&["0", "0.1"])),
            format!("tcp.retries={}", one_of(&["1", "15"])),
            format!("run.duration={}", one_of(&["unlimited", "2ms"])),
            "workload.flows=25".to_owned(),
        ];
        let more = one_of(&[
            "",
            "tcp.profile=linux tcp.sack=true",
            "topology.kind=fat-tree",
        ]);
        sets.extend(more.split_whitespace().map(str::to_owned));
        if more.contains("fat-tree") {
            sets.push("topology.hosts=2".to_owned());
        }
        let scheme = one_of(&["newreno", "dctcp", "cubic", "rcc", "hscc", "rc3"]);
        // Not all settings can be combined.
        let Ok(points) = scenario(&scheme, &sets) else {
            continue;
        };
        for point in points {
            // With a window for each packet, eight threads on two cores wait for minutes; how a network is divided is one
            // question, and whether threads keep out of each other's way another one.
            let divisions: &[_] = if shape % 25 == 0 {
                &[(2, 1, 2), (3, 2, 1), (usize::MAX, 1, 3), (8, 1, 8)]
            } else {
                &[(2, 1, 1), (3, 2, 1), (usize::MAX, 1, 1)]
            };
            let breakdown = shape % 4 > 0;
            let before = compared.divided;
            compare(&point, breakdown, divisions, &mut compared);
            assert!(compared.divided > before, "{sets:?}");
        }
    }
    let points = compared.points;
    assert!(points > shapes / 2, "{points} of {shapes}");
    compared
}

#[test]
#[ignore = "it takes minutes: cargo xtask trust threads"]
fn every_built_in_scenario_comes_to_the_same_in_parts_under_every_scheme() {
    let divisions = [(2, 1, 2), (usize::MAX, 1, 3)];
    for builtin in scenario::BUILTINS {
        let mut sets = vec!["topology.kind=leaf-spine".to_owned()];
        // Long enough for slow start, losses and the recovery from them.
        match builtin.name {
            "random-incast" => sets.push("workload.duration=5ms".to_owned()),
            "long-flows" => sets.push("run.duration=100ms".to_owned()),
            _ => {}
        }
        let mut compared = Compared::default();
        // Its own schemes, and every other one.
        let others = schemes::all().iter().map(|scheme| Some(scheme.name));
        for scheme in iter::once(None).chain(others) {
            let racks = Overrides {
                schemes: scheme.map(str::to_owned),
                seeds: std::num::NonZeroU32::new(1),
                sets: sets.clone(),
                ..Overrides::default()
            };
            let source = Source::builtin(builtin.name).unwrap();
            let loaded = Scenario::load(source, &racks);
            let Ok(scenario) = loaded else {
                // Not every scheme accepts the settings of every scenario.
                assert_ne!(scheme, None, "{}", builtin.name);
                continue;
            };
            for point in scenario.points() {
                // A point that cannot be divided runs as a whole.
                let two = Division::of_threads(NonZeroUsize::new(2).unwrap());
                if divide(point, two, |_, _| true).is_ok() {
                    compare(point, true, &divisions, &mut compared);
                } else {
                    compared.points += 1;
                }
            }
        }
        compared.print(builtin.name);
        // In these, flows wait for each other.
        let whole = ["shared-buffer", "collective"].contains(&builtin.name);
        assert_eq!(compared.divided == 0, whole, "{}", builtin.name);
    }
}

#[test]
#[ignore = "it takes minutes: cargo xtask trust threads"]
fn a_hundred_runs_under_load_come_to_the_same() {
    let done = AtomicBool::new(false);
    let cores = thread::available_parallelism().map_or(2, NonZeroUsize::get);
    let sets = ["workload.flows=400".to_owned()];
    let point = &points("dctcp", &sets)[0];
    let watching = || Watching {
        probe: None,
        breakdown: true,
    };
    let whole = run::watch(Limits::NONE, point, watching());
    let whole = told(whole.unwrap());
    thread::scope(|scope| {
        for _ in 0..2 * cores {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for run in 0..100 {
            let limits = Limits {
                wall,
                ..Limits::NONE
            };
            let threads = NonZeroUsize::new([2, 3, 8][run % 3]).unwrap();
            let divided = within(limits, point, Division::of_threads(threads), watching());
            let equal = told(divided.unwrap().0) == whole;
            // A thread that spins would otherwise do so for ever.
            done.store(!equal || run == 99, Ordering::Relaxed);
            assert!(equal, "run {run} on {threads} threads");
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "it decides how many threads wait"
)]
fn wall() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[test]
fn queues_that_are_left_at_the_end_of_a_run_are_measured_no_further() {
    // Windows are 2 us and packets 1.2 us long. So packets leave queues between the end of the run and the end of its
    // window.
    for duration in ["150.1us", "200.3us", "251us"] {
        let sets = [
            format!("run.duration={duration}"),
            "workload.flows=200".to_owned(),
            "workload.load=1".to_owned(),
        ];
        for point in points("newreno", &sets) {
            assert!(agree(&point, false, &[(2, 1, 1), (6, 1, 1)]));
        }
    }
}

#[test]
fn what_parts_cannot_do_by_themselves_is_said() {
    let said = |sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let two = Division::of_threads(NonZeroUsize::new(2).unwrap());
        let divided = within(
            Limits::NONE,
            &points("newreno", &sets)[0],
            two,
            Watching::default(),
        );
        divided.unwrap().1.obstacle
    };
    assert_eq!(said(&[]), None);
    assert!(said(&["topology.kind=star"]).is_some());
    assert!(said(&["link.delay=0s"]).is_some());
    assert!(said(&["bottleneck.duplication=0.1"]).is_some());
}

#[test]
fn a_simulation_says_what_it_made_of_its_threads() {
    let noted_by = |sets: &[&str], only_where_it_gains, probe| {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let taken = Ledger::default();
        let limits = Limits {
            threads: Some(Threads {
                most: NonZeroUsize::new(2).unwrap(),
                only_where_it_gains,
                taken: &taken,
            }),
            wall: jumping,
            ..Limits::NONE
        };
        let watching = Watching {
            probe,
            breakdown: true,
        };
        watch(limits, &points("newreno", &sets)[0], watching).unwrap();
        taken.taken()
    };
    let noted = |sets: &[&str], only| noted_by(sets, only, None);
    let divided = noted(&[], false);
    assert_eq!((divided.runs, divided.threads), (1, 2));
    assert!(
        divided.windows > 10 && divided.waited < divided.ran,
        "{divided:?}"
    );
    let mut probe = ();
    let recorded = noted_by(&[], false, Some(&mut probe));
    assert_eq!((recorded.runs, recorded.obstacle), (0, Some(RECORDED)));
    let star = noted(&["topology.kind=star"], false);
    assert_eq!((star.runs, star.obstacle), (0, Some(ONE_SWITCH)));
    // No division was asked for, and the run is over in an instant.
    assert_eq!(noted(&[], true), Taken::default());
}

#[test]
fn many_hops_in_each_link_delay_are_worth_threads() {
    let likely = |sets: &[&str], threads| {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let point = &points("newreno", &sets)[0];
        let (plan, threads) = (Plan::of(point), NonZeroUsize::new(threads).unwrap());
        let partition = Partition::of(&plan, threads.get(), None);
        gain::is_likely(point, &plan, &partition, threads)
    };
    let large = [
        "topology.racks=16",
        "topology.hosts=32",
        "workload.flows=500",
    ];
    let near = [&large[..], &["link.delay=100ns"]].concat();
    assert!(likely(&large, 2));
    assert!(!likely(&near, 2) && !likely(&large, 1000) && !likely(&[], 2));
}
