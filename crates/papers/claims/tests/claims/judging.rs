//! Every kind of claim, true and false. The name of a claim begins with the verdict it must get.

use claims::Experiment;
use claims::judge::{
    Bench, Bias, Counts, Effect, Judged, OtherReading, Standing, TriedCause, Verdict, judge,
};

use crate::bench::{Folder, INCAST, assert_as_named, bench, findings};

/// The beginning of a claim.
fn claim(id: &str, kind: &str, rest: &str) -> String {
    format!(
        "\n[[claim]]\nid = \"{id}\"\nkind = \"{kind}\"\nsays = \"something\"\nwhere = \"§1\"\n{rest}\n"
    )
}

fn judge_all(name: &str, kind: &str, claims: &[(&str, &str)]) {
    judge_about(INCAST, name, kind, claims);
}

fn judge_about(scenario: &str, name: &str, kind: &str, claims: &[(&str, &str)]) {
    let claims = claims.iter().map(|(id, rest)| claim(id, kind, rest));
    let folder = Folder::with(name, &format!("{scenario}{}", claims.collect::<String>()));
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], &[], "run");
    assert_as_named(&paper.experiments[0], &bench(&run));
}

#[test]
fn numbers_are_judged_by_tolerance_spread_sign_and_order() {
    let at = "at = { \"workload.senders\" = 40 }\nmeasure = \"drops\"";
    // RCC drops nothing, so its drops are 100 % fewer than NewReno's, which drops more than 100.
    let reduction =
        format!("{at}\nof = \"rcc\"\nagainst = \"newreno\"\ncompare = \"reduction\"\nunit = \"%\"");
    let own = format!("{at}\nof = \"newreno\"");
    judge_all(
        "judging_numbers",
        "number",
        &[
            (
                "yes-exact",
                &format!("{reduction}\npaper = 100\ntolerance = 0"),
            ),
            // Zero is not within a fifth of the 16 % that remain in the paper, nor half of it.
            ("no-nothing-remains", &format!("{reduction}\npaper = 84")),
            ("partly-sign", &format!("{reduction}\npaper = 50")),
            // The sign holds and the number is 2.5 times the paper's.
            ("no-factor-of-2", &format!("{reduction}\npaper = 40")),
            (
                "yes-within-points",
                &format!("{reduction}\npaper = 98\nwithin = \"3%\""),
            ),
            (
                "partly-beyond-points",
                &format!("{reduction}\npaper = 98\nwithin = \"1%\""),
            ),
            ("no-sign", &format!("{reduction}\npaper = -100")),
            ("yes-zero", &format!("{at}\nof = \"rcc\"\npaper = 0")),
            ("no-zero", &format!("{own}\npaper = 0")),
            ("yes-range", &format!("{own}\npaper = [50, 400]")),
            // The range contains RCC and DCTCP as well, so it says nothing of NewReno.
            (
                "untestable-range-of-all",
                &format!("{own}\npaper = [0, 400]"),
            ),
            // A range that was read off a figure has the width of a line.
            (
                "yes-a-line-beyond-a-range",
                &format!("{reduction}\npaper = [50, 98]\ntolerance = 0.03"),
            ),
            // A tenth beyond its end, which the tolerance of a number would allow.
            (
                "partly-beyond-a-range",
                &format!("{reduction}\npaper = [50, 91]"),
            ),
            ("no-range", &format!("{own}\npaper = [1000, 2000]")),
            (
                "partly-rank",
                &format!("{own}\npaper = 300\nrank = \"highest\""),
            ),
            ("no-rank", &format!("{own}\npaper = 300\nrank = \"lowest\"")),
            (
                "no-rank-far-off",
                &format!("{own}\npaper = 1000\nrank = \"highest\""),
            ),
            (
                "yes-absolute",
                &format!("{own}\npaper = 1000\nwithin = 950\nwide = \"a test\""),
            ),
            (
                "untestable-size",
                &format!("{own}\npaper = 1000\nuntestable = \"the sizes were never published\""),
            ),
            (
                "yes-over-the-axis",
                "measure = \"drops\"\nof = \"rcc\"\naverage = \"max\"\npaper = 0",
            ),
            // With 10 senders neither drops: there is nothing to compare there, but the averages can be compared.
            (
                "no-comparison",
                "measure = \"drops\"\nof = \"rcc\"\nagainst = \"newreno\"\ncompare = \"reduction\"\nunit = \"%\"\npaper = 100\nat = { \"workload.senders\" = 10 }",
            ),
            (
                "yes-of-averages",
                "measure = \"drops\"\nof = \"rcc\"\nagainst = \"newreno\"\ncompare = \"reduction\"\nof_averages = true\nunit = \"%\"\npaper = 100\ntolerance = 0",
            ),
        ],
    );
}

#[test]
fn orders_hold_at_values_or_on_average() {
    let drops = "measure = \"drops\"";
    let hard = format!("{drops}\nexcept = {{ \"workload.senders\" = 10 }}");
    judge_all(
        "judging_orders",
        "order",
        &[
            ("yes-lowest", &format!("{drops}\nlowest = \"rcc\"")),
            ("no-lowest", &format!("{hard}\nlowest = \"newreno\"")),
            (
                "no-lowest-on-average",
                &format!("{drops}\nlowest = \"newreno\"\naverage = \"mean\""),
            ),
            ("yes-highest", &format!("{hard}\nhighest = \"newreno\"")),
            (
                "yes-second",
                &format!("{hard}\nlowest = \"dctcp\"\nplace = 2"),
            ),
            ("no-second", &format!("{hard}\nlowest = \"rcc\"\nplace = 2")),
            (
                "yes-sorted",
                &format!("{drops}\nsorted = [\"rcc\", \"dctcp\", \"newreno\"]"),
            ),
            (
                "no-sorted",
                &format!("{hard}\nsorted = [\"newreno\", \"dctcp\", \"rcc\"]"),
            ),
            // With 10 senders nobody drops, so nothing is ordered there. Of four pairs two are right.
            (
                "partly-sorted",
                &format!("{drops}\nsorted = [\"dctcp\", \"rcc\", \"newreno\"]"),
            ),
            (
                "yes-among",
                &format!("{hard}\nhighest = \"dctcp\"\namong = [\"dctcp\", \"rcc\"]"),
            ),
            (
                "no-rank-among-zeros",
                &format!("{drops}\nlowest = \"rcc\"\nat = {{ \"workload.senders\" = 10 }}"),
            ),
        ],
    );
}

#[test]
fn what_is_in_a_tie_shares_its_places() {
    // NewReno fills the queue with 40 senders and with 100, to within a packet; RCC does not.
    let highest = "at = { \"workload.senders\" = 40 }\nmeasure = \"queue_max_bytes\"\nhighest = \"newreno\"\n\
        among = [{ scheme = \"newreno\", at = { \"workload.senders\" = 100 } }, \"rcc\"]";
    judge_all(
        "judging_ties",
        "order",
        &[
            ("yes-first", highest),
            ("yes-second", &format!("{highest}\nplace = 2")),
            ("no-third", &format!("{highest}\nplace = 3")),
            (
                "yes-not-above",
                "at = { \"workload.senders\" = 40 }\nmeasure = \"queue_max_bytes\"\n\
                 sorted = [\"rcc\", \"newreno\", { scheme = \"newreno\", at = { \"workload.senders\" = 100 } }]",
            ),
        ],
    );
}

/// Ten packets in one window. Of shares of 0.01, 0.1 and 0.17 the periodic loss takes none, the last, which
/// costs a timeout of 200 ms, and the sixth, which costs a round trip.
const LOST_TAIL: &str = r#"
title = "A lost tail"
figure = "Fig. 1"
scale = "as the test says"
schemes = ["newreno"]

[bottleneck]
loss = [0.01, 0.1, 0.17]
loss_pattern = "periodic"

[workload]
senders = 1
size = "10pkt"
"#;

#[test]
fn peaks_and_valleys_are_told_from_each_other_and_have_a_place() {
    let goodput = "measure = \"goodput_bps\"\nof = \"newreno\"";
    let slowest = "measure = \"fct_max_us\"\nof = \"newreno\"";
    judge_about(
        LOST_TAIL,
        "judging_peaks",
        "shape",
        &[
            (
                "yes-valley",
                &format!("{goodput}\nshape = \"valley\"\nlocation = 0.1"),
            ),
            (
                "no-valley-elsewhere",
                &format!("{goodput}\nshape = \"valley\"\nlocation = 0.01"),
            ),
            ("no-peak", &format!("{goodput}\nshape = \"peak\"")),
            (
                "yes-peak",
                &format!("{slowest}\nshape = \"peak\"\nlocation = 0.1"),
            ),
            ("no-valley", &format!("{slowest}\nshape = \"valley\"")),
        ],
    );
}

#[test]
fn shapes_are_told_from_their_opposites() {
    let drops = "measure = \"drops\"\nof = \"newreno\"";
    let queue = "measure = \"queue_max_bytes\"\nof = \"newreno\"";
    judge_all(
        "judging_shapes",
        "shape",
        &[
            (
                "yes-constant",
                "measure = \"drops\"\nof = \"rcc\"\nshape = \"constant\"",
            ),
            ("no-constant", &format!("{drops}\nshape = \"constant\"")),
            (
                "partly-constant",
                "measure = \"drops\"\nof = [\"rcc\", \"newreno\"]\nshape = \"constant\"",
            ),
            ("yes-rising", &format!("{drops}\nshape = \"rising\"")),
            ("no-falling", &format!("{drops}\nshape = \"falling\"")),
            (
                "no-rising",
                "measure = \"drops\"\nof = \"rcc\"\nshape = \"rising\"",
            ),
            (
                "yes-below",
                &format!("{queue}\nshape = \"below\"\nlevel = \"121KB\""),
            ),
            (
                "partly-above",
                &format!("{queue}\nshape = \"above\"\nlevel = \"119KB\""),
            ),
            (
                "no-below",
                &format!("{queue}\nshape = \"below\"\nlevel = \"50pkt\""),
            ),
            (
                "yes-reaches",
                &format!("{queue}\nshape = \"reaches\"\nlevel = \"80pkt\""),
            ),
            (
                "no-reaches",
                &format!("{queue}\nshape = \"reaches\"\nlevel = \"90pkt\""),
            ),
            (
                "yes-near",
                &format!("{queue}\nshape = \"near\"\nlevel = \"112KB\"\ntolerance = 0.1"),
            ),
            (
                "no-near",
                &format!("{queue}\nshape = \"near\"\nlevel = \"12KB\""),
            ),
            (
                "yes-equal",
                "measure = \"drops\"\nof = [\"rcc\", \"newreno\"]\nshape = \"equal\"\nat = { \"workload.senders\" = 10 }",
            ),
            (
                "no-equal",
                "measure = \"drops\"\nof = [\"rcc\", \"newreno\"]\nshape = \"equal\"",
            ),
            (
                "yes-greater",
                &format!(
                    "{drops}\nshape = \"greater\"\nthan = \"dctcp\"\nfactor = 1.5\nexcept = {{ \"workload.senders\" = 10 }}"
                ),
            ),
            (
                "no-less",
                &format!("{drops}\nshape = \"less\"\nthan = \"dctcp\""),
            ),
        ],
    );
}

#[test]
fn a_cause_has_several_settings_and_is_weighed_against_all_claims_about_its_runs() {
    let none = "measure = \"drops\"\nof = \"newreno\"\naverage = \"max\"\npaper = 0";
    let some = "measure = \"drops\"\nof = \"newreno\"\nat = { \"workload.senders\" = 100 }\n\
        shape = \"above\"\nlevel = 0";
    let queue = "measure = \"queue_max_bytes\"\nof = \"newreno\"\nat = { \"workload.senders\" = 100 }\n\
        shape = \"below\"\nlevel = \"121KB\"";
    let figure = [
        INCAST,
        &claim("no-drops", "number", none),
        &claim("yes-drops", "shape", some),
        &claim("yes-queue", "shape", queue),
        "[[cause]]\nid = \"buffer\"\nsays = \"the buffer has room for all\"\n",
        "set = { \"switch.buffer\" = \"unlimited\", \"tcp.initial_window\" = 2 }\nschemes = [\"newreno\"]\n",
    ];
    let folder = Folder::with("judging_causes", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let cause = &figure.causes[0];
    assert_eq!(
        cause.change(),
        "switch.buffer = unlimited, tcp.initial_window = 2"
    );
    let run = folder.run(figure, &[], "run");
    assert_as_named(figure, &bench(&run));
    let sets = ["switch.buffer=unlimited", "tcp.initial_window=2"];
    let changed = folder.run(figure, &sets, "changed");
    let bench = bench(&run);
    let with = bench.with(cause, Some(&changed));
    let mut effect = Effect::default();
    let both = findings(figure, &bench)
        .into_iter()
        .zip(findings(figure, &with));
    for ((_, before), (_, after)) in both {
        effect.add(before.verdict, after.verdict);
    }
    // If there is room for all, nothing is lost. One claim asks for that, and another forbids it. The queue is longer
    // than a third claim says.
    assert_eq!(effect.to_string(), "explains 1, breaks 2");
    let tried = |effect| TriedCause::new(&figure.claims[0], cause, &with, effect).unwrap();
    assert_eq!(tried(effect).finding.verdict, Verdict::Reproduced);
    assert!(!tried(effect).explains(), "it breaks more than it explains");
    let gain = Effect {
        explains: 3,
        ..effect
    };
    assert!(tried(gain).explains());
    let judged = Judged::new(figure, &figure.claims[0], &bench, "as the test says").unwrap();
    assert!(judged.id.ends_with("/fig1/no-drops"), "{}", judged.id);
    assert_eq!(judged.seeds, 3);
}

#[test]
fn a_cause_shows_how_far_it_moves_the_numbers_of_a_figure() {
    let queue = "measure = \"queue_max_bytes\"\nof = \"newreno\"\nat = { \"workload.senders\" = 100 }\n\
        paper = 120\nunit = \"KB\"";
    let figure = [
        INCAST,
        &claim("yes-full", "number", queue),
        "[[cause]]\nid = \"twice\"\nsays = \"the buffer is twice as large\"\n",
        "set = { \"switch.buffer\" = \"160pkt\" }\n",
    ];
    let folder = Folder::with("judging_shifts", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let run = folder.run(figure, &[], "run");
    let changed = folder.run(figure, &["switch.buffer=160pkt"], "changed");
    let bench = bench(&run);
    let (claim, cause) = (&figure.claims[0], &figure.causes[0]);
    let judged = [Judged::new(figure, claim, &bench, "a test").unwrap()];
    let with = judge(claim, &bench.with(cause, Some(&changed))).unwrap();
    // The queue fills the buffer in both; ln 2 is 0.693.
    let mut bias = Bias::of(&judged).expect("one number");
    bias.add_cause(&judged, "no change".into(), |_| None);
    bias.add_cause(&judged, cause.change(), |_| with.value);
    assert_eq!(
        bias.to_string(),
        "1 times the paper's in the median of 1 number; |ln(ours/paper)| 0; 0.693 with switch.buffer = 160pkt"
    );
}

#[test]
fn a_cause_may_be_how_the_values_of_a_series_are_counted() {
    let measure = "measure = { series = \"queue_bytes\", statistic = \"mean\" }\nof = \"newreno\"\n\
        at = { \"workload.senders\" = 100 }\npaper = 0\nunit = \"B\"";
    let figure = [
        INCAST,
        &claim("no-series", "number", measure),
        &claim(
            "no-metric",
            "number",
            &measure.replace(
                "{ series = \"queue_bytes\", statistic = \"mean\" }",
                "\"queue_mean_bytes\"",
            ),
        ),
        "[[cause]]\nid = \"list\"\nsays = \"a list of changes\"\nweight = \"change\"\n",
    ];
    let folder = Folder::with("judging_weights", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    assert_eq!(
        figure.causes[0].change(),
        "values of a series count once each"
    );
    let sets = ["trace.series=queue", "trace.interval=change"];
    let run = folder.run(figure, &sets, "run");
    let bench = bench(&run);
    let value = |bench: &Bench<'_>, claim: usize| findings(figure, bench)[claim].1.value.unwrap();
    // Weighted by time, the series says what the metric does; NewReno's queue is empty for long stretches,
    // which a list of changes does not show.
    let (series, metric) = (value(&bench, 0), value(&bench, 1));
    assert!((series / metric - 1.0).abs() < 1e-3, "{series} {metric}");
    let listed = value(&bench.with(&figure.causes[0], None), 0);
    assert!(listed > 1.2 * series, "{listed} {series}");
}

#[test]
fn a_cause_may_be_whose_clock_ends_flows() {
    let mean = |measure: &str| {
        format!(
            "measure = {measure}\nof = \"newreno\"\nat = {{ \"workload.senders\" = 100 }}\npaper = 0\nunit = \"us\""
        )
    };
    let figure = [
        INCAST,
        &claim(
            "no-receiver",
            "number",
            &mean("{ flows = \"fct_us\", statistic = \"mean\" }"),
        ),
        &claim(
            "no-sender",
            "number",
            &mean("{ flows = \"acknowledged_us\", statistic = \"mean\" }"),
        ),
        "[[cause]]\nid = \"clock\"\nsays = \"senders tell\"\nclock = \"sender\"\n",
    ];
    let folder = Folder::with("judging_clocks", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let run = folder.run(figure, &[], "run");
    let bench = bench(&run);
    let values = |bench: &Bench<'_>| {
        let findings = findings(figure, bench).into_iter();
        let values: Vec<f64> = findings
            .map(|(_, finding)| finding.value.unwrap())
            .collect();
        values
    };
    let (own, told) = (values(&bench), values(&bench.with(&figure.causes[0], None)));
    assert!(own[0] < own[1], "the ACK arrives later: {own:?}");
    assert_eq!(told, [own[1], own[1]].to_vec());
}

#[test]
fn a_cause_may_be_tried_at_some_values_alone() {
    let drops = "measure = \"drops\"\n";
    let lowest = format!("{drops}lowest = \"newreno\"\n");
    let below =
        |more: &str| format!("{drops}of = \"newreno\"\nshape = \"below\"\nlevel = 1\n{more}");
    let figure = [
        INCAST,
        &claim("each", "order", &lowest),
        &claim(
            "excepted",
            "order",
            &format!("{lowest}except = {{ \"workload.senders\" = 100 }}"),
        ),
        &claim(
            "there",
            "number",
            &format!("{drops}of = \"newreno\"\npaper = 0\nat = {{ \"workload.senders\" = 100 }}"),
        ),
        &claim(
            "together",
            "number",
            &format!("{drops}of = \"newreno\"\npaper = 0\naverage = \"max\""),
        ),
        &claim(
            "along",
            "shape",
            &format!("{drops}of = \"newreno\"\nshape = \"rising\""),
        ),
        &claim("everywhere", "shape", &below("")),
        &claim("of-all", "shape", &below("average = \"max\"")),
        "[[cause]]\nid = \"buffer\"\nsays = \"room for all\"\nset = { \"switch.buffer\" = \"unlimited\" }\n",
        "at = { \"workload.senders\" = 100 }\n",
    ];
    let folder = Folder::with("judging_parts", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let cause = &figure.causes[0];
    assert_eq!(
        cause.change(),
        "switch.buffer = unlimited, only at workload.senders = 100"
    );
    let tried = figure
        .claims
        .iter()
        .filter_map(|claim| cause.tried_on(claim));
    let tried: Vec<_> = tried.collect();
    let names = tried.iter().map(|claim| claim.id.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["each", "there", "everywhere"]);
    let run = folder.run(figure, &[], "run");
    let sets = ["switch.buffer=unlimited", "workload.senders=100"];
    let changed = folder.run(figure, &sets, "changed");
    let bench = bench(&run);
    let with = bench.with(cause, Some(&changed));
    let verdicts = |bench: &Bench<'_>| {
        let verdicts = tried
            .iter()
            .map(|claim| judge(claim, bench).unwrap().verdict);
        verdicts.collect::<Vec<_>>()
    };
    // A hundred senders overflow the buffer; with room for all nothing is lost, so that there is no order.
    assert_eq!(
        verdicts(&bench)[1..],
        [Verdict::NotReproduced, Verdict::NotReproduced]
    );
    assert_eq!(
        verdicts(&with)[1..],
        [Verdict::Reproduced, Verdict::Reproduced]
    );
}

#[test]
fn runs_of_other_figures_can_be_compared_with() {
    let figure = [
        INCAST,
        &claim(
            "yes-shorter",
            "number",
            "measure = \"queue_max_bytes\"\nof = \"newreno\"\nagainst = { scheme = \"newreno\", run = \"fig2\" }\n\
             compare = \"ratio\"\nat = { \"workload.senders\" = 100 }\npaper = 0.5\n",
        ),
    ];
    let folder = Folder::with("judging_others", &figure.concat());
    let other = INCAST.replace(
        "[workload]\n",
        "[switch]\nbuffer = \"160pkt\"\n\n[workload]\n",
    );
    folder.write("fig2.toml", &other.replace("[10, 40, 100]", "[100]"));
    let paper = folder.paper();
    let own = folder.run(&paper.experiments[0], &[], "own");
    let other = folder.run(&paper.experiments[1], &[], "other");
    let mut bench = bench(&own);
    let missing = &findings(&paper.experiments[0], &bench)[0].1;
    assert_eq!(missing.verdict, Verdict::NotReproduced, "{missing:?}");
    bench.others.insert("fig2", &other);
    assert_as_named(&paper.experiments[0], &bench);
}

#[test]
fn checks_of_our_own_are_judged_and_not_counted() {
    let drops = "measure = \"drops\"\nof = \"newreno\"\nat = { \"workload.senders\" = 40 }";
    // NewReno drops about 167 packets.
    let figure = [
        INCAST,
        &claim("yes-near", "number", &format!("{drops}\npaper = 167")),
        &claim("no-far", "number", &format!("{drops}\npaper = 1670")),
        &claim(
            "partly-range",
            "number",
            &format!("{drops}\npaper = [180, 190]"),
        ),
        &claim(
            "yes-own",
            "number",
            &format!("{drops}\npaper = 167\nown = \"the paper has no drops\""),
        ),
    ];
    let folder = Folder::with("judging_own", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let run = folder.run(figure, &[], "run");
    assert_as_named(figure, &bench(&run));
    let judged = |figure: &Experiment| -> Vec<Judged> {
        let claims = figure.claims.iter();
        let judged = claims.map(|claim| Judged::new(figure, claim, &bench(&run), "a test"));
        judged.collect::<Result<_, _>>().unwrap()
    };
    let claims = judged(figure);
    let counts = Counts::of(claims.iter());
    assert_eq!((counts.verdicts, counts.own), ([1, 1, 1, 0], 1));
    assert_eq!(
        counts.to_string(),
        "3 claims: 1 reproduced, 1 partly, 1 not reproduced; beside them 1 check of our own"
    );
    // The median of 1 and 0.1; neither the range nor the check counts.
    let bias = Bias::of(&claims).expect("two numbers");
    assert_eq!(bias.numbers, 2);
    assert!((bias.median - 0.55).abs() < 0.05, "{bias}");
    // The mean of ln 1 and ln 10.
    let difference = bias.difference.expect("both are positive");
    assert!((difference - 1.15).abs() < 0.05, "{bias}");
    let shared = Experiment {
        counted_in: Some("rcc/fig5a".into()),
        ..figure.clone()
    };
    let counts = Counts::of(judged(&shared).iter());
    assert_eq!((counts.claims(), counts.own, counts.elsewhere), (0, 1, 3));
}

#[test]
fn a_large_reduction_is_judged_by_what_remains() {
    judged_by_what_remains("reduction", |paper| {
        format!(
            "at = {{ \"workload.senders\" = 100 }}\nmeasure = \"queue_max_bytes\"\nof = \"rcc\"\n\
             against = \"newreno\"\ncompare = \"reduction\"\nunit = \"%\"\npaper = {paper}"
        )
    });
}

#[test]
fn a_large_share_of_flows_is_judged_by_what_remains() {
    judged_by_what_remains("share", |paper| {
        format!(
            "at = {{ \"workload.senders\" = 100 }}\nof = \"newreno\"\n\
             measure = {{ flows = \"fct_us\", statistic = \"share\", above = \"12ms\" }}\nunit = \"%\"\npaper = {paper}"
        )
    });
}

/// Judges a claim whose number is between 50 and 100 % as it is, a fifth off, and far off in what remains.
fn judged_by_what_remains(name: &str, of: impl Fn(f64) -> String) {
    let figure = format!("{INCAST}{}", claim("x", "number", &of(52.0)));
    let folder = Folder::with(&format!("judging_{name}_first"), &figure);
    let paper = folder.paper();
    let run = folder.run(&paper.experiments[0], &[], "run");
    let ours = findings(&paper.experiments[0], &bench(&run));
    let ours = ours[0].1.value.expect("it was measured");
    let remains = 100.0 - ours;
    assert!(remains > 0.0 && ours > 50.0, "{ours}");
    judge_all(
        &format!("judging_{name}"),
        "number",
        &[
            ("yes-near", &of(100.0 - remains / 1.15)),
            // Within a fifth of the whole number, and not of what remains.
            ("partly-a-fifth-of-it", &of(100.0 - remains / 1.3)),
            ("no-a-third", &of(100.0 - remains / 3.0)),
        ],
    );
}

#[test]
fn a_claim_is_judged_by_every_reading_and_counted_by_that_of_the_text() {
    let queue =
        "measure = \"drops\"\nof = \"newreno\"\nat = { \"workload.senders\" = 100 }\npaper = 0";
    let figure = [
        INCAST,
        "[reading.text]\nsays = \"the switch has a buffer\"\n",
        "[reading.code]\nsays = \"it has none\"\nset = { \"switch.buffer\" = \"unlimited\" }\nschemes = [\"newreno\"]\n",
        &claim("no-drops", "number", queue),
    ];
    let folder = Folder::with("judging_readings", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let [text, code] = &figure.readings[..] else {
        panic!("two readings: {:?}", figure.readings)
    };
    assert!(text.is_base() && !code.is_base());
    let run = folder.run(figure, &[], "run");
    let changed = folder.run(figure, &["switch.buffer=unlimited"], "changed");
    let bench = bench(&run);
    let claim = &figure.claims[0];
    let mut judged = Judged::new(figure, claim, &bench, "as the test says").unwrap();
    let with = bench.with(code, Some(&changed));
    judged
        .readings
        .push(OtherReading::new(claim, code, &with).unwrap());
    assert_eq!(judged.finding.verdict, Verdict::NotReproduced);
    assert_eq!(judged.verdict_by("code"), Verdict::Reproduced);
    let counts = Counts::of([&judged].into_iter());
    assert_eq!(
        (counts.verdicts, counts.by_code),
        ([0, 0, 1, 0], [1, 0, 0, 0])
    );
    let said = "1 claim: 0 reproduced, 1 not reproduced; by the published code 1 reproduced";
    assert_eq!(counts.to_string(), said);

    // A claim whose verdict changes with random lateness of links counts as neither.
    let late = judged.readings.pop().unwrap();
    judged.phases.push(late);
    let counts = Counts::of([&judged].into_iter());
    assert_eq!((counts.claims(), counts.order), (0, 1));
    judged.phases.clear();
    judged.standing = Standing::Weaker("by the figure".to_owned());
    assert_eq!(Counts::of([&judged].into_iter()).weaker, [0, 0, 1, 0]);
}

#[test]
fn a_reading_can_compare_averages_of_the_same_runs() {
    let drops = "measure = \"queue_max_bytes\"\nof = \"rcc\"\nagainst = \"newreno\"\ncompare = \"ratio\"\npaper = 1";
    let reading = "[reading.code]\nsays = \"averages are compared\"\nof_averages = true\n";
    let figure = [INCAST, reading, &claim("x", "number", drops)];
    let folder = Folder::with("judging_averages", &figure.concat());
    let paper = folder.paper();
    let figure = &paper.experiments[0];
    let run = folder.run(figure, &[], "run");
    let bench = bench(&run);
    let code = &figure.readings[0];
    assert_eq!(code.change(), "averages over the axes are compared");
    let own = judge(&figure.claims[0], &bench).unwrap().value.unwrap();
    let with = bench.with(code, None);
    let compared = judge(&figure.claims[0], &with).unwrap().value.unwrap();
    assert!((own - compared).abs() > 1e-6, "{own} {compared}");
}
