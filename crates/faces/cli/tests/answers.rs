//! Correct command lines through the real command.

use std::io::Read;
use std::process::{Command, Output, Stdio};

/// The command; its runs keep no files.
fn tailwater(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailwater"));
    command.args(arguments);
    if arguments.starts_with(&SMALL) {
        command.arg("--no-save");
    }
    command
}

/// Standard output of a command that succeeds without warnings.
fn answer(arguments: &[&str]) -> String {
    let output: Output = tailwater(arguments).output().expect("the command runs");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {complaints}");
    assert_eq!(complaints, "", "{arguments:?}");
    String::from_utf8(output.stdout).expect("answers are text")
}

const SMALL: [&str; 4] = ["run", "incast", "--set", "workload.senders=4,60"];

#[test]
fn a_run_answers_with_a_table_that_fits_80_columns() {
    let text = answer(&SMALL);
    assert!(text.starts_with("incast: "), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'));
    assert!(text.contains(" at 60 senders "), "{text}");
    assert!(text.contains("\nCost: "), "{text}");
}

#[test]
fn a_run_answers_with_one_json_object() {
    let text = answer(&[&SMALL[..], &["--format", "json", "--flows"]].concat());
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let points = value["points"].as_array().expect("an array of points");
    // Two numbers of senders, three schemes, and the ten seeds of what is random.
    assert_eq!(points.len(), 2 * 3 * 10);
    for point in points {
        assert!(point["set"]["workload.senders"].is_u64());
        assert!(point["metrics"]["fct_p99_us"].is_number());
        assert!(point["metrics"]["ns_per_hop"].is_number());
        assert!(point["flows"][0]["fct_us"].is_number());
        assert_eq!(point["digest"].as_str().map(str::len), Some(16));
    }
    assert!(value.get("failed").is_none());
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let digests = |jobs| -> Vec<String> {
        let text = answer(&[&SMALL[..], &["--format", "json", "--jobs", jobs]].concat());
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let points = value["points"].as_array().expect("an array of points");
        points
            .iter()
            .map(|point| point["digest"].to_string())
            .collect()
    };
    assert_eq!(digests("1"), digests("2"));
}

#[test]
fn hints_go_to_standard_error_and_quiet_silences_them() {
    let seeds = ["--seeds", "2", "--set", "link.jitter=0s"];
    let output = tailwater(&[&SMALL[..], &seeds].concat()).output();
    let output = output.expect("the command runs");
    let hint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        hint.contains("nothing in this scenario is random"),
        "{hint}"
    );
    // The remedy must help: with starts at random times senders stay in step.
    assert!(hint.contains("link.jitter=auto"), "{hint}");
    answer(&[&SMALL[..], &seeds, &["--quiet"]].concat());
}

#[test]
fn everything_that_is_listed_can_be_explained() {
    let words = |list| -> Vec<String> {
        let text = answer(&["list", list]);
        let first = |line: &str| line.split(' ').next().expect("a word").to_owned();
        text.lines().map(first).collect()
    };
    let groups = ["tcp", "switch", "results"].map(String::from);
    for word in [words("schemes"), words("scenarios"), groups.into()].concat() {
        assert!(answer(&["explain", &word]).len() > 80, "{word}");
    }
    for list in ["models", "topologies", "workloads"] {
        // Headings of these lists end in a colon; the words below them do not.
        let names = words(list).into_iter();
        for name in names.filter(|name| name.chars().all(|c| !c.is_uppercase()) && !name.is_empty())
        {
            assert!(
                answer(&["explain", &name]).contains(&name),
                "{list}: {name}"
            );
        }
    }
    // Every key goes through the same function, so the first and the last represent all.
    let keys = words("keys");
    for key in [&keys[0], &keys[keys.len() - 1]] {
        assert!(answer(&["explain", key]).contains("Value: "), "{key}");
    }
    let topologies = words("topologies");
    for word in [
        "star",
        "leaf-spine",
        "fat-tree",
        "graph",
        "internet2",
        "esnet",
    ] {
        assert!(
            topologies.iter().any(|listed| listed == word),
            "{topologies:?}"
        );
    }
    let workloads = words("workloads");
    for word in ["incast", "pairs", "poisson", "websearch", "datamining"] {
        assert!(
            workloads.iter().any(|listed| listed == word),
            "{workloads:?}"
        );
    }
}

#[test]
fn a_shown_scenario_is_a_scenario() {
    for arguments in [
        &["show", "incast"][..],
        &["show", "long-flows", "--resolved"],
    ] {
        let text = answer(arguments);
        assert!(text.parse::<toml_edit::DocumentMut>().is_ok(), "{text}");
    }
    assert!(answer(&["show", "incast", "--set", "tcp.mss=1000"]).contains("mss = 1000"));
}

#[test]
fn help_completions_and_man_page_are_there() {
    assert!(answer(&["--help"]).contains("Examples:"));
    assert!(answer(&["run", "--help"]).contains("KEY=VALUE"));
    assert!(answer(&["--version"]).starts_with("tailwater "));
    assert!(answer(&["completions", "bash"]).contains("tailwater"));
    assert!(answer(&["man"]).starts_with(".ie"));
    assert!(answer(&["man", "run"]).contains("scheme"));
}

#[test]
fn a_reader_that_leaves_early_is_no_mistake() {
    let mut child = tailwater(&["list", "keys"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    drop(child.stdout.take());
    let mut complaints = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr
        .read_to_string(&mut complaints)
        .expect("complaints are text");
    assert_eq!(
        child.wait().expect("an end").code(),
        Some(0),
        "{complaints}"
    );
    assert_eq!(complaints, "");
}

#[test]
fn the_bare_command_and_the_bare_list_guide() {
    let text = answer(&[]);
    assert!(text.contains("tailwater run incast"), "{text}");
    assert!(text.contains("tailwater list"), "{text}");
    let text = answer(&["list"]);
    for list in [
        "schemes",
        "scenarios",
        "papers",
        "models",
        "keys",
        "topologies",
        "workloads",
    ] {
        assert!(text.contains(&format!("tailwater list {list}")), "{text}");
    }
}

#[test]
fn numbers_and_symbols_are_explained() {
    let text = answer(&["explain", "fct_p99_us"]);
    assert!(text.starts_with("fct_p99_us [us]\n"), "{text}");
    assert!(answer(&["explain", "first_byte_us"]).contains("In flows.parquet."));
    let text = answer(&["explain", "K"]);
    assert!(text.starts_with("switch.ecn_threshold = "), "{text}");
}

#[test]
fn notions_are_explained_with_an_example() {
    let text = answer(&["explain", "goals"]);
    assert!(text.contains("--goal 'fct_p99 < 15ms'"), "{text}");
    assert!(text.contains("goals = ["), "{text}");
    for notion in [
        "search",
        "groups",
        "classes",
        "sweep",
        "variant",
        "seeds",
        "tier",
        "breakdown",
        "rounds",
        "fan-out",
        "slowdown",
        "percentile",
        "columns",
        "queueing",
        "timers",
        "p99",
        "fct_p99",
        "series.parquet",
    ] {
        let text = answer(&["explain", notion]);
        assert!(text.len() > 60, "{notion}: {text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }
    // A metric and a part of a completion time may have one name.
    let text = answer(&["explain", "timers"]);
    assert!(
        text.contains("Part of fct_us") && text.contains("syn_timeouts"),
        "{text}"
    );
    // Every part of a completion time is listed with its meaning.
    let text = answer(&["explain", "breakdown"]);
    for part in sim::breakdown::Part::ALL {
        assert!(text.contains(&format!("  {}: ", part.name())), "{text}");
    }
}

#[test]
fn completions_know_what_can_be_named() {
    for shell in ["bash", "zsh", "fish"] {
        let text = answer(&["completions", shell]);
        for name in [
            "dctcp",
            "workload.senders=",
            "long-flows",
            "rcc/fig5a",
            "fct_p99_us",
            "goals",
        ] {
            assert!(text.contains(name), "{shell}: {name}");
        }
    }
    // A name that is not listed is accepted all the same.
    let output = tailwater(&["explain", "dctpc"])
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("did you mean `dctcp`"), "{text}");
}

#[test]
fn every_command_has_a_man_page() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let name = folder.to_string_lossy().into_owned();
    answer(&["man", "--out", &name]);
    for command in ["", "-run", "-reproduce", "-plot", "-emulate", "-man"] {
        let page = std::fs::read_to_string(folder.join(format!("tailwater{command}.1")));
        let page = page.expect(command);
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(answer(&["man", "run"]).contains("tailwater run incast"));
    std::fs::remove_dir_all(folder).expect("the folder is there");
}

#[test]
fn minus_is_standard_input() {
    let mut command = tailwater(&["run", "-", "--no-save", "--format", "json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let text = "schemes = [\"newreno\"]\n[workload]\nsenders = 3\n";
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, text.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["scenario"], "stdin");
    assert_eq!(value["points"].as_array().map(Vec::len), Some(1));
}

#[test]
fn until_stops_at_one_seed_where_nothing_is_random() {
    let run = [
        "run",
        "incast",
        "--set",
        "workload.senders=4",
        "--set",
        "link.jitter=0s",
        "--no-save",
        "--quiet",
        "--until",
        "5%",
    ];
    let text = answer(&run);
    assert!(text.contains("nothing here is random"), "{text}");
    assert!(text.contains("simulated in 3 runs"), "{text}");
}

#[test]
fn a_file_is_o_and_a_folder_is_out_everywhere() {
    for (command, flag) in [
        ("export", true),
        ("report", true),
        ("plot", true),
        ("model", true),
        ("run", false),
        ("reproduce", false),
        ("merge", false),
    ] {
        let text = answer(&[command, "--help"]);
        assert_eq!(text.contains("-o, --output <FILE>"), flag, "{command}");
        assert_eq!(text.contains("--out <DIR>"), !flag, "{command}");
        assert!(!text.contains("-o, --out <"), "{command}");
    }
}

#[test]
fn the_list_of_keys_says_something_of_each() {
    let text = answer(&["list", "keys"]);
    let line = |key: &str| {
        text.lines()
            .find(|line| line.starts_with(key))
            .expect(key)
            .to_owned()
    };
    assert!(line("workload.requests ").contains("how many flows each connection asks for"));
    assert!(line("workload.load ").contains("Poisson arrivals: share"));
}

#[test]
fn a_scheme_says_how_it_works_before_its_settings() {
    for scheme in schemes::all() {
        let text = answer(&["explain", scheme.name]);
        let head = text.split(" = ").next().expect("a beginning");
        let sentences = head.matches(". ").count() + head.matches(".\n").count();
        assert!(
            (5..=8).contains(&sentences),
            "{}: {sentences} sentences: {text}",
            scheme.name
        );
        assert!(!scheme.how.contains("  "), "{}", scheme.name);
    }
}

/// The leaders at each number of senders of the README's table, with these arguments.
fn leaders(more: &[&str]) -> String {
    let text = answer(&[&["run", "incast", "--no-save", "--quiet"], more].concat());
    let from = text
        .find("By the 99th percentile")
        .expect("a sentence about leaders");
    let sentence = &text[from..];
    let sentence = &sentence[..sentence.find(".\n").expect("an end")];
    // Numbers stand in brackets: the rest says who leads where.
    let parts = sentence.split('(').map(|part| match part.split_once(')') {
        Some((_, behind)) => behind,
        None => part,
    });
    let words: Vec<&str> = parts.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[test]
fn the_sentence_of_the_readme_holds_for_half_and_five_times_the_jitter() {
    let usual = leaders(&[]);
    assert!(
        usual.contains("nothing to choose between")
            && usual.contains("at 10 senders ; rcc is fastest at 60 to 100 senders"),
        "{usual}"
    );
    for jitter in ["link.jitter=240ns", "link.jitter=2400ns"] {
        assert_eq!(leaders(&["--set", jitter]), usual, "{jitter}");
    }
}

#[test]
fn ties_show_what_hangs_on_the_order_of_simultaneous_events() {
    let arguments = ["run", "incast", "--no-save", "--quiet", "--ties", "8"];
    let text = answer(&arguments);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("Whoever leads also leads under each of 8 orders of simultaneous events"),
        "{text}"
    );
    let json = answer(&[&arguments[..], &["--format", "json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["ties"]["orders"], 8);
    let rows = value["ties"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), value["rows"].as_array().expect("rows").len());
    for row in rows {
        assert_eq!(row["fct_p99_us"].as_array().expect("values").len(), 8);
        assert_eq!(row["drops"].as_array().expect("values").len(), 8);
    }
    // NewReno's drops at 100 senders depend on the order of simultaneous events: that is what --ties is for.
    let drops = rows[6]["drops"].as_array().expect("values");
    assert!(drops.iter().any(|value| value != &drops[0]), "{drops:?}");
}

#[test]
fn a_sweep_over_jitter_has_no_ties() {
    let arguments = ["run", "incast", "--no-save", "--ties", "2"];
    let sweep = ["--set", "link.jitter=0s,auto"];
    let output = tailwater(&[&arguments[..], &sweep].concat()).output();
    let output = output.expect("the command runs");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaints}");
    assert!(
        complaints.contains("link.jitter is an axis of this sweep")
            && complaints.contains("--ties"),
        "{complaints}"
    );
}
