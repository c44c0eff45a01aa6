//! The answer's text about runs of many kinds, as snapshots that were read.

use results::{Keep, Summary, Transient};
use scenario::{Overrides, Scenario, Source};
use sim::run::Limits;

/// The answer to a scenario, without its cost.
fn block(text: &str) -> String {
    let source = Source::new("test.toml", text);
    let scenario = Scenario::load(source, &Overrides::default()).expect("a correct scenario");
    let kept = Transient::new(false);
    for point in scenario.points() {
        results::simulate(&kept, point, &scenario, Limits::NONE).expect("a simulation");
    }
    let results = kept.results(&scenario).expect("results of every point");
    answer::of_run(&Summary::new(&scenario, &results)).join("\n")
}

/// A test for each kind of run: its name, and the scenario after what all have in common.
macro_rules! blocks {
    ($($name:ident: $text:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(block(&[COMMON, $text].concat()));
        }
    )+};
}

/// Short timers, so that simulations end soon.
const COMMON: &str = "tcp.min_rto = \"10ms\"\nswitch.ecn_threshold = \"30pkt\"\n";

blocks! {
    incast: "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\nworkload.senders = 60\n";
    sweep_of_one_axis: "schemes = [\"newreno\", \"dctcp\"]\nworkload.senders = [10, 20, 40, 60]\n";
    one_scheme_along_an_axis: "schemes = [\"dctcp\"]\nworkload.senders = [10, 20, 40]\n";
    sweep_of_three_axes: "schemes = [\"newreno\", \"dctcp\"]\nworkload.senders = [20, 60]\nworkload.size = [\"16KB\", \"64KB\"]\ntcp.initial_window = [2, 10]\n";
    groups: "schemes = [\"dctcp\"]\n[group.reads]\nworkload.senders = 20\nworkload.from = \"0:1-20\"\nworkload.to = \"0:0\"\n[group.bulk]\nscheme = \"newreno\"\nworkload.senders = 2\nworkload.from = \"0:21-22\"\nworkload.to = \"0:0\"\nworkload.size = \"500KB\"\n";
    poisson: "schemes = [\"newreno\", \"dctcp\"]\ntopology.hosts = 8\n[workload]\nkind = \"poisson\"\nload = 0.5\nflows = 60\nsize = \"20KB\"\n";
    requests: "schemes = [\"newreno\", \"dctcp\"]\n[workload]\nkind = \"requests\"\nsenders = 8\nconnections = 16\nrequests = 4\nsize = \"10KB\"\n";
    pairs: "schemes = [\"newreno\", \"cubic\"]\ntopology.kind = \"dumbbell\"\n[workload]\nkind = \"pairs\"\nsenders = 4\nsize = \"200KB\"\n";
    one_flow: "schemes = [\"newreno\"]\nworkload.senders = 1\n";
    ties: "schemes = [\"newreno\", \"dctcp\", \"cubic\"]\nworkload.senders = 2\n";
    nothing_finished: "schemes = [\"newreno\", \"dctcp\"]\nworkload.size = \"10MB\"\nrun.duration = \"30ms\"\n";
    some_unfinished: "schemes = [\"newreno\", \"rcc\"]\nworkload.senders = 60\nrun.duration = \"22ms\"\n";
    flows_without_an_end: "schemes = [\"newreno\", \"dctcp\"]\nworkload.senders = 4\nworkload.size = \"unlimited\"\nrun.duration = \"60ms\"\n";
    several_seeds: "schemes = [\"newreno\", \"dctcp\"]\nseeds = 4\nworkload.jitter = \"200us\"\nworkload.senders = 40\n";
    one_goal_that_is_met: "schemes = [\"rcc\"]\ngoals = \"p99 < 20ms\"\nworkload.senders = 40\n";
    one_goal_that_is_missed: "schemes = [\"newreno\"]\ngoals = \"p99 < 15ms\"\nworkload.senders = 60\n";
    goals_met_by_some: "schemes = [\"newreno\", \"dctcp\", \"rcc\"]\ngoals = [\"p99 < 15ms\"]\nworkload.senders = [20, 40, 60]\n";
    goals_met_by_none: "schemes = [\"newreno\", \"dctcp\"]\ngoals = [\"p99 < 3ms\", \"goodput > 900Mbps\"]\nworkload.senders = [20, 40]\n";
    goals_of_a_group_and_a_class: "schemes = [\"dctcp\", \"newreno\"]\ngoals = [\"reads.p99 < 25ms\", \"<=100KB.timeouts <= 0\"]\nrun.classes = \"100KB\"\nswitch.buffer = [\"40pkt\", \"160pkt\"]\n[group.reads]\nworkload.senders = 20\nworkload.from = \"0:1-20\"\nworkload.to = \"0:0\"\n[group.bulk]\nworkload.senders = 2\nworkload.from = \"0:21-22\"\nworkload.to = \"0:0\"\nworkload.size = \"500KB\"\n";
    goals_over_two_axes: "schemes = [\"newreno\", \"dctcp\"]\ngoals = \"p99 < 12ms\"\nworkload.senders = 40\nswitch.buffer = [\"40pkt\", \"80pkt\", \"160pkt\", \"320pkt\"]\ntcp.initial_window = [2, 10]\n";
    a_goal_that_chance_decides: "schemes = [\"newreno\"]\ngoals = \"p99 < 20ms\"\nseeds = 4\nworkload.jitter = \"200us\"\nworkload.senders = 40\n";
    a_goal_that_queueing_decides: "schemes = [\"dctcp\", \"rcc\"]\ngoals = \"p99 < 5ms\"\nworkload.senders = [10, 20]\nswitch.buffer = \"unlimited\"\n";
    trace: "schemes = [\"newreno\", \"dctcp\"]\ntopology.hosts = 21\n[workload]\nkind = \"trace\"\ntrace = \"rack\"\n";
    deadlines: "schemes = [\"newreno\", \"rcc\"]\ngoals = \"flows_late <= 0\"\nworkload.senders = 40\nworkload.deadline = \"15ms\"\n";
    a_goal_where_flows_do_not_end: "schemes = [\"newreno\", \"rcc\"]\ngoals = \"p99 < 50ms\"\nworkload.senders = 60\nrun.duration = \"22ms\"\n";
}
