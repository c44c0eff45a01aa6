//! The program that pages carry gives the answers of this crate.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use engine::random::Stream;
use plan::keys;
use scenario::BUILTINS;
use serde_json::Value;

use crate::page::{QUICK_S, first};
use crate::panel::tests::quick as panels;
use crate::request::{PageRequest, PageTask};
use crate::{call, description, ladder};

/// Calls `each` with the number of each request and the answer of the program that is committed, or of the one that
/// [`PROGRAM`] names. Answers come one by one, so that ten thousand pages need no more memory than one. Returns the most
/// memory that the program and its engine took, in bytes; `None` where Node.js is not installed.
fn answers(requests: &[String], mut each: impl FnMut(usize, &str)) -> Option<u64> {
    let mut node = testing::tool("node")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["tests/program.mjs", "templates/worker.js"];
    node.args(files.map(|file| root.join(file)));
    node.arg(env::var_os(PROGRAM).map_or_else(|| root.join("assets/play.wasm.gz"), PathBuf::from));
    let node = node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().expect("a program that is installed starts");
    let mut input = node.stdin.take().expect("it is piped");
    let output = node.stdout.take().expect("it is piped");
    let memory = thread::scope(|scope| {
        // Nobody reads on after a wrong answer, which ends the program and the thread that writes to it.
        let mut output = BufReader::new(output).lines();
        scope.spawn(move || {
            for request in requests.iter().map(String::as_str).chain([MEMORY]) {
                // A program that stopped reads no more; the missing answer says so.
                if writeln!(input, "{request}").is_err() {
                    return;
                }
            }
        });
        for (number, request) in requests.iter().enumerate() {
            let answer = output.next().and_then(Result::ok);
            let answer = answer.unwrap_or_else(|| panic!("no answer to {request}"));
            each(number, &answer);
        }
        let memory = output.next().and_then(Result::ok);
        memory.expect("it says how much memory it took")
    });
    assert!(
        node.wait().expect("it ends").success(),
        "the program stopped"
    );
    Some(memory.parse().expect("bytes"))
}

/// The first run of every built-in scenario that a page offers on three seeds, that of the incast under each scheme, and
/// mistakes. `cargo xtask play --check` asks for every scenario under each scheme on three seeds.
fn requests() -> Vec<PageTask> {
    let mut requests = Vec::new();
    let thorough = env::var_os(STATES).is_some();
    for builtin in BUILTINS {
        let request = PageRequest {
            name: builtin.name.to_owned(),
            text: builtin.text.to_owned(),
            ..PageRequest::default()
        };
        let described = description::describe(&request);
        if described["expected_s"]
            .as_f64()
            .is_none_or(|expected| expected > QUICK_S)
        {
            continue;
        }
        let first = first(&request, &described);
        for seed in 1..=3 {
            requests.push(PageTask::Run(PageRequest {
                seed: Some(seed),
                ..first.clone()
            }));
        }
        if builtin.name == "incast" || thorough {
            let seeds = if thorough { 1..=3 } else { 1..=1 };
            requests.extend(schemes::all().iter().flat_map(|scheme| {
                seeds.clone().map(|seed| {
                    PageTask::Run(PageRequest {
                        schemes: vec![scheme.name.to_owned()],
                        seed: Some(seed),
                        ..first.clone()
                    })
                })
            }));
        }
        if builtin.name == "incast" {
            let wrong = ["no-number", "-1", "10,", "9999999999"];
            let wrong = wrong.map(|text| ("workload.senders", text));
            // The program looks for a file, and finds none.
            let wrong = wrong.into_iter().chain([("workload.host_names", "0.18")]);
            requests.extend(wrong.map(|(key, text)| {
                let sets = vec![(key.to_owned(), text.to_owned())];
                PageTask::Run(PageRequest {
                    sets,
                    ..first.clone()
                })
            }));
        }
    }
    requests
}

/// Fails unless the program answers each request as this crate does.
fn check(orders: &[PageTask]) {
    let requests = orders.iter();
    let requests: Vec<String> = requests
        .map(|order| serde_json::to_string(order).expect("a request is text"))
        .collect();
    let memory = answers(&requests, |number, answer| {
        let request = &requests[number];
        let ours = catch_unwind(|| call(request)).unwrap_or_else(|_| panic!("a panic: {request}"));
        let ours: Value = serde_json::from_str(&ours).expect("an answer");
        let theirs: Value = serde_json::from_str(answer).expect("an answer");
        assert_eq!(theirs["trap"], Value::Null, "a trap: {request}");
        for (key, value) in ours.as_object().expect("an object") {
            assert_eq!(
                comparable(&theirs[key]),
                comparable(value),
                "{key} of {request}: `cargo xtask play` builds the program anew"
            );
        }
        for problem in ours["problems"].as_array().into_iter().flatten() {
            let says = |key: &str| problem[key].as_str().is_some_and(|text| !text.is_empty());
            assert!(
                says("message") && (says("remedy") || says("place")),
                "no remedy: {problem} of {request}"
            );
        }
    });
    assert!(
        memory.is_none_or(|bytes| bytes < MOST_BYTES),
        "{memory:?} bytes"
    );
}

/// Returns `value` with every number as a real number, since a script writes 1.0 as 1, and without the descriptions of
/// settings, which a page leaves to `tailwater explain`.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => match text.split_once(" (default ") {
            Some((setting, _)) => setting.into(),
            None => value.clone(),
        },
        Value::Array(values) => values.iter().map(comparable).collect(),
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.clone(), comparable(value)));
            entries.collect()
        }
        other => other.clone(),
    }
}

#[test]
fn the_program_of_a_page_answers_as_the_command_does_digit_by_digit() {
    check(&requests());
}

#[test]
fn the_program_of_a_page_draws_panels_of_papers_as_the_command_does() {
    check(&panels());
}

/// A state that a page may get into: settings of its sliders and others, some of them wrong; schemes; a seed.
fn random_state(stream: &mut Stream, scenarios: &[(PageRequest, Vec<String>)]) -> PageTask {
    let mut below = |count: usize| usize::try_from(stream.below(count as u64)).unwrap_or(0);
    let (first, sliders) = &scenarios[below(scenarios.len())];
    let mut request = PageRequest {
        seed: Some(below(50) as u64),
        patience_s: Some(PATIENCE_S),
        numbers: true,
        ..first.clone()
    };
    let all = schemes::all();
    if below(2) == 0 {
        let count = 1 + below(2);
        request.schemes = (0..count)
            .map(|_| all[below(all.len())].name.to_owned())
            .collect();
    }
    for _ in 0..below(4) {
        let known = keys::all_keys();
        let any = known[below(known.len())];
        let slider = sliders.get(below(2 * sliders.len() + 1));
        let key = slider.and_then(|name| keys::key(name)).unwrap_or(any);
        let values = ladder::values(key, &[key.default]);
        let wrong = below(8) == 0 || values.is_empty();
        let text = if wrong {
            WRONG[below(WRONG.len())].to_owned()
        } else {
            values[below(values.len())].clone()
        };
        request.sets.retain(|(name, _)| name != key.name);
        request.sets.push((key.name.to_owned(), text));
    }
    PageTask::Run(request)
}

/// `cargo xtask play --check` asks for 10,000 states.
#[test]
fn a_page_in_any_state_answers_as_the_command_does_or_says_what_is_wrong() {
    let states = env::var(STATES).ok().and_then(|count| count.parse().ok());
    let quick = requests().into_iter().filter_map(|order| match order {
        PageTask::Run(request) if request.seed == Some(1) => Some(request),
        _ => None,
    });
    let scenarios: Vec<(PageRequest, Vec<String>)> = quick
        .map(|request| {
            let described = description::describe(&request);
            let sliders = described["sliders"].as_array().into_iter().flatten();
            let names = sliders.filter_map(|slider| slider["key"].as_str());
            let names = names.map(str::to_owned).collect();
            (request, names)
        })
        .collect();
    let mut stream = Stream::new(1, "states of a page", 0);
    let orders = (0..states.unwrap_or(100)).map(|_| random_state(&mut stream, &scenarios));
    check(&orders.collect::<Vec<_>>());
}

/// Texts that most settings refuse.
const WRONG: [&str; 8] = [
    "",
    "many",
    "-1",
    "1e400",
    "10,20",
    "0",
    "\"",
    "99999999999999999999",
];
/// Seconds that a random state may be expected to take.
const PATIENCE_S: f64 = 0.02;
/// The variable of the environment with the path of a program to be asked in place of the committed one.
const PROGRAM: &str = "TAILWATER_PLAY_PROGRAM";
/// Asks for the most memory that was taken so far.
const MEMORY: &str = "\"memory\"";
/// Bytes of a program and its engine that no state of a page needs.
const MOST_BYTES: u64 = 500_000_000;
/// The variable of the environment with the number of random states.
const STATES: &str = "TAILWATER_PLAY_STATES";
