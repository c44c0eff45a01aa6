//! Wrong files and wrong command lines through the real command: each is refused with exit status 2
//! and a message that names the place, the cause and a remedy.
//!
//! The messages are snapshots, read and accepted like code.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn tailwater(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tailwater"))
            .args(arguments)
            .current_dir(&self.0)
            .env_remove("RUST_BACKTRACE")
            .output()
            .expect("the command runs")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The command's message on standard error when it refuses its input.
fn refusal(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).expect("messages are text");
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "",
        "nothing is answered"
    );
    assert!(
        !text.contains("panicked") && !text.contains('\u{1b}'),
        "{text}"
    );
    text
}

fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    file_with(name, contents, &[])
}

fn file_with(name: &str, contents: impl AsRef<[u8]>, arguments: &[&str]) -> String {
    let folder = Folder::new(name);
    fs::write(folder.0.join("my.toml"), contents).expect("a file for the test");
    refusal(&folder.tailwater(&[&["run", "my.toml"], arguments].concat()))
}

/// With a network of the user's own.
fn graph_file(name: &str, graph: &str) -> String {
    let folder = Folder::new(name);
    let scenario =
        "[topology]\nkind = \"graph\"\ngraph = \"net.graphml\"\nmissing_delay = \"off\"\n";
    fs::write(folder.0.join("net.graphml"), graph).expect("a file for the test");
    fs::write(folder.0.join("my.toml"), scenario).expect("a file for the test");
    refusal(&folder.tailwater(&["run", "my.toml"]))
}

fn line(arguments: &[&str]) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("line-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    refusal(&Folder::new(&name).tailwater(arguments))
}

macro_rules! refused {
    ($($name:ident: $output:expr;)+) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!($output);
        }
    )+};
}

// Files.
refused! {
    empty_file: file("empty", "");
    file_of_comments: file("comments", "# nothing yet\n");
    binary_file: file("binary", b"\x7fELF\x02\x01\x01\x00\x00\x00");
    invalid_utf8: file("utf8", b"[tcp]\nmss = 1460 # gr\xf6\xdfe\n");
    syntax_error: file("syntax", "[tcp]\nmss = \n");
    unquoted_unit: file("unquoted", "[link]\nrate = 1Gbps\n");
    unknown_key_near_a_known_one: file("near", "[tcp]\nmin_rot = \"10ms\"\n");
    unknown_key_near_nothing: file("far", "[tcp]\ncolour = \"red\"\n");
    key_without_its_group: file("bare", "senders = 40\n");
    unknown_table: file("table", "[swich]\nbuffer = \"80pkt\"\n");
    group_that_is_a_value: file("value", "tcp = 4\n");
    missing_unit: file("unit", "[link]\ndelay = 40\n");
    wrong_unit: file("wrong-unit", "[link]\ndelay = \"40Gbps\"\n");
    negative_time: file("negative", "[link]\ndelay = \"-40us\"\n");
    negative_count: file("negative-count", "[workload]\nsenders = [10, -20]\n");
    huge_number: file("huge", "[workload]\nsenders = 99999999999999999999\n");
    huge_size: file("huge-size", "[workload]\nsize = \"99999999999GB\"\n");
    wrong_choice: file("choice", "[topology]\nkind = \"ring\"\n");
    misspelt_graph: file("graph", "[topology]\nkind = \"graph\"\ngraph = \"telstar\"\n");
    graph_without_delays: graph_file("graph-delays", "<graphml><graph><node id='a'/><node id='b'/><edge source='a' target='b'/></graph></graphml>");
    graph_that_is_not_connected: graph_file("graph-apart", "<graphml>\n<graph>\n<node id='a'/>\n<node id='b'/>\n</graph>\n</graphml>\n");
    graph_faster_than_any_link: file("graph-fast", "[topology]\nkind = \"graph\"\nhosts = 1000\n[link]\nrate = \"100Gbps\"\n");
    range_of_capacities_that_ends_before_it_begins: file("graph-range", "topology.capacity = \"2Gbps-500Mbps\"\n");
    wrong_type: file("type", "[tcp]\nsack = { enabled = true }\n");
    date_for_a_time: file("date", "[run]\nduration = 2026-01-01\n");
    duplicate_key: file("duplicate", "[tcp]\nmss = 1460\nmss = 1446\n");
    duplicate_dotted_key: file("dotted", "\"tcp.mss\" = 1460\n[tcp]\nmss = 1446\n");
    empty_list: file("list", "workload.senders = []\n");
    comma_in_a_file: file("comma", "workload.senders = \"10,20\"\n");
    value_twice_in_a_sweep: file("twice", "workload.senders = [10, 20, 10]\n");
    threshold_above_the_buffer: file("above", "[switch]\nbuffer = \"30pkt\"\necn_threshold = \"40pkt\"\n");
    bytes_in_a_queue_of_packets: file("unit-mix", "[switch]\nunit = \"packets\"\nbuffer = \"64KB\"\n");
    buffer_without_room: file("room", "[switch]\nbuffer = \"1KB\"\necn_threshold = \"off\"\nunit = \"bytes\"\n");
    ecn_scheme_without_marking: file("marking", "schemes = [\"dctcp\"]\n[switch]\necn_threshold = \"off\"\n");
    more_senders_than_hosts: file("hosts", "[topology]\nhosts = 40\n[workload]\nsenders = 40\n");
    pairs_on_a_star: file("pairs", "[workload]\nkind = \"pairs\"\n");
    unlimited_flows_without_an_end: file("endless", "[workload]\nsize = \"unlimited\"\n");
    end_before_the_start: file("end", "run.duration = \"5ms\"\n");
    packet_too_large: file("packet", "[tcp]\nmss = 65535\n");
    timers_in_the_wrong_order: file("timers", "[tcp]\nmin_rto = \"2s\"\nmax_rto = \"1s\"\n");
    window_scale_too_large: file("scale", "[tcp]\nwindow_scale = 15\n");
    window_scale_above_the_buffer: file("scale-buffer", "[tcp]\nwindow_scale = 14\nreceive_buffer = \"10KB\"\n");
    scheme_typo_in_a_file: file("scheme", "schemes = [\"newreno\", \"dtcp\"]\n");
    no_schemes: file("no-schemes", "schemes = []\n");
    seeds_zero_in_a_file: file("seeds", "seeds = 0\n");
    variant_without_base: file("base", "[variant.wide]\ntcp.initial_window = 10\n");
    variant_with_unknown_base: file("unknown-base", "[variant.wide]\nbase = \"newrno\"\n");
    variant_named_like_a_scheme: file("clash", "[variant.dctcp]\nbase = \"newreno\"\n");
    variant_that_pins_a_sweep: file("pins", "workload.senders = [1, 2]\n[variant.few]\nbase = \"rcc\"\nworkload.senders = 1\n");
    variant_with_an_unknown_key: file("variant-key", "[variant.wide]\nbase = \"newreno\"\ntcp.initial_windw = 10\n");
    several_mistakes_at_once: file("several", "[tcp]\nmsss = 1460\n[link]\nrate = \"fast\"\n");
    contradiction_with_the_command_line: file_with(
        "cli-contradiction", "[switch]\nbuffer = \"80pkt\"\n", &["--set", "switch.ecn_threshold=90pkt"]);
}

// Command lines.
refused! {
    missing_file: line(&["run", "missing.toml"]);
    directory: line(&["run", "../"]);
    unknown_scenario: line(&["run", "incats"]);
    scheme_typo: line(&["run", "incast", "--scheme", "newreno,dctpc"]);
    scheme_twice: line(&["run", "incast", "--scheme", "rcc,rcc"]);
    empty_scheme: line(&["run", "incast", "--scheme", "rcc,"]);
    schemes_that_do_not_compose: line(&["run", "incast", "--scheme", "newreno+dctcp"]);
    set_without_equals: line(&["run", "incast", "--set", "workload.senders"]);
    set_of_an_unknown_key: line(&["run", "incast", "--set", "workload.sender=10"]);
    set_without_a_value: line(&["run", "incast", "--set", "workload.senders="]);
    set_with_a_wrong_unit: line(&["run", "incast", "--set", "switch.buffer=64KB,128Kb"]);
    set_twice: line(&["run", "incast", "--set", "tcp.mss=1000", "--set", "tcp.mss=1200"]);
    set_of_seeds: line(&["run", "incast", "--set", "seeds=3"]);
    reversed_range: line(&["run", "incast", "--set", "workload.senders=100..10:10"]);
    range_with_step_zero: line(&["run", "incast", "--set", "workload.senders=10..100:0"]);
    range_without_step: line(&["run", "incast", "--set", "workload.senders=10..100"]);
    completions_without_a_shell: line(&["completions"]);
    range_of_mixed_units: line(&["run", "incast", "--set", "switch.buffer=64KB..1ms:64KB"]);
    negative_range: line(&["run", "incast", "--set", "workload.senders=-10..10:1"]);
    endless_sweep: line(&["run", "incast", "--set", "workload.senders=1..1000:1", "--set", "tcp.mss=1..1000:1"]);
    seeds_zero: line(&["run", "incast", "--seeds", "0"]);
    jobs_zero: line(&["run", "incast", "--jobs", "0"]);
    seed_that_is_no_number: line(&["run", "incast", "--seed", "lucky"]);
    unknown_format: line(&["run", "incast", "--format", "jsn"]);
    shard_beyond_the_last: line(&["run", "incast", "--shard", "5/4", "--out", "x"]);
    shard_without_a_folder: line(&["run", "incast", "--shard", "1/4"]);
    until_zero: line(&["run", "incast", "--until", "0%"]);
    memory_without_a_unit: line(&["run", "incast", "--memory", "lots"]);
    too_little_memory: line(&["run", "incast", "--memory", "1MB"]);
    folder_that_is_not_empty: file_with("not-empty", "schemes = [\"rcc\"]\n", &["--out", "."]);
    resume_of_another_folder: file_with("foreign", "schemes = [\"rcc\"]\n", &["--out", ".", "--resume"]);
    no_save_and_a_folder: line(&["run", "incast", "--no-save", "--out", "x"]);
    trace_of_an_unknown_quantity: line(&["run", "incast", "--trace", "queue,cwmd"]);
    capture_at_an_unknown_place: line(&["run", "incast", "--pcap=hots:3"]);
    capture_at_a_host_that_is_not_there: line(&["run", "incast", "--pcap=host:1000"]);
    merge_of_nothing: line(&["merge"]);
    merge_of_a_missing_folder: line(&["merge", "nowhere"]);
    export_of_a_missing_folder: line(&["export", "nowhere", "flows"]);
    flows_in_a_table: line(&["run", "incast", "--flows"]);
    goal_without_a_comparison: line(&["run", "incast", "--goal", "fct_p99"]);
    goal_with_an_unknown_metric: line(&["run", "incast", "--goal", "fct_p98 < 10ms"]);
    goal_with_a_wrong_unit: line(&["run", "incast", "--goal", "fct_p99 < 10KB"]);
    goal_about_rounds_that_there_are_not: line(&["run", "trace", "--goal", "round_p99 < 10ms"]);
    goal_about_rounds_of_a_class: line(&["run", "incast", "--set", "run.classes=100KB", "--goal", "<=100KB.round_p99 < 10ms"]);
    goal_of_an_unknown_group: line(&["run", "incast", "--goal", "reads.fct_p99 < 10ms"]);
    goal_of_a_group_about_the_network: line(&["run", "incast", "--goal", "reads.queue_max < 10KB"]);
    goal_in_a_file: file("goal", "goals = [\"fct_p99 < 10ms\", \"drops\"]\n");
    goal_twice: line(&["run", "incast", "--goal", "p99 < 10ms", "--goal", "fct_p99 < 10ms"]);
    search_without_a_goal: line(&["run", "incast", "--search", "workload.senders=10..100"]);
    search_beside_an_axis: line(&["run", "incast", "--goal", "p99 < 1s", "--search", "workload.senders=10..100", "--set", "tcp.mss=1000,1400"]);
    search_of_no_range: line(&["run", "incast", "--goal", "p99 < 1s", "--search", "workload.senders=10"]);
    search_of_an_unknown_key: line(&["run", "incast", "--goal", "p99 < 1s", "--search", "workload.sender=1..9"]);
    strict_without_a_goal: line(&["run", "incast", "--strict"]);
    columns_of_an_unknown_metric: line(&["run", "incast", "--columns", "p99,dorps"]);
    columns_of_an_unknown_group: line(&["run", "incast", "--columns", "reads.p99"]);
    change_without_a_comparison: line(&["report", "a", "b", "--fail-if", "p99 +5%"]);
    unknown_flag: line(&["run", "incast", "--schemes", "rcc"]);
    unknown_command: line(&["rum", "incast"]);
    run_of_nothing: line(&["run"]);
    unknown_list: line(&["list", "scheme"]);
    explanation_of_an_unknown_word: line(&["explain", "tcp.min_rtt"]);
}

// Models.
refused! {
    model_typo: line(&["model", "rwdnq"]);
    model_setting_of_another: line(&["model", "rwndq", "--set", "hscc.flows=3"]);
    model_setting_typo: line(&["model", "rwndq", "--set", "taget=0.3"]);
    model_setting_with_a_wrong_unit: line(&["model", "hscc", "--set", "hscc.rtt=100"]);
    model_setting_twice: line(&["model", "rc3", "--set", "load=0.1", "--set", "rc3.load=0.2"]);
    model_setting_without_equals: line(&["model", "rcc", "--set", "senders"]);
    model_settings_that_do_not_fit: line(&["model", "hscc", "--set", "alpha2=0.2"]);
    model_default_that_does_not_fit: line(&["model", "hscc", "--set", "alpha1=0.6"]);
    model_figure_typo: line(&["model", "hscc", "--figure", "hurwits", "-o", "x.svg"]);
    model_figure_that_is_not_drawn: line(&["model", "hscc", "--figure", "hurwitz"]);
    model_figure_in_a_page: line(&["model", "rc3", "--figure", "reduction", "-o", "x.html"]);
    model_in_an_unknown_format: line(&["model", "rc3", "-o", "x.gif"]);
    model_with_nothing_to_simulate: line(&["model", "rcc", "--simulate"]);
    model_settings_without_a_name: line(&["model", "--set", "target=0.3"]);
}

#[test]
fn a_mistake_beyond_column_65535_is_told_with_its_place() {
    let numbers = (1..=20_000).map(|number| format!("{number}, "));
    let line = format!("senders = [{}\"x\"]", numbers.collect::<String>());
    let column = line.len() - 3;
    assert!(column > 65_535);
    let text = format!("name = \"long\"\nschemes = [\"newreno\"]\n\n[workload]\n{line}\n");
    let refusal = file("long_line", text);
    let words = refusal.split_whitespace().filter(|word| *word != "|");
    let words = words.collect::<Vec<_>>().join(" ");
    assert!(words.contains("found \"x\""), "{words}");
    assert!(
        words.contains(&format!("my.toml, line 5, byte {column}:")),
        "{words}"
    );
    assert!(refusal.len() < 2000, "the line is not shown: {refusal}");
}
