//! Series reproduce events exactly where asked to and within bounds otherwise.

#![expect(clippy::float_cmp, reason = "what is recorded is exact")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::iter;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use base::cast::{real, signed};
use fabric::DropReason;
use plan::PointSpec;
use plan::series::FIXED;
use record::trace::{self, Recorder, TracePlan};
use sim::divided::{self, Division};
use sim::metrics::Outcome;
use sim::run::{self, Limits, Watching};
use tables::{Cell, ColumnType, Field};

use crate::support::points;

/// A row with what it borrows.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    point: u32,
    time: f64,
    port: Option<u32>,
    flow: Option<u32>,
    host: Option<u32>,
    event: Option<String>,
    cause: Option<String>,
    values: Vec<(String, f64)>,
}

/// A simulation and its series.
struct Traced {
    outcome: Outcome,
    path: PathBuf,
    rows: Vec<Row>,
}

impl Traced {
    /// The samples of a quantity, by the number of the flow or port that they belong to.
    fn of(&self, quantity: &str) -> BTreeMap<u32, Vec<(f64, f64)>> {
        let mut samples = BTreeMap::<u32, Vec<_>>::new();
        for row in &self.rows {
            let id = row.port.or(row.flow).or(row.host);
            for (_, value) in row.values.iter().filter(|(name, _)| name == quantity) {
                samples
                    .entry(id.expect("a test file is written and read"))
                    .or_default()
                    .push((row.time, *value));
            }
        }
        samples
    }

    fn events(&self, kind: &str) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.filter(|row| row.event.as_deref() == Some(kind))
            .collect()
    }
}

fn rows_of(path: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    trace::read(path, &mut |row| {
        rows.push(Row {
            point: row.point,
            time: row.time_us,
            port: row.port,
            flow: row.flow,
            host: row.host,
            event: row.event.map(str::to_owned),
            cause: row.cause.map(str::to_owned),
            values: row
                .values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        });
    })
    .expect("a test file is written and read");
    rows
}

fn traced(name: &str, point: &PointSpec) -> Traced {
    let (outcome, path) = recorded(name, point);
    let rows = rows_of(&path);
    Traced {
        outcome,
        path,
        rows,
    }
}

/// A simulation, and the file with its series.
fn recorded(name: &str, point: &PointSpec) -> (Outcome, PathBuf) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.parquet"));
    let plan = TracePlan::of(point).expect("something is traced");
    let mut recorder = Recorder::new(
        &plan,
        point,
        File::create(&path).expect("a test file is written and read"),
    )
    .expect("a test file is written and read");
    let outcome = run::observe(point, &mut recorder).expect("a test file is written and read");
    recorder.finish().expect("a test file is written and read");
    (outcome, path)
}

/// The value of a step function at `time`.
fn at(steps: &[(f64, f64)], time: f64) -> Option<f64> {
    let before = steps.partition_point(|step| step.0 <= time);
    before.checked_sub(1).map(|last| steps[last].1)
}

/// An incast that overflows, with marks.
const INCAST: &[&str] = &[
    "workload.senders=20",
    "workload.size=64KiB",
    "switch.buffer=20pkt",
    "switch.ecn_threshold=10pkt",
    "tcp.min_rto=10ms",
];

fn incast(scheme: &str, sets: &[&str]) -> PointSpec {
    points("incast", scheme, &[INCAST, sets].concat()).remove(0)
}

#[test]
fn the_recorded_queue_has_the_mean_and_the_peak_of_the_results() {
    let sets = ["trace.series=queue", "trace.interval=change"];
    let run = traced("mean", &incast("newreno", &sets));
    let (flows, metrics) = (&run.outcome.flows, &run.outcome.metrics);
    let start = flows
        .iter()
        .map(|flow| flow.start_us)
        .fold(f64::INFINITY, f64::min);
    let end = flows
        .iter()
        .filter_map(|flow| flow.completion_us.get())
        .fold(0.0, f64::max);
    let samples = &run.of("queue_bytes")[&1];
    let mut area = 0.0;
    for (place, (time, level)) in samples.iter().enumerate() {
        let until = samples.get(place + 1).map_or(end, |next| next.0.min(end));
        area += level * (until - time.max(start)).max(0.0);
    }
    let mean = area / (end - start);
    assert!(
        (mean / metrics.queue_mean_bytes - 1.0).abs() < 1e-9,
        "{mean}"
    );
    let peak = samples
        .iter()
        .fold(0.0, |peak: f64, sample| peak.max(sample.1));
    assert_eq!(peak, real(metrics.queue_max_bytes));
    assert!(
        samples.windows(2).all(|pair| pair[0].0 <= pair[1].0),
        "times never go back"
    );
    assert_eq!(
        samples.last().unwrap().1,
        0.0,
        "the queue is followed until it is empty"
    );
}

#[test]
fn events_and_counts_are_those_of_the_results() {
    for scheme in ["newreno", "dctcp", "rcc"] {
        let sets = [
            "trace.series=events,drops,marks",
            "trace.interval=change",
            "bottleneck.loss=0.01",
            "dctcp.receiver_alpha=100us",
        ];
        let run = traced(&format!("events-{scheme}"), &incast(scheme, &sets));
        let metrics = &run.outcome.metrics;
        let count = |kind| run.events(kind).len() as u64;
        assert_eq!(count("drop"), metrics.drops, "{scheme}");
        assert_eq!(count("mark"), metrics.marks, "{scheme}");
        assert_eq!(count("timeout"), metrics.timeouts, "{scheme}");
        assert_eq!((count("start"), count("completion")), (20, 20), "{scheme}");
        assert!(metrics.drops > 0 && metrics.timeouts > 0, "{scheme}");
        for flow in &run.outcome.flows {
            let of_flow = |kind| {
                run.events(kind)
                    .into_iter()
                    .find(|row| row.flow == Some(flow.flow))
            };
            assert_eq!(of_flow("start").unwrap().time, flow.start_us);
            assert_eq!(
                Some(of_flow("completion").unwrap().time),
                flow.completion_us.get()
            );
        }
        let bottleneck = run
            .outcome
            .ports
            .iter()
            .find(|port| port.bottleneck)
            .unwrap();
        let last = |quantity: &str| {
            run.of(quantity)
                .get(&1)
                .map(|samples| samples.last().unwrap().1)
        };
        assert_eq!(last("drops"), Some(real(bottleneck.drops)), "{scheme}");
        let marks = (bottleneck.marks > 0).then_some(real(bottleneck.marks));
        assert_eq!(last("marks"), marks, "{scheme}");
    }
}

#[test]
fn every_drop_has_the_cause_that_the_results_count_it_by() {
    // At a factor of 128 a queue meets the end of the pool before its share of it.
    let pool: &[_] = &["switch.pool=60KB", "switch.pool_alpha=128"];
    let faults: &[_] = &[
        "topology.faults=bottleneck: corrupt 0.01 + gilbert-elliott p 0.02 r 0.5 good 0 bad 1 + down from 12ms to 14ms; \
         switch 0: restart at 20ms for 1ms; host 3: gone at 22ms",
        "switch.buffer=20pkt",
        "tcp.retries=3",
    ];
    for (name, sets) in [("pool", pool), ("faults", faults)] {
        let more = [
            "workload.senders=20",
            "workload.size=64KiB",
            "bottleneck.loss=0.01",
            "switch.ecn_threshold=off",
            "trace.series=events",
        ];
        let point = points("incast", "newreno", &[sets, &more].concat()).remove(0);
        let run = traced(&format!("causes-{name}"), &point);
        let m = &run.outcome.metrics;
        let drops = run.events("drop");
        let causes: BTreeSet<_> = drops.iter().map(|row| row.cause.as_deref()).collect();
        let counted = [
            ("pool", m.drops_pool),
            ("threshold", m.drops_threshold),
            ("headroom", m.drops_headroom),
            ("link_down", m.drops_link_down),
            ("restart", m.drops_restart),
            ("host_gone", m.drops_host_gone),
            ("lossy", m.drops_lossy),
            ("corrupt", m.drops_corrupt),
        ];
        let count = |cause| {
            drops
                .iter()
                .filter(|row| row.cause.as_deref() == Some(cause))
                .count()
        };
        for (cause, drops) in counted {
            assert_eq!(count(cause) as u64, drops.unwrap_or(0), "{name}: {cause}");
        }
        assert!(count("discipline") > 0, "{name}");
        assert_eq!(count("port") > 0, name == "faults", "{name}");
        assert!(causes.len() >= 2, "{name}: {causes:?}");
        assert!(!causes.contains(&None), "{name}");
        let others = run
            .rows
            .iter()
            .filter(|row| row.event.as_deref() != Some("drop"));
        assert!(others.map(|row| &row.cause).all(Option::is_none), "{name}");
    }
}

#[test]
fn the_column_of_causes_describes_every_reason() {
    let column = FIXED.iter().find(|column| column.name == "cause");
    let help = column.expect("a column of causes").help;
    for reason in DropReason::ALL {
        assert!(help.contains(reason.name()), "{reason:?}");
    }
}

#[test]
fn fast_retransmits_are_reported_with_their_flows() {
    // Every tenth of 45 segments is lost, far enough from the end for three duplicates.
    let sets = [
        "workload.senders=1",
        "workload.size=64KiB",
        "bottleneck.loss=0.1",
        "bottleneck.loss_pattern=periodic",
        "trace.series=events",
    ];
    let run = traced("recovery", &points("incast", "newreno", &sets)[0]);
    assert!(!run.events("fast_retransmit").is_empty());
    assert!(
        run.events("fast_retransmit")
            .iter()
            .all(|row| row.flow == Some(0))
    );
}

#[test]
fn the_window_of_a_lone_flow_doubles_every_round_trip() {
    // 2 segments of 1000 bytes, one more for each ACK; a round trip is 4 delays and serialisations.
    let sets = [
        "workload.senders=1",
        "workload.size=62KB",
        "tcp.mss=1000",
        "tcp.initial_window=2",
        "link.delay=1ms",
        "link.rate=100Gbps",
        "tcp.receive_buffer=4MiB",
        "tcp.window_scale=auto",
        "switch.buffer=unlimited",
        "trace.series=cwnd,rwnd",
        "trace.interval=change",
    ];
    let run = traced("slow-start", &points("incast", "newreno", &sets)[0]);
    let cwnd = &run.of("cwnd_bytes")[&0];
    let expected: Vec<f64> = (2..=64)
        .map(|segments| f64::from(segments) * 1000.0)
        .collect();
    let values: Vec<f64> = cwnd.iter().map(|sample| sample.1).collect();
    assert_eq!(values, expected);
    // The handshake takes a round trip of 4 ms; the window has doubled at the end of each further one.
    let start = run.outcome.flows[0].start_us;
    for round in 1..=4 {
        let end = start + 4000.0 * f64::from(round + 1) + 500.0;
        assert_eq!(at(cwnd, end), Some(2000.0 * f64::from(1 << round)));
    }
    // What is advertised in a SYN-ACK has 16 bits; in units of 2^7 bytes it is the whole buffer.
    let rwnd = &run.of("rwnd_bytes")[&0];
    assert!(
        rwnd.iter().any(|sample| sample.1 == 4_194_304.0),
        "{rwnd:?}"
    );
}

#[test]
fn roles_report_what_their_schemes_declare_and_nothing_else() {
    let words: Vec<&str> = schemes::all()
        .iter()
        .flat_map(|scheme| scheme.gauges)
        .map(|g| g.name)
        .collect();
    let series = format!("trace.series={}", words.join(","));
    for scheme in schemes::all() {
        let sets = [
            series.as_str(),
            "trace.interval=change",
            "bottleneck.loss=0.01",
            "dctcp.receiver_alpha=100us",
        ];
        let run = traced(
            &format!("gauges-{}", scheme.name),
            &incast(scheme.name, &sets),
        );
        let mut declared: Vec<_> = scheme.gauges.iter().map(|gauge| gauge.name).collect();
        let mut emitted: Vec<_> = run
            .rows
            .iter()
            .flat_map(|row| &row.values)
            .map(|v| v.0.as_str())
            .collect();
        declared.sort_unstable();
        emitted.sort_unstable();
        emitted.dedup();
        assert_eq!(emitted, declared, "{}", scheme.name);
        for (time, alpha) in run.of("alpha").values().flatten() {
            assert!((0.0..=1.0).contains(alpha), "alpha {alpha} at {time} us");
        }
    }
}

#[test]
fn throughput_adds_up_to_what_was_sent() {
    for interval in ["auto", "change"] {
        let interval = format!("trace.interval={interval}");
        let sets = ["trace.series=throughput", "trace.window=100us", &interval];
        let run = traced("throughput", &incast("newreno", &sets));
        for (flow, samples) in run.of("throughput_bps") {
            let bits: f64 = samples.iter().map(|sample| sample.1 * 100e-6).sum();
            assert!(
                (bits - 65_536.0 * 8.0).abs() < 1e-3,
                "flow {flow}: {bits} bits"
            );
        }
    }
}

#[test]
fn an_interval_samples_what_every_change_records() {
    let exact = traced(
        "every-change",
        &incast(
            "newreno",
            &["trace.series=queue,cwnd", "trace.interval=change"],
        ),
    );
    let sets = ["trace.series=queue,cwnd", "trace.interval=37us"];
    let sampled = traced("interval", &incast("newreno", &sets));
    let end = sampled.outcome.cost.simulated_us;
    for quantity in ["queue_bytes", "cwnd_bytes"] {
        let exact = exact.of(quantity);
        for (id, samples) in sampled.of(quantity) {
            let mut expected = (samples[0].0 / 37.0).round();
            for (time, value) in samples {
                assert!(
                    (time - expected * 37.0).abs() < 1e-6,
                    "{quantity} {id}: {time}"
                );
                assert_eq!(
                    at(&exact[&id], time).unwrap_or(0.0),
                    value,
                    "{quantity} {id} at {time}"
                );
                expected += 1.0;
            }
            assert!(
                quantity != "queue_bytes" || (expected * 37.0 - end).abs() <= 37.0,
                "to the end"
            );
        }
    }
}

#[test]
fn auto_keeps_the_peak_within_some_thousand_samples() {
    let w1b = include_str!("../../../sim/benches/scenarios/w1b.toml");
    let sets = ["workload.size=100KB", "trace.series=queue,cwnd,events"];
    let run = traced("auto", &points(w1b, "newreno", &sets)[0]);
    let queue = &run.of("queue_bytes")[&1];
    assert!((1000..=4100).contains(&queue.len()), "{}", queue.len());
    let peak = queue
        .iter()
        .fold(0.0, |peak: f64, sample| peak.max(sample.1));
    assert_eq!(peak, real(run.outcome.metrics.queue_max_bytes));
    for samples in run.of("cwnd_bytes").values() {
        assert!(samples.len() <= 4100);
    }
    assert_eq!(run.events("completion").len(), 100);
}

#[test]
fn a_trace_of_every_change_changes_no_result() {
    assert_no_result_changes("change");
}

/// A packet takes 12 us, so most gaps between two packets have a sample, each at another place.
#[test]
fn a_trace_at_an_interval_changes_no_result() {
    assert_no_result_changes("7us");
}

#[test]
fn a_trace_of_some_thousand_samples_changes_no_result() {
    assert_no_result_changes("auto");
}

/// Traces everything of every scheme, in this interval.
fn assert_no_result_changes(interval: &str) {
    let everything = plan::series::all().iter().map(|quantity| quantity.name);
    let everything = everything.chain(["events"]).collect::<Vec<_>>().join(",");
    let series = format!("trace.series={everything}");
    let often = format!("trace.interval={interval}");
    for scheme in schemes::all() {
        let sets = [&series, &often, "trace.ports=all", "trace.flows=all"];
        let point = incast(scheme.name, &sets);
        let (with, path) = recorded(&format!("digest-{}-{interval}", scheme.name), &point);
        let without = run::run(&point).expect("it runs without a trace, too");
        assert_eq!(with.digest, without.digest, "{} {interval}", scheme.name);
        assert_eq!(with.cost.events, without.cost.events);
        let mut rows = 0_u64;
        trace::read(&path, &mut |_| rows += 1).expect("a file of series");
        assert!(rows > 0, "{} {interval}: nothing is traced", scheme.name);
    }
}

#[test]
fn a_series_file_is_a_pure_function_of_the_point_and_joins_byte_for_byte() {
    let sets = [
        "trace.series=queue,cwnd,alpha,events",
        "workload.senders=2,3,4",
    ];
    let points = points("incast", "newreno,dctcp", &sets);
    let one =
        |point: &PointSpec, name: &str| traced(&format!("{name}-{}", point.index), point).path;
    let join = |name: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.parquet"));
        let mut parts = points
            .iter()
            .map(|point| (cells(point.index), one(point, name)));
        trace::concatenate(&leading(), &mut parts, File::create(&path).unwrap()).unwrap();
        path
    };
    let (first, second) = (join("first"), join("second"));
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    let apart: Vec<Row> = points
        .iter()
        .flat_map(|point| rows_of(&one(point, "apart")))
        .collect();
    assert_eq!(rows_of(&first), apart);
    assert_eq!(apart.last().unwrap().point, 5);
    // When a sweep gets more seeds, the same point gets another number.
    let renumbered = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renumbered.parquet");
    let mut part = iter::once((cells(7), one(&points[5], "first")));
    trace::concatenate(&leading(), &mut part, File::create(&renumbered).unwrap()).unwrap();
    let rows = rows_of(&renumbered);
    assert!(!rows.is_empty() && rows.iter().all(|row| row.point == 7));
    // The setting is in every row. As it repeats, it takes few bytes.
    let names = tables::names(&renumbered).unwrap();
    assert_eq!(names[..3], ["point", "switch.buffer", "time_us"]);
    tables::read(&renumbered, &mut |row| {
        assert_eq!(row.cell(1), Cell::Double(7.5));
    })
    .unwrap();
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    assert!(size(&renumbered) < size(&one(&points[5], "first")) + 1000);
}

#[test]
fn series_recorded_in_parts_are_those_of_the_whole() {
    let sets = [
        "topology.kind=leaf-spine",
        "topology.racks=4",
        "topology.spines=2",
        "topology.hosts=3",
        "link.delay=2us",
        "switch.buffer=12pkt",
        "switch.ecn_threshold=6pkt",
        "tcp.min_rto=1ms",
        "tcp.syn_rto=1ms",
        "tcp.retries=2",
        "workload.kind=poisson",
        "workload.load=0.9",
        "workload.flows=40",
        "workload.size=60KB",
        "trace.ports=all",
        "trace.series=queue, drops, marks, cwnd, rwnd, throughput, carried, events",
    ];
    for scheme in ["dctcp", "rcc", "hscc", "rc3"] {
        let point = &points("incast", scheme, &sets)[0];
        let (outcome, whole) = recorded("whole", point);
        let whole = fs::read(whole).expect("a test file is written and read");
        for parts in [2, 3, 6] {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts.parquet");
            let file = File::create(&path).expect("a test file is written and read");
            let plan = TracePlan::of(point).expect("something is traced");
            let mut recorder = Recorder::new(&plan, point, file).expect("a file");
            let division = Division {
                parts: parts.try_into().expect("some parts"),
                ..Division::of_threads(NonZeroUsize::MIN)
            };
            let watching = Watching {
                probe: Some(&mut recorder),
                breakdown: true,
            };
            let divided = divided::within(Limits::NONE, point, division, watching);
            let (of_parts, divided) = divided.expect("a conserving run");
            recorder.finish().expect("a test file is written and read");
            assert_eq!((divided.parts, divided.obstacle), (parts, None));
            assert_eq!(outcome.digest, of_parts.digest, "{scheme} in {parts} parts");
            let series = fs::read(path).expect("a test file is written and read");
            assert!(whole == series, "{scheme} in {parts} parts");
        }
    }
}

/// The columns that come before those of a part: the number of its point and a setting.
fn leading() -> [Field; 2] {
    let field = |name: &str, kind, optional| Field {
        name: name.to_owned(),
        kind,
        optional,
        unit: "",
        help: "",
    };
    [
        field("point", ColumnType::Int32, false),
        field("switch.buffer", ColumnType::Double, true),
    ]
}

fn cells(point: usize) -> Vec<Cell<'static>> {
    let number = i64::try_from(point).expect("a small number");
    vec![Cell::Int(number), Cell::Double(signed(number) + 0.5)]
}

#[test]
fn files_with_other_columns_do_not_join() {
    let path = |series: &str| {
        let name = format!("columns-{}", series.len());
        traced(&name, &incast("newreno", &[series])).path
    };
    let parts = [path("trace.series=queue"), path("trace.series=queue,cwnd")];
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unjoined.parquet");
    let mut parts = parts.into_iter().enumerate();
    let mut parts = parts.by_ref().map(|(point, path)| (cells(point), path));
    let failure = trace::concatenate(&leading(), &mut parts, File::create(out).unwrap());
    assert!(failure.unwrap_err().to_string().contains("other columns"));
}

#[test]
fn flows_and_ports_are_chosen() {
    let sets = [
        "trace.series=cwnd,queue",
        "trace.flows=3,7",
        "trace.ports=all",
        "trace.interval=change",
    ];
    let run = traced("chosen", &incast("newreno", &sets));
    assert_eq!(run.of("cwnd_bytes").into_keys().collect::<Vec<_>>(), [3, 7]);
    // The initial windows also wait at the senders' own ports.
    assert!(run.of("queue_bytes").len() > 10);
}
