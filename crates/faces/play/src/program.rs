//! The program that pages carry gives the answers of this crate.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use scenario::BUILTINS;
use serde_json::Value;

use crate::page::{QUICK_S, first};
use crate::request::{Order, Request};
use crate::{call, description};

/// The program's answers to these requests; `None` where Node.js is not installed.
fn answers(requests: &[String]) -> Option<Vec<String>> {
    let mut node = testing::tool("node")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [
        "tests/program.mjs",
        "templates/worker.js",
        "assets/play.wasm.gz",
    ];
    node.args(files.map(|file| root.join(file)));
    let node = node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().expect("a program that is installed starts");
    let mut input = node.stdin.take().expect("it is piped");
    input
        .write_all(requests.join("\n").as_bytes())
        .expect("it reads all requests");
    drop(input);
    let output = node.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the program stopped");
    let text = String::from_utf8(output.stdout).expect("answers are text");
    Some(text.lines().map(str::to_owned).collect())
}

/// The first run of every built-in scenario that a page offers, under each scheme, on three seeds; and mistakes.
fn requests() -> Vec<Order> {
    let mut requests = Vec::new();
    for builtin in BUILTINS {
        let request = Request {
            name: builtin.name.to_owned(),
            text: builtin.text.to_owned(),
            ..Request::default()
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
            requests.push(Order::Run(Request {
                seed: Some(seed),
                ..first.clone()
            }));
        }
        if builtin.name == "incast" {
            let schemes = schemes::all().iter().map(|scheme| scheme.name.to_owned());
            requests.extend(schemes.map(|scheme| {
                Order::Run(Request {
                    schemes: vec![scheme],
                    ..first.clone()
                })
            }));
            let wrong = ["no-number", "-1", "10,", "9999999999"];
            requests.extend(wrong.map(|text| {
                let sets = vec![("workload.senders".to_owned(), text.to_owned())];
                Order::Run(Request {
                    sets,
                    ..first.clone()
                })
            }));
        }
    }
    requests
}

#[test]
fn the_program_of_a_page_answers_as_the_command_does_digit_by_digit() {
    let requests = requests().into_iter();
    let requests: Vec<String> = requests
        .map(|order| serde_json::to_string(&order).expect("a request is text"))
        .collect();
    let Some(answers) = answers(&requests) else {
        return;
    };
    assert_eq!(answers.len(), requests.len());
    for (request, answer) in requests.iter().zip(&answers) {
        let ours: Value = serde_json::from_str(&call(request)).expect("an answer");
        let theirs: Value = serde_json::from_str(answer).expect("an answer");
        for (key, value) in ours.as_object().expect("an object") {
            assert_eq!(
                theirs[key], *value,
                "{key} of {request}: `cargo xtask play` builds the program anew"
            );
        }
    }
}
