//! Measures agree with the summary where both have a number.

use lab::experiment::{Level, Measure, Of, Place, Statistic, Stretch, Weight};

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
        let column = lab::columns::METRICS
            .iter()
            .find(|column| column.name == metric);
        let expected = run.values(&Measure::metric(column.unwrap().name)).unwrap();
        for row in 0..run.folder().summary().rows.len() {
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
    let drops = |from_us, to_us| {
        let measure = Measure {
            of: Of::Series {
                column: "drops",
                place: Place::default(),
                group: None,
                flow: None,
                host: None,
                during: Stretch { from_us, to_us },
                across: Statistic::Sum,
                weight: Weight::Time,
                apart_from: None,
            },
            statistic: Some(Statistic::Change),
        };
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
        let measure = Measure {
            of: Of::Series {
                column,
                place: Place::default(),
                group: None,
                flow: Some(0),
                host: None,
                during: Stretch::default(),
                across: Statistic::Mean,
                weight: Weight::Time,
                apart_from,
            },
            statistic: Some(Statistic::Mean),
        };
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
    let flows = Measure {
        of: Of::Flows {
            column: "fct_us",
            group: None,
            cluster: None,
        },
        statistic: None,
    };
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
        .in_column(lab::experiment::unit::Dimension::Bytes, packet)
        .unwrap();
    assert!(first.iter().any(|(_, bytes)| (bytes - full).abs() < packet));
}
