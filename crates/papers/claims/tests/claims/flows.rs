//! Flows selected by the time when they ran and by their results under other schemes, and the measures of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use base::cast::{count, real};
use claims::{MeasuredRun, Paper};
use sim::metrics::FlowRecord;

use crate::bench::{Folder, INCAST, assert_as_named, bench};

/// Three epochs of 40 flows of many sizes within 60 ms. Not all flows of the last epoch can complete, and fewer do
/// under NewReno, which waits for timers.
fn epochs() -> String {
    let figure = INCAST.replace(
        "senders = [10, 40, 100]",
        "senders = 40\nsize = \"uniform(4KiB, 64KiB)\"\nepochs = 3\nepoch_interval = \"20ms\"",
    );
    let figure = figure.replace("\"dctcp\", ", "");
    figure.replace("[workload]", "[run]\nduration = \"60ms\"\n\n[workload]")
}

/// The claims of a figure, run.
fn run(name: &str, figure: &str) -> (MeasuredRun, Paper, Folder) {
    let folder = Folder::with(name, figure);
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], &[], "run");
    (run, paper, folder)
}

/// A figure with a claim about each measure.
fn with_claims(measures: &[&str]) -> String {
    let claims = measures.iter().enumerate().map(|(index, measure)| {
        format!(
            "[[claim]]\nid = \"c{index}\"\nkind = \"shape\"\nsays = \"s\"\nwhere = \"w\"\n\
             shape = \"above\"\nlevel = \"0\"\nof = \"newreno\"\nmeasure = {measure}\n"
        )
    });
    format!("{}{}", epochs(), claims.collect::<String>())
}

/// The flows of each simulation, by scheme and seed.
fn records(run: &MeasuredRun) -> BTreeMap<(String, u64), Vec<FlowRecord>> {
    let summary = run.run().summary();
    let mut all: BTreeMap<(String, u64), Vec<FlowRecord>> = BTreeMap::new();
    run.run()
        .flows(&mut |point, flow| {
            let mut points = summary.points.iter();
            let point = points
                .find(|other| other.point == point)
                .expect("a run of a test is whole");
            let scheme = summary.rows[point.row as usize].scheme.clone();
            all.entry((scheme, point.seed))
                .or_default()
                .push(flow.clone());
        })
        .expect("a run of a test is whole");
    all
}

/// The value of claim `index` under a scheme, seed by seed.
fn values(run: &MeasuredRun, paper: &Paper, index: usize, scheme: &str) -> Vec<f64> {
    let operand = paper.experiments[0].claims[index].kind.operands()[0].clone();
    let row = run.rows(scheme, &[])[0];
    let values = run
        .values(&operand.measure)
        .expect("a run of a test is whole");
    values.per_seed(row).to_vec()
}

/// The same computed from the flows of each seed and those of the other scheme.
fn expected(
    run: &MeasuredRun,
    scheme: &str,
    of: impl Fn(&[FlowRecord], &[FlowRecord]) -> f64,
) -> Vec<f64> {
    let records = records(run);
    let other = if scheme == "rcc" { "newreno" } else { "rcc" };
    let seeds = (1..=3).map(|seed| {
        let own = |scheme: &str| &records[&(scheme.to_owned(), seed)];
        of(own(scheme), own(other))
    });
    seeds.collect()
}

fn assert_close(ours: &[f64], expected: &[f64]) {
    assert_eq!(ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(expected) {
        let off = (ours - expected).abs();
        assert!(off <= 1e-9 * expected.abs().max(1.0), "{ours} {expected}");
    }
}

#[test]
fn a_mean_over_bytes_counts_each_flow_by_its_size() {
    let measures = [
        r#"{ flows = "fct_us", weight = "bytes", statistic = "mean" }"#,
        r#"{ flows = "fct_us", weight = "flows", statistic = "mean" }"#,
        r#"{ flows = "size_bytes", weight = "bytes", statistic = "mean" }"#,
    ];
    let (run, paper, _kept) = run("flows_bytes", &with_claims(&measures));
    let size = |flow: &FlowRecord| real(flow.size_bytes.unwrap());
    for scheme in ["newreno", "rcc"] {
        let over_bytes = expected(&run, scheme, |flows, _| {
            let complete = || flows.iter().filter(|flow| flow.fct_us.get().is_some());
            let sum: f64 = complete()
                .map(|flow| size(flow) * flow.fct_us.get().unwrap())
                .sum();
            sum / complete().map(size).sum::<f64>()
        });
        let over_flows = expected(&run, scheme, |flows, _| {
            let times: Vec<f64> = flows.iter().filter_map(|flow| flow.fct_us.get()).collect();
            times.iter().sum::<f64>() / count(times.len())
        });
        // Sum of squares over sum, of all flows whether or not they complete.
        let of_sizes = expected(&run, scheme, |flows, _| {
            let squares: f64 = flows.iter().map(|flow| size(flow) * size(flow)).sum();
            squares / flows.iter().map(size).sum::<f64>()
        });
        assert_close(&values(&run, &paper, 0, scheme), &over_bytes);
        assert_close(&values(&run, &paper, 1, scheme), &over_flows);
        assert_close(&values(&run, &paper, 2, scheme), &of_sizes);
        assert!(
            over_bytes[0] > 1.01 * over_flows[0],
            "larger flows take longer"
        );
    }
}

#[test]
fn measures_that_are_expected_are_made_in_one_pass_over_the_flows_and_its_columns_alone() {
    let measures = [
        r#"{ flows = "fct_us", statistic = "mean" }"#,
        r#"{ flows = "fct_us", statistic = "p99" }"#,
        r#"{ flows = "fct_us", statistic = "p99 - p1" }"#,
        r#"{ flows = "retransmissions", statistic = "sum" }"#,
        r#"{ flows = "fct_us", statistic = "p50", common_to = ["newreno", "rcc"] }"#,
    ];
    let (_run, paper, kept) = run("flows_passes", &with_claims(&measures));
    let opened = || {
        let folder = results::Folder::open(Path::new(&kept.path("run")));
        let folder = Rc::new(folder.expect("it was run"));
        let run = MeasuredRun::of(Rc::<results::Folder>::clone(&folder), "run".to_owned());
        (folder, run.expect("it was run"))
    };
    let (at_once, again) = opened();
    let (one_by_one, run) = opened();
    let operands = paper.experiments[0].claims.iter();
    let measures: Vec<_> = operands
        .map(|claim| claim.kind.operands()[0].measure.clone())
        .collect();
    again.expect(measures.iter());
    for (index, measure) in measures.iter().enumerate() {
        for scheme in ["newreno", "rcc"] {
            let row = again.rows(scheme, &[])[0];
            let together = again.values(measure).expect("it is whole");
            let alone = values(&run, &paper, index, scheme);
            assert_eq!(together.per_seed(row), alone, "{index} {scheme}");
        }
    }
    // Times, retransmissions, whether a flow is complete, its number, and its point.
    let flows: usize = records(&again).values().map(Vec::len).sum();
    assert_eq!(at_once.decoded(), 5 * u64::try_from(flows).unwrap());
    assert!(one_by_one.decoded() > 2 * at_once.decoded());
}

#[test]
fn flows_of_a_stretch_start_and_complete_within_it() {
    let measures = [
        r#"{ flows = "fct_us", statistic = "count", during = ["50%", "end"] }"#,
        r#"{ flows = "fct_us", statistic = "count", during = ["30ms", "55ms"] }"#,
        r#"{ flows = "size_bytes", statistic = "count", during = ["start", "end"] }"#,
        r#"{ flows = "size_bytes", statistic = "count" }"#,
    ];
    let (run, paper, _kept) = run("flows_during", &with_claims(&measures));
    let within = |from: f64, to: f64| {
        move |flows: &[FlowRecord], _: &[FlowRecord]| {
            let inside = flows.iter().filter(|flow| {
                flow.start_us >= from && flow.completion_us.get().is_some_and(|end| end <= to)
            });
            count(inside.count())
        }
    };
    for scheme in ["newreno", "rcc"] {
        // Half of 60 ms is 30 ms, when the second of three epochs begins.
        let half = expected(&run, scheme, within(30_000.0, f64::INFINITY));
        let both = expected(&run, scheme, within(30_000.0, 55_000.0));
        let complete = expected(&run, scheme, within(0.0, f64::INFINITY));
        assert_close(&values(&run, &paper, 0, scheme), &half);
        assert_close(&values(&run, &paper, 1, scheme), &both);
        assert_close(&values(&run, &paper, 2, scheme), &complete);
        assert_close(&values(&run, &paper, 3, scheme), &[120.0; 3]);
        assert!(both[0] < half[0] && half[0] < complete[0] && complete[0] < 120.0);
        assert!(half[0] <= 80.0);
    }
}

#[test]
fn flows_that_several_schemes_complete_are_the_same_flows() {
    let measures = [
        r#"{ flows = "fct_us", statistic = "count", during = ["50%", "end"], common_to = ["newreno", "rcc"] }"#,
        r#"{ flows = "size_bytes", statistic = "sum", during = ["50%", "end"], common_to = ["newreno", "rcc"] }"#,
        r#"{ flows = "fct_us", statistic = "mean", during = ["50%", "end"], common_to = ["newreno"] }"#,
        r#"{ flows = "fct_us", statistic = "mean", during = ["50%", "end"], common_to = ["newreno", "rcc"], reduction_from = "newreno" }"#,
    ];
    let (run, paper, _kept) = run("flows_common", &with_claims(&measures));
    let common = |own: &[FlowRecord], other: &[FlowRecord]| -> Vec<FlowRecord> {
        let complete =
            |flow: &&FlowRecord| flow.start_us >= 30_000.0 && flow.fct_us.get().is_some();
        let others: Vec<u32> = other
            .iter()
            .filter(complete)
            .map(|flow| flow.flow)
            .collect();
        let own = own.iter().filter(complete);
        own.filter(|flow| others.contains(&flow.flow))
            .cloned()
            .collect()
    };
    let mean = |flows: &[FlowRecord]| {
        flows
            .iter()
            .map(|flow| flow.fct_us.get().unwrap())
            .sum::<f64>()
            / count(flows.len())
    };
    for scheme in ["newreno", "rcc"] {
        let counts = expected(&run, scheme, |own, other| count(common(own, other).len()));
        assert_close(&values(&run, &paper, 0, scheme), &counts);
        let means = expected(&run, scheme, |own, other| mean(&common(own, other)));
        if scheme == "rcc" {
            assert_close(&values(&run, &paper, 2, scheme), &means);
        }
    }
    // Both schemes are measured on the same flows, so their bytes are equal.
    let bytes = |scheme| values(&run, &paper, 1, scheme);
    assert_close(&bytes("newreno"), &bytes("rcc"));
    // This must be fewer than RCC completes alone, or the test would show nothing.
    let alone = expected(&run, "rcc", |own, _| count(common(own, own).len()));
    assert!(values(&run, &paper, 0, "rcc")[0] < alone[0], "{alone:?}");
    // The reduction is that of the means of these flows, seed by seed.
    let saved = expected(&run, "rcc", |own, other| {
        let (rcc, tcp) = (mean(&common(own, other)), mean(&common(other, own)));
        (tcp - rcc) / tcp
    });
    assert_close(&values(&run, &paper, 3, "rcc"), &saved);
    assert_close(&values(&run, &paper, 3, "newreno"), &[0.0; 3]);
}

#[test]
fn what_is_saved_is_judged_as_a_share() {
    let at = "at = { \"workload.senders\" = 40 }";
    let claim = |id: &str, kind: &str, rest: &str| {
        format!(
            "\n[[claim]]\nid = \"{id}\"\nkind = \"{kind}\"\nsays = \"s\"\nwhere = \"w\"\n\
             measure = {{ metric = \"drops\", reduction_from = \"newreno\" }}\n{rest}\n"
        )
    };
    // RCC drops nothing, so its drops are 100 % fewer, and NewReno's are 0 % fewer than its own. With 10 senders there
    // are no drops to compare.
    let claims = [
        claim(
            "yes-all",
            "number",
            &format!("{at}\nof = \"rcc\"\npaper = 100\nunit = \"%\"\ntolerance = 0"),
        ),
        claim(
            "partly-half",
            "number",
            &format!("{at}\nof = \"rcc\"\npaper = 50\nunit = \"%\""),
        ),
        claim(
            "yes-none",
            "number",
            &format!("{at}\nof = \"newreno\"\npaper = 0\nunit = \"%\""),
        ),
        claim(
            "no-value",
            "number",
            "at = { \"workload.senders\" = 10 }\nof = \"rcc\"\npaper = 100\nunit = \"%\"",
        ),
        claim("yes-highest", "order", &format!("{at}\nhighest = \"rcc\"")),
        claim(
            "yes-above",
            "shape",
            &format!("{at}\nshape = \"above\"\nlevel = \"99%\"\nof = \"rcc\""),
        ),
        claim(
            "no-above",
            "shape",
            &format!("{at}\nshape = \"above\"\nlevel = \"1%\"\nof = \"newreno\""),
        ),
    ];
    let figure = format!("{INCAST}{}", claims.concat());
    let (run, paper, _kept) = run("flows_reduction", &figure);
    assert_as_named(&paper.experiments[0], &bench(&run));
}
