//! Measures agree with the summary where both have a number.

use claims::{
    ChosenFlows, FlowWeight, Level, Measure, Moment, Of, PortSelector, Statistic, Stretch, Weight,
};

use crate::bench::{Folder, INCAST};

/// A claim of each of these measures would be compared with the metric.
const SAME: [(&str, &str); 5] = [
    ("fct_p99_us", r#"{ flows = "fct_us", statistic = "p99" }"#),
    ("fct_mean_us", r#"{ flows = "fct_us", statistic = "mean" }"#),
    ("drops", r#"{ ports = "drops", statistic = "sum" }"#),
    (
        "queue_mean_bytes",
        r#"{ series = "queue_bytes", statistic = "mean" }"#,
    ),
    (
        "queue_max_bytes",
        r#"{ series = "queue_bytes", statistic = "max" }"#,
    ),
];

#[test]
fn flows_ports_and_series_give_the_numbers_of_the_summary() {
    let claims = SAME.map(|(metric, measure)| {
        let unit = match metric {
            "drops" => "",
            time if time.ends_with("_us") => "us",
            _ => "bytes",
        };
        format!(
            "[[claim]]\nid = \"{metric}\"\nkind = \"number\"\nsays = \"s\"\nwhere = \"w\"\n\
             of = \"newreno\"\nmeasure = {measure}\npaper = 1\nunit = \"{unit}\"\n"
        )
    });
    let figure = format!("{INCAST}{}", claims.concat());
    let folder = Folder::with("measures_same", &figure);
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], &[], "run");
    for (claim, (metric, _)) in paper.experiments[0].claims.iter().zip(SAME) {
        let operand = claim.kind.operands()[0].clone();
        let values = run.values(&operand.measure).unwrap();
        let column = sim::columns::METRICS
            .iter()
            .find(|column| column.name == metric);
        let expected = run.values(&Measure::metric(column.unwrap().name)).unwrap();
        for row in 0..run.run().summary().rows.len() {
            for (a, b) in values.per_seed(row).iter().zip(expected.per_seed(row)) {
                assert!(
                    (a - b).abs() <= 1e-6 * b.abs(),
                    "{metric} of row {row}: {a}, {b}"
                );
            }
        }
    }
}

#[test]
fn drops_of_a_stretch_add_up_to_all_drops() {
    let folder = Folder::with("measures_stretch", INCAST);
    let run = folder.run(
        &folder.paper().experiments[0],
        &["workload.senders=40"],
        "run",
    );
    let drops = |from: Option<f64>, to: Option<f64>| {
        let (from, to) = (from.map(Moment::At), to.map(Moment::At));
        let of = Of::Series {
            column: "drops",
            place: PortSelector::default(),
            group: None,
            flow: None,
            host: None,
            during: Stretch { from, to },
            window_us: None,
            across: Statistic::Sum,
            weight: Weight::Time,
            apart_from: None,
        };
        let measure = Measure::new(of, Some(Statistic::Change));
        run.values(&measure).unwrap().per_seed(0).to_vec()
    };
    let all = run.values(&Measure::metric("drops")).unwrap();
    let (first, second) = (drops(None, Some(12_000.0)), drops(Some(12_000.0), None));
    let sums: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
    assert!(first.iter().all(|drops| *drops > 0.0), "{first:?}");
    assert_eq!(format!("{sums:?}"), format!("{:?}", all.per_seed(0)));
}

#[test]
fn how_far_two_series_lie_apart_is_the_distance_of_their_statistics() {
    let folder = Folder::with("measures_apart", INCAST);
    let sets = ["workload.senders=40", "trace.series=cwnd,rwnd"];
    let run = folder.run(&folder.paper().experiments[0], &sets, "run");
    let mean = |column, apart_from| {
        let of = Of::Series {
            column,
            place: PortSelector::default(),
            group: None,
            flow: Some(0),
            host: None,
            during: Stretch::default(),
            window_us: None,
            across: Statistic::Mean,
            weight: Weight::Time,
            apart_from,
        };
        let measure = Measure::new(of, Some(Statistic::Mean));
        run.values(&measure).unwrap().per_seed(0)[0]
    };
    let (cwnd, rwnd) = (mean("cwnd_bytes", None), mean("rwnd_bytes", None));
    assert!(rwnd > cwnd + 1446.0, "{rwnd} {cwnd}");
    for apart in [
        mean("cwnd_bytes", Some("rwnd_bytes")),
        mean("rwnd_bytes", Some("cwnd_bytes")),
    ] {
        assert!((apart - (rwnd - cwnd)).abs() < 1e-6, "{apart}");
    }
}

#[test]
fn groups_of_flows_are_measured_apart() {
    let figure = r#"
title = "Two groups"
figure = "Fig. 1"
scale = "as the test says"
schemes = ["newreno"]

[switch]
buffer = "unlimited"

[group.few.workload]
senders = 2
size = "10KB"

[group.many.workload]
senders = 20
size = "100KB"

[[claim]]
id = "yes-few"
kind = "number"
says = "s"
where = "w"
measure = { flows = "size_bytes", statistic = "sum", group = "few" }
of = "newreno"
paper = 20
unit = "KB"
tolerance = 0

[[claim]]
id = "yes-many"
kind = "number"
says = "s"
where = "w"
measure = { flows = "size_bytes", statistic = "count", group = "many" }
of = "newreno"
paper = 20
tolerance = 0

[[claim]]
id = "yes-begins-so"
kind = "number"
says = "s"
where = "w"
measure = { flows = "size_bytes", statistic = "count", group = "ma*" }
of = "newreno"
paper = 20
tolerance = 0

[[claim]]
id = "yes-all-groups"
kind = "number"
says = "s"
where = "w"
measure = { flows = "size_bytes", statistic = "count", group = "*" }
of = "newreno"
paper = 22
tolerance = 0

[[claim]]
id = "yes-few-are-sooner"
kind = "shape"
says = "s"
where = "w"
measure = { flows = "fct_us", statistic = "mean", group = "few" }
shape = "less"
of = "newreno"
than = { scheme = "newreno", measure = { flows = "fct_us", statistic = "mean", group = "many" } }
factor = 2
"#;
    let folder = Folder::with("measures_groups", figure);
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], &[], "run");
    crate::bench::assert_as_named(&paper.experiments[0], &crate::bench::bench(&run));
}

#[test]
fn distributions_and_series_are_given_whole() {
    let folder = Folder::with("measures_whole", INCAST);
    let run = folder.run(
        &folder.paper().experiments[0],
        &["workload.senders=40"],
        "run",
    );
    let of = Of::Flows {
        column: "fct_us",
        chosen: ChosenFlows::default(),
        weight: FlowWeight::Flow,
        each_sender: None,
    };
    let flows = Measure::new(of, None);
    let sample = run.sample(&flows, 0).unwrap();
    assert_eq!(sample.values().len(), 3 * 40);
    assert!(sample.values().is_sorted_by(|a, b| a.0 <= b.0));
    let queue = Measure::series("queue_bytes");
    let series = run.series(&queue, 0).unwrap();
    assert_eq!(series.len(), 1, "the bottleneck's");
    let first = series.values().next().unwrap();
    assert!(first.len() > 100 && first.is_sorted_by(|a, b| a.0 <= b.0));
    let full = Level::parse("80pkt").unwrap();
    let packet = run.packet_bytes(0);
    let full = full
        .in_column(claims::unit::Dimension::Bytes, packet)
        .unwrap();
    assert!(first.iter().any(|(_, bytes)| (bytes - full).abs() < packet));
}

/// Values of measures, written as in a figure: row by row, seed by seed, each in turn.
fn numbers(name: &str, figure: &str, sets: &[&str], measures: &[&str]) -> Vec<Vec<Vec<f64>>> {
    let claims = measures.iter().enumerate().map(|(index, measure)| {
        format!(
            "[[claim]]\nid = \"c{index}\"\nkind = \"shape\"\nsays = \"s\"\nwhere = \"w\"\n\
             shape = \"above\"\nlevel = \"0\"\nof = \"newreno\"\nmeasure = {measure}\n"
        )
    });
    let figure = format!("{figure}{}", claims.collect::<String>());
    let folder = Folder::with(name, &figure);
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], sets, "run");
    let values = |claim: &claims::Claim| {
        let measure = &claim.kind.operands()[0].measure;
        run.values(measure).expect("a measure of a test has values")
    };
    let claims = &paper.experiments[0].claims;
    let summary = run.run().summary();
    let rows = (0..summary.rows.len()).map(|row| {
        let seeds = 0..summary.rows[row].points.len();
        let all = |seed: usize| {
            let each = claims.iter().map(|claim| values(claim).per_seed(row)[seed]);
            each.collect()
        };
        seeds.map(all).collect()
    });
    rows.collect()
}

#[test]
fn flows_are_chosen_by_size_and_counted_by_segments() {
    let measures = [
        r#"{ flows = "fct_us", statistic = "count", size = ["0B", "8KiB"] }"#,
        r#"{ flows = "fct_us", statistic = "count", size = ["8KiB", "16KiB"] }"#,
        r#"{ flows = "fct_us", statistic = "count", size = ["16KiB", "unlimited"] }"#,
        r#"{ flows = "segments", statistic = "sum", size = ["16KiB", "unlimited"] }"#,
        r#"{ flows = "size_bytes", statistic = "max", size = ["0B", "8KiB"] }"#,
    ];
    let figure = INCAST.replace(
        "senders = [10, 40, 100]",
        "senders = 10\nsize = \"uniform(4KiB, 24KiB)\"",
    );
    let figure = figure.replace("[\"newreno\", \"dctcp\", \"rcc\"]", "[\"newreno\"]");
    let values = numbers("measures_sizes", &figure, &[], &measures);
    for values in &values[0] {
        let of = |measure: usize| values[measure];
        let total = of(0) + of(1) + of(2);
        assert!((total - 10.0).abs() < 1e-9 && of(2) > 0.0, "{total}");
        // 16 to 24 KiB are more than 11 and at most 17 segments of 1446 bytes.
        let each = of(3) / of(2);
        assert!(each > 11.0 && each <= 17.0, "{each}");
        assert!(of(0) == 0.0 || of(4) <= 8192.0);
    }
}

#[test]
fn what_is_measured_of_each_sender_is_made_of_its_flows() {
    let figure = INCAST.replace("senders = [10, 40, 100]", "senders = 10\nrounds = 4");
    let figure = figure.replace("[\"newreno\", \"dctcp\", \"rcc\"]", "[\"newreno\"]");
    let measures = [
        r#"{ flows = "fct_us", each_sender = "count", statistic = "count" }"#,
        r#"{ flows = "fct_us", each_sender = "count", statistic = "max" }"#,
        r#"{ flows = "fct_us", each_sender = "mean", statistic = "mean" }"#,
        r#"{ flows = "fct_us", statistic = "mean" }"#,
        r#"{ flows = "fct_us", each_sender = "variance", statistic = "mean" }"#,
        r#"{ flows = "fct_us", statistic = "variance" }"#,
        r#"{ flows = "fct_us", each_sender = "mean", statistic = "variance" }"#,
    ];
    let values = numbers("measures_senders", &figure, &[], &measures);
    for values in &values[0] {
        let of = |measure: usize| values[measure];
        assert!((of(0) - 10.0).abs() < 1e-9, "ten senders");
        assert!((of(1) - 4.0).abs() < 1e-9, "four flows of each");
        assert!(
            (of(2) / of(3) - 1.0).abs() < 1e-9,
            "equally many flows of each"
        );
        // The variance of all is that within the groups plus that between them.
        assert!(((of(4) + of(6)) / of(5) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn events_are_counted_and_the_times_between_them_measured() {
    let measures = [
        r#"{ events = ["drop"], statistic = "count" }"#,
        r#""drops""#,
        r#"{ events = ["timeout"], statistic = "count" }"#,
        r#""timeouts""#,
        r#"{ events = ["start", "completion"], statistic = "mean" }"#,
        r#""fct_mean_us""#,
    ];
    let sets = [
        "workload.senders=40",
        "trace.series=events",
        "trace.interval=change",
    ];
    let values = numbers("measures_events", INCAST, &sets, &measures);
    for values in values.iter().flatten() {
        let same = |a: usize, b: usize| {
            let (a, b) = (values[a], values[b]);
            assert!((a - b).abs() <= 1e-6 * b.abs(), "{a}, {b}");
        };
        same(0, 1);
        same(2, 3);
        // From the start of a flow to its completion.
        same(4, 5);
    }
}

#[test]
fn goodput_counts_what_has_arrived_of_flows_without_an_end_too() {
    let figure = INCAST.replace(
        "senders = [10, 40, 100]",
        "senders = 2\nsize = \"unlimited\"\nstart = \"0s\"",
    );
    let figure = figure.replace("[\"newreno\", \"dctcp\", \"rcc\"]", "[\"newreno\"]");
    let figure = figure.replace("[workload]", "[run]\nduration = \"100ms\"\n\n[workload]");
    let measures = [
        r#"{ flows = "goodput_bps", statistic = "sum" }"#,
        r#"{ series = "carried_bps", statistic = "mean", during = ["10ms", "90ms"] }"#,
        r#"{ series = "carried_bps", statistic = "max", window = "20ms", during = ["10ms", "90ms"] }"#,
        r#"{ series = "throughput_bps", statistic = "mean", across = "jain", during = ["10ms", "90ms"] }"#,
    ];
    let sets = ["trace.series=carried,throughput", "trace.interval=change"];
    let values = numbers("measures_goodput", &figure, &sets, &measures);
    for values in &values[0] {
        let of = |measure: usize| values[measure];
        // A link of 1 Gbit/s is full except for the first round trips, in which windows grow from 1.
        assert!(of(0) > 0.9e9 && of(0) < 1446.0 / 1500.0 * 1e9, "{}", of(0));
        // Packets of 12 us are not a multiple of the window of 1 ms: 83 or 84 in each.
        assert!((of(1) / 1e9 - 1.0).abs() < 1e-3, "{}", of(1));
        assert!((of(2) / of(1) - 1.0).abs() < 1e-3, "{}", of(2));
        assert!(of(3) > 0.5 && of(3) <= 1.0, "{}", of(3));
    }
}
