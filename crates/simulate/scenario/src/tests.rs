//! Tests of reading, precedence, sweeps, variants and writing out.

mod buffers;
mod flow_traces;
mod links;
mod metrics;
mod plans;
mod profiles;
mod twins;

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;

fn load(text: &str, sets: &[&str]) -> Result<Scenario, Problems> {
    let overrides = Overrides {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    Scenario::load(Source::new("my.toml", text), &overrides)
}

fn scenario(text: &str, sets: &[&str]) -> Scenario {
    load(text, sets).unwrap()
}

fn message(text: &str, sets: &[&str]) -> String {
    load(text, sets).err().expect("a mistake").to_string()
}

/// `key` of every point under the first scheme, in order.
fn texts(scenario: &Scenario, key: &str) -> Vec<String> {
    let first = scenario.schemes()[0];
    let points = scenario
        .points()
        .iter()
        .filter(|point| point.scheme == first);
    points.map(|point| point.text(key).to_owned()).collect()
}

#[test]
fn every_built_in_scenario_loads_without_a_warning() {
    for builtin in BUILTINS {
        let scenario = Scenario::builtin(builtin.name);
        assert_eq!(scenario.name(), builtin.name);
        assert!(scenario.warnings().is_empty(), "{}", builtin.name);
        assert!(scenario.title().is_some());
    }
}

#[test]
fn a_scenario_names_settings_to_explore_and_no_others() {
    let explored = |list: &str| {
        let text = format!("explore = {list}\nschemes = [\"newreno\"]\n");
        load(&text, &[])
    };
    let scenario = explored("[\"link.rate\", \"tcp.min_rto\"]").unwrap();
    assert_eq!(scenario.explore(), ["link.rate", "tcp.min_rto"]);
    let wrong = explored("[\"link.speed\"]").err().expect("a mistake");
    assert!(
        wrong.to_string().contains("no setting link.speed"),
        "{wrong}"
    );
    let wrong = explored("\"link.rate\"").err().expect("a mistake");
    assert_eq!(wrong.to_string(), "wrong value for explore");
}

#[test]
fn an_unset_key_has_its_default_and_a_set_key_its_typed_value() {
    let scenario = scenario("link.delay = \"5us\"\nschemes = [\"newreno\"]", &[]);
    let point = &scenario.points()[0];
    assert_eq!(point.keys.link.delay, base::Span::from_micros(5));
    assert_eq!(point.text("tcp.min_rto"), "200ms");
    assert_eq!(point.set, []);
}

#[test]
fn settings_that_follow_from_an_axis_move_with_it() {
    let text = "columns = [\"workload.senders\", \"workload.size\"]\n[workload]\nsenders = [4, 48]\n\
        size = \"1MB / workload.senders\"\n[switch]\nbuffer = \"50pkt\"\necn_threshold = \"20%\"\n";
    let both = scenario(text, &[]);
    assert_eq!(texts(&both, "workload.size"), ["250KB", "20.833KB"]);
    assert_eq!(texts(&both, "switch.ecn_threshold"), ["10pkt", "10pkt"]);
    let set = |point: &PointSpec| point.set.clone();
    let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
    assert_eq!(
        set(&both.points()[both.points().len() - 1]),
        [
            pair("workload.senders", "48"),
            pair("workload.size", "20.833KB")
        ]
    );
    // The written scenario reads back with its expressions.
    let resolved = both.resolved();
    assert!(
        resolved.contains("size = \"1MB / workload.senders\""),
        "{resolved}"
    );
    assert_eq!(scenario(&resolved, &[]).resolved(), resolved);
    // The command line and searches can also set keys on which others depend.
    let sets = ["switch.buffer=40pkt..80pkt:20pkt", "workload.senders=2"];
    let swept = scenario(text, &sets);
    assert_eq!(
        texts(&swept, "switch.ecn_threshold"),
        ["8pkt", "12pkt", "16pkt"]
    );
    assert_eq!(texts(&swept, "workload.size"), ["500KB"; 3]);
    let set = scenario(
        "seed = 1",
        &[
            "workload.size=60KB / workload.senders",
            "workload.senders=3",
        ],
    );
    assert_eq!(texts(&set, "workload.size"), ["20KB"]);
}

#[test]
fn each_group_of_flows_works_out_an_expression_by_its_own_settings() {
    let text = "[workload]\nsize = \"1MB / workload.senders\"\n[group.a]\nworkload.senders = 4\n\
        [group.b]\nworkload.senders = 10\n";
    let loaded = scenario(text, &[]);
    let point = &loaded.points()[0];
    let sizes: Vec<_> = point
        .groups
        .iter()
        .map(|group| &group.texts["workload.size"])
        .collect();
    assert_eq!(sizes, ["250KB", "100KB"]);
}

#[test]
fn an_expression_follows_what_a_profile_sets() {
    let text = "tcp.profile = \"linux\"\ntcp.max_rto = \"tcp.min_rto * 20\"\n";
    let loaded = scenario(text, &[]);
    let point = &loaded.points()[0];
    let min: base::Span = point.text("tcp.min_rto").parse().unwrap();
    assert_eq!(point.keys.tcp.max_rto, min * 20);
}

#[test]
fn an_expression_without_a_value_is_refused_where_it_stands() {
    for (sets, expected) in [
        (
            &["workload.size=1MB / workload.sender"][..],
            "there is no setting workload.sender; did you mean `workload.senders`?",
        ),
        (
            &["workload.size=workload.size / 2"],
            "workload.size has no value here: workload.size follows from itself",
        ),
        (
            &[
                "link.delay=bottleneck.delay / 2",
                "bottleneck.delay=link.delay / 2",
            ],
            "follows from itself",
        ),
        (
            &["switch.buffer=unlimited", "switch.ecn_threshold=20%"],
            "switch.ecn_threshold has no value here: switch.buffer = unlimited is no number",
        ),
        (
            &[
                "workload.senders=7",
                "workload.receivers=workload.senders / 2",
            ],
            "expected a whole number of at least 1; found \"3.5\"",
        ),
    ] {
        let message = message("seed = 1", sets);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn tables_dotted_and_quoted_keys_are_the_same_setting() {
    for text in [
        "[tcp]\nmss = 1000",
        "tcp.mss = 1000",
        "tcp = { mss = \"1000\" }",
        "'tcp.mss' = 1000",
    ] {
        assert_eq!(
            scenario(text, &[]).points()[0].keys.tcp.mss,
            Count(1000),
            "{text}"
        );
    }
}

#[test]
fn the_command_line_is_stronger_than_a_variant_and_a_variant_than_the_file() {
    let text = "tcp.initial_window = 2\nschemes = [\"newreno\", \"wide\"]\n\
                [variant.wide]\nbase = \"newreno\"\ntcp.initial_window = 10";
    let windows = |scenario: &Scenario| -> Vec<u32> {
        let points = scenario.points().iter();
        points
            .map(|point| point.keys.tcp.initial_window.0)
            .collect()
    };
    assert_eq!(windows(&scenario(text, &[])), [2, 10]);
    assert_eq!(windows(&scenario(text, &["tcp.initial_window=4"])), [4, 4]);
}

#[test]
fn a_variant_keeps_its_name_and_runs_its_base() {
    let text = "[variant.gentle]\nbase = \"dctcp\"\ndctcp.g = 0.125";
    let scenario = scenario(text, &[]);
    let point = &scenario.points()[0];
    assert_eq!(
        (point.scheme.as_str(), point.bundle.as_str()),
        ("gentle", "dctcp")
    );
    assert_eq!(point.text("dctcp.g"), "0.125");
}

#[test]
fn a_list_in_the_file_and_a_range_on_the_command_line_are_axes() {
    let text = "schemes = [\"newreno\"]\nworkload.senders = [10, 20]";
    let swept = scenario(text, &["switch.buffer=64KB..192KB:64KB"]);
    assert_eq!(swept.set_keys(), ["workload.senders", "switch.buffer"]);
    assert_eq!(swept.points().len(), 6);
    // The last axis changes fastest.
    assert_eq!(
        texts(&swept, "workload.senders"),
        ["10", "10", "10", "20", "20", "20"]
    );
    assert_eq!(
        texts(&swept, "switch.buffer")[..3],
        ["64KB", "128KB", "192KB"]
    );

    // A key that the file sets to one value becomes an axis after those of the file.
    let text = "schemes = [\"newreno\"]\ntcp.mss = 1000\nworkload.senders = [10, 20]";
    let later = scenario(text, &["tcp.mss=500,600"]);
    assert_eq!(later.set_keys(), ["workload.senders", "tcp.mss"]);

    let overridden = scenario(text, &["workload.senders=10..100:10"]);
    assert_eq!(texts(&overridden, "workload.senders").len(), 10);
}

#[test]
fn a_single_value_of_the_command_line_is_reported_but_multiplies_nothing() {
    let scenario = scenario("schemes = [\"newreno\"]", &["workload.senders=90"]);
    assert_eq!(scenario.points().len(), 1);
    assert_eq!(
        scenario.points()[0].set,
        [("workload.senders".into(), "90".into())]
    );
}

#[test]
fn points_are_axes_times_schemes_times_seeds() {
    let text = "schemes = [\"newreno\", \"rcc\"]\nseed = 7\nseeds = 2\n\
                workload.senders = [1, 2]\nworkload.jitter = \"1us\"";
    let scenario = scenario(text, &[]);
    let order: Vec<_> = scenario
        .points()
        .iter()
        .map(|point| {
            (
                point.index,
                point.set[0].1.as_str(),
                point.scheme.as_str(),
                point.seed,
            )
        })
        .collect();
    assert_eq!(
        order,
        [
            (0, "1", "newreno", 7),
            (1, "1", "newreno", 8),
            (2, "1", "rcc", 7),
            (3, "1", "rcc", 8),
            (4, "2", "newreno", 7),
            (5, "2", "newreno", 8),
            (6, "2", "rcc", 7),
            (7, "2", "rcc", 8),
        ]
    );
}

#[test]
fn a_resolved_scenario_reads_back_into_the_same_points() {
    let text = "schemes = [\"newreno\", \"gentle\"]\nworkload.senders = [10, 20]\ntcp.sack = false\n\
                [variant.gentle]\nbase = \"dctcp\"\ndctcp.g = 0.125\ntcp.mss = 1000";
    let first = scenario(text, &["switch.buffer=128KB,256KB", "tcp.mss=900"]);
    let second = scenario(&first.resolved(), &[]);
    let points = |scenario: &Scenario| -> Vec<_> {
        let points = scenario.points().iter();
        points
            .map(|point| (point.scheme.clone(), point.set.clone(), point.texts.clone()))
            .collect()
    };
    assert_eq!(points(&second), points(&first));
    assert_eq!(second.resolved(), first.resolved());
}

#[test]
fn contradictions_are_found_in_every_combination() {
    let text = "schemes = [\"newreno\"]\nswitch.buffer = [\"80pkt\", \"30pkt\"]";
    assert!(message(text, &[]).contains("above the buffer"));
    assert!(message("workload.kind = \"pairs\"", &[]).contains("middle link"));
    assert!(message("workload.size = \"unlimited\"", &[]).contains("never end"));
    assert!(
        message("switch.unit = \"packets\"\nswitch.buffer = \"64KB\"", &[])
            .contains("counts packets")
    );
    assert!(message("tcp.mss = 65535", &[]).contains("65575 bytes"));
    assert!(message("tcp.min_rto = \"90s\"", &[]).contains("exceeds tcp.max_rto"));
    assert!(message("topology.hosts = 10", &[]).contains("do not fit on 10 hosts"));
}

#[test]
fn shapes_that_no_network_has_are_refused() {
    let fat = "topology.kind = \"fat-tree\"";
    assert!(message(fat, &["topology.pods=5"]).contains("even number of pods, not 5"));
    assert!(message(fat, &["topology.hosts=3"]).contains("has 2 hosts at every edge switch"));
    assert!(message(fat, &["topology.pods=2"]).contains("do not fit on 1 hosts"));
    let leaf = "topology.kind = \"leaf-spine\"";
    assert!(message(leaf, &["topology.spines=0"]).contains("at least 1"));
    assert!(message(leaf, &["topology.oversubscription=0"]).contains("above 0"));
    let twice = ["topology.oversubscription=4", "bottleneck.rate=1Gbps"];
    assert!(message(leaf, &twice).contains("both give the uplinks a rate"));
    let star = message("name = \"x\"", &["topology.oversubscription=4"]);
    assert!(star.contains("have an oversubscription"));
    let many = ["topology.racks=2000", "topology.spines=2000"];
    assert!(message(leaf, &many).contains("4000000 links between switches"));
}

#[test]
fn more_connections_than_events_can_tell_apart_are_refused() {
    let poisson = "[workload]\nkind = \"poisson\"\nflows = 9000000\n";
    let refused = message(poisson, &["topology.hosts=10"]);
    assert!(
        refused.contains("both ends of 9000000 connections are too many"),
        "{refused}"
    );
    assert!(refused.contains("16777215 are possible"), "{refused}");
    let shared = ["topology.hosts=10", "workload.connection=persistent"];
    assert!(load(poisson, &shared).is_ok());
}

#[test]
fn a_sweep_that_would_never_end_is_refused() {
    let many = ["workload.senders=1..1000:1", "tcp.mss=500..1000:1"];
    assert!(message("name = \"x\"", &many).contains("501000 combinations"));
    let seeds = load("seeds = 4000000000\nschemes = [\"newreno\"]", &[]);
    assert!(seeds.err().unwrap().to_string().contains("too many"));
}

#[test]
fn several_mistakes_are_reported_together() {
    let problems = load(
        "[tcp]\nmsss = 1\n[link]\nrate = 5\n[lnk]",
        &["a=b", "tcp.mss"],
    );
    assert_eq!(problems.err().unwrap().0.len(), 3);
}

#[test]
fn seeds_without_anything_random_are_worth_a_warning() {
    let warnings = |scheme: &str, set: &[&str]| {
        let text = format!("seeds = 3\nschemes = [\"{scheme}\"]");
        scenario(&text, set).warnings().len()
    };
    assert_eq!(warnings("newreno", &[]), 1);
    for random in [
        "workload.jitter=1us",
        "link.jitter=1us",
        "switch.loss=0.1",
        "bottleneck.loss=0.1",
        "bottleneck.ack_loss=0.1",
        "bottleneck.reordering=0.1",
        "bottleneck.duplication=0.1",
    ] {
        assert_eq!(warnings("newreno", &[random]), 0, "{random}");
    }
    // A ramp makes marks random, a step does not.
    assert_eq!(warnings("red-ecn", &[]), 0);
    assert_eq!(warnings("red", &["red.min=0.4"]), 1);
}

#[test]
fn a_setting_of_a_scheme_that_does_not_run_is_worth_a_warning() {
    let text = "schemes = [\"newreno\"]";
    assert_eq!(scenario(text, &["dctcp.g=0.5"]).warnings().len(), 1);
    // RDTCP reads RCC's settings, and PIAS runs over DCTCP.
    let pias = scenario("schemes = [\"pias\"]", &["dctcp.g=0.5"]);
    assert_eq!(pias.warnings().len(), 0);
    for (scheme, warnings) in [("rcc", 0), ("rdtcp", 0), ("rdtcp+newreno", 0), ("dctcp", 1)] {
        let text = format!("schemes = [\"{scheme}\"]");
        let found = scenario(&text, &["rcc.max_queue=20pkt"]).warnings().len();
        assert_eq!(found, warnings, "{scheme}");
    }
    // A file keeps the settings of all schemes with which it may run.
    assert_eq!(
        scenario("schemes = [\"newreno\"]\ndctcp.g = 0.5", &[])
            .warnings()
            .len(),
        0
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn garbage_is_refused_and_never_a_panic(text in "\\PC*") {
        drop(load(&text, &[]));
        drop(load("seed = 1", &[&text]));
    }

    #[test]
    fn nearly_correct_text_is_read_or_refused_and_never_a_panic(
        lines in prop::collection::vec((fragment(), "[= .,\\[\\]]{1,3}", fragment()), 0..6),
    ) {
        let text: Vec<_> = lines.iter().map(|(a, b, c)| format!("{a}{b}{c}")).collect();
        drop(load(&text.join("\n"), &[]));
        for line in &text {
            drop(load("seed = 1", &[line]));
        }
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let words = [
        "tcp",
        "tcp.mss",
        "mss",
        "[tcp",
        "[variant.a",
        "variant.a.base",
        "schemes",
        "seeds",
        "name",
        "",
        "workload.senders",
        "\"newreno\"",
        "[\"rcc\"]",
        "1..3:1",
        "\"1..3:1\"",
        "10",
        "\"10us\"",
        "-1",
        "1e99",
        "true",
        "1979-05-27",
        "[[tcp]",
        "{ mss = 1 }",
        "\"80pkt\"",
        "switch.buffer",
        "\u{1F980}",
        "\"\u{e9}..2:1\"",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned)
}

#[test]
fn what_is_traced_by_itself_depends_on_the_size_of_the_sweep() {
    let two = "schemes = [\"newreno\", \"dctcp\"]";
    let series = |sets: &[&str]| texts(&scenario(two, sets), "trace.series");
    assert_eq!(series(&[]), ["queue, cwnd, rwnd, events"]);
    assert_eq!(series(&["workload.senders=300"]), ["queue, events"]);
    assert_eq!(series(&["workload.senders=1,2"]), ["queue, events"; 2]);
    assert_eq!(series(&["workload.senders=1..51:1"]), ["off"; 51]);
    let seeds = texts(&scenario(&format!("seeds = 3\n{two}"), &[]), "trace.series");
    assert_eq!(seeds, ["queue, cwnd, rwnd, events", "off", "off"]);
}

#[test]
fn what_is_random_has_the_usual_seeds_unless_somebody_says_how_many() {
    let seeds = |text: &str, sets: &[&str], given: Option<u32>| {
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            seeds: given.and_then(NonZeroU32::new),
            usual_seeds: NonZeroU32::new(10),
            ..Overrides::default()
        };
        let scenario = Scenario::load(Source::new("my.toml", text), &overrides).unwrap();
        assert_eq!(scenario.points().len(), scenario.seeds() as usize);
        scenario.seeds()
    };
    let text = "schemes = [\"newreno\"]";
    assert_eq!(seeds(text, &[], None), 1);
    assert_eq!(seeds(text, &["link.jitter=auto"], None), 10);
    assert_eq!(seeds(text, &["link.jitter=auto"], Some(3)), 3);
    let two = format!("seeds = 2\n{text}");
    assert_eq!(seeds(&two, &["link.jitter=auto"], None), 2);
}

#[test]
fn the_order_of_events_is_the_seeds_where_anything_is_random_or_what_is_given() {
    let order = |sets: &[&str]| {
        let scenario = scenario("schemes = [\"newreno\"]\nseed = 7", sets);
        scenario.points()[0].order_seed()
    };
    assert_eq!(order(&[]), 1);
    assert_eq!(order(&["link.jitter=auto"]), 7);
    assert_eq!(order(&["run.tie_order=3"]), 3);
    assert_eq!(order(&["link.jitter=auto", "run.tie_order=3"]), 3);
}

#[test]
fn a_trace_is_chosen_by_names_in_one_text_and_is_no_axis() {
    let load = |sets: &[&str], trace: Option<&str>| {
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            trace: trace.map(str::to_owned),
            ..Overrides::default()
        };
        let text = "schemes = [\"newreno\"]\ntrace.series = \"off\"";
        Scenario::load(Source::new("my.toml", text), &overrides)
    };
    for (scenario, expected) in [
        (
            load(&["trace.series=cwnd,queue", "workload.senders=1,2"], None),
            "cwnd,queue",
        ),
        (
            load(&["workload.senders=1,2"], Some("cwnd,queue")),
            "cwnd, queue",
        ),
    ] {
        let scenario = scenario.unwrap();
        assert_eq!(texts(&scenario, "trace.series"), [expected; 2]);
        assert_eq!(scenario.set_keys(), ["workload.senders"]);
        let resolved = Scenario::load(
            Source::new("again.toml", scenario.resolved()),
            &Overrides::default(),
        );
        assert_eq!(texts(&resolved.unwrap(), "trace.series"), [expected; 2]);
    }
    let wrong = |sets: &[&str], trace| load(sets, trace).err().unwrap().to_string();
    assert!(wrong(&[], Some("quue")).contains("did you mean queue?"));
    assert!(wrong(&["trace.interval=1us..3us:1us"], None).contains("cannot be swept"));
    assert!(wrong(&["trace.flows=0,40"], None).contains("there is no flow 40 among 40 flows"));
    assert!(wrong(&["trace.window=0s"], None).contains("must be above 0"));
}

#[test]
fn what_is_asked_for_is_recorded_beside_what_is_recorded_anyway() {
    let load = |text: &str, trace: &str| {
        let overrides = Overrides {
            trace: Some(trace.to_owned()),
            ..Overrides::default()
        };
        let text = format!("schemes = [\"dctcp\"]\n{text}");
        let scenario = Scenario::load(Source::new("my.toml", text), &overrides).unwrap();
        texts(&scenario, "trace.series")
    };
    let all = "queue, cwnd, rwnd, events, alpha";
    assert_eq!(load("", "alpha"), [all]);
    assert_eq!(load("", "alpha,cwnd"), [all]);
    assert_eq!(load("", "off"), ["off"]);
    assert_eq!(load("seeds = 2", "alpha"), [all; 2], "of every seed");
    let swept = "workload.senders = [1, 2]";
    assert_eq!(load(swept, "alpha"), ["queue, events, alpha"; 2]);
    let many = format!("workload.senders = {:?}", (1..=101).collect::<Vec<u32>>());
    assert_eq!(load(&many, "alpha"), ["alpha"; 101]);
    // An argument also adds to the series that a file lists.
    let own = "trace.series = \"queue\"";
    assert_eq!(load(own, "alpha"), ["queue, alpha"]);
    assert_eq!(load("trace.series = \"auto, alpha\"", "queue"), [all]);
}

#[test]
fn a_trace_is_the_same_for_all_schemes() {
    let text = "[variant.mine]\nbase = \"newreno\"\ntrace.series = \"queue\"";
    assert!(message(text, &[]).contains("variant mine sets trace.series"));
    let text = "trace.series = [\"queue\", \"cwnd\"]";
    assert!(message(text, &[]).contains("cannot be swept"));
}

#[test]
fn a_message_in_parts_needs_a_connection_that_is_open() {
    for key in ["request_writes", "answer_writes"] {
        let set = format!("workload.{key}=2");
        let persistent = [
            "workload.kind=requests",
            "workload.connection=persistent",
            &set,
        ];
        let text = "schemes = \"newreno\"";
        assert!(load(text, &persistent).is_ok(), "{key}");
        let alone = [&*set];
        assert!(message(text, &alone).contains("only messages on open connections"));
    }
}

#[test]
fn a_flow_without_end_beside_others_of_its_host_is_warned_of() {
    let warned = |sets: &str| {
        let text = format!(
            "schemes = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n[run]\nduration = \"1s\"\n\
             [group.long.workload]\nsize = \"unlimited\"\nfrom = \"0:0\"\nto = \"1:0\"\nsenders = 1\n\
             [group.short.workload]\nfrom = \"0:0-1\"\nto = \"1:0\"\nsenders = 2\n{sets}"
        );
        let source = Source::new("test.toml", text);
        let scenario = Scenario::load(source, &Overrides::default()).unwrap();
        scenario
            .warnings()
            .iter()
            .any(|warning| warning.to_string().contains("starves the others"))
    };
    assert!(warned(""));
    assert!(!warned("[host]\nbuffer = \"100pkt\"\n"));
    assert!(!warned("[host]\nqueue = \"switch\"\n"));
    assert!(!warned("[tcp]\nsmall_queues = true\n"));
    assert!(!warned("[tcp]\nprofile = \"linux\"\n"));
}
