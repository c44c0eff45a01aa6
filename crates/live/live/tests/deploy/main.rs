//! Laws at a port of this machine, by the commands: attached, changed, replaced, and removed in all cases.

#![cfg(target_os = "linux")]

mod bed;
mod calibration;
mod certificates;
mod cures;
mod devices;
mod grants;
mod guide;
mod incidents;
mod mice;
mod observe;
mod prometheus;
mod trial;
mod trials;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use bed::{Bed, PORT, SWITCH, TBF, command, ip, line, names, program, run};

#[test]
fn a_law_is_attached_renewed_changed_replaced_and_detached() {
    let Some(bed) = Bed::new() else { return };
    let told = bed.attach("hscc", &[]);
    assert_eq!(told["action"], "attached");
    assert_eq!(told["buffer_bytes"], 64_000);
    assert_eq!(told["settings"]["hscc.window"], "2");
    let first = bed.lowers(PORT);
    assert_eq!(first["acts"], true);
    assert_eq!(first["window_bytes"], 2_920);
    assert!(first["known_connections"].as_u64().unwrap() > 0, "{first}");
    assert_eq!(first["drift"].to_string(), "[]");

    let programs = bed.record()["programs"].clone();
    assert_eq!(bed.attach("hscc", &[])["action"], "renewed");
    let told = bed.attach("hscc", &["--set", "hscc.window=4"]);
    assert_eq!(told["action"], "updated");
    assert_eq!(
        bed.record()["programs"],
        programs,
        "the same programs go on"
    );
    let changed = bed.status(PORT);
    assert_eq!(changed["window_bytes"], 4 * 1_460);
    assert!(changed["rewritten"].as_u64() >= first["rewritten"].as_u64());

    for (scheme, hooks) in [("rwndq", 2), ("mark", 1), ("hscc", 2)] {
        assert_eq!(bed.attach(scheme, &[])["action"], "replaced");
        let status = match scheme {
            "mark" => bed.status(PORT),
            _ => bed.lowers(PORT),
        };
        assert_eq!(status["scheme"], scheme);
        assert_eq!(status["drift"].to_string(), "[]", "{status}");
        assert_eq!(bed.pins().len(), hooks, "{scheme}");
    }
    let told = run(&["detach", "--dev", PORT, "--netns", &bed.namespace(SWITCH)]);
    assert_eq!(told[0]["action"], "detached");
    bed.holds_nothing();
    assert_eq!(
        run(&["detach", "--dev", PORT, "--netns", &bed.namespace(SWITCH)]),
        [Value::Null; 0]
    );
}

#[test]
fn rewriting_stops_when_the_lease_is_over() {
    let Some(bed) = Bed::new() else { return };
    let over = AtomicBool::new(false);
    let (first, second) = thread::scope(|scope| {
        let sending = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                bed.send();
            }
        });
        let until = Ends(&over);
        bed.attach_for("hscc", 10, &[]);
        let mut looks = (0..90).map(|_| {
            thread::sleep(Duration::from_millis(100));
            bed.status(PORT)["rewritten"].as_u64() > Some(0)
        });
        // Whether it does is asserted below.
        looks.any(|rewrites| rewrites);
        bed.attach_for("hscc", 1, &[]);
        thread::sleep(Duration::from_secs(2));
        let first = bed.status(PORT);
        let mut looks = (0..200).map(|_| {
            thread::sleep(Duration::from_millis(100));
            bed.status(PORT)
        });
        let second = looks.find(|status| {
            let more = passed_without_lease(status) > passed_without_lease(&first) + 100;
            more || sending.is_finished()
        });
        drop(until);
        (first, second)
    });
    assert_eq!(first["acts"], false);
    assert!(first["rewritten"].as_u64().unwrap() > 0, "{first}");
    let second = second.expect("packets go on");
    assert_eq!(first["rewritten"], second["rewritten"]);
    bed.attach("hscc", &[]);
    assert_eq!(bed.lowers(PORT)["acts"], true, "the next lease revives it");
}

/// Tells others to end when it is dropped, even by a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn passed_without_lease(status: &Value) -> u64 {
    let all = status["passed"].as_array().expect("a list");
    let over = all.iter().find(|one| one["why"] == "the lease was over");
    over.map_or(0, |one| one["packets"].as_u64().expect("a count"))
}

#[test]
fn acks_may_come_in_by_another_device_than_their_data_leave_by() {
    let Some(bed) = Bed::new() else { return };
    bed.let_acks_go_back_by("back1");
    let switch = bed.namespace(SWITCH);
    let attach = |scheme| {
        let words = [
            "attach",
            scheme,
            "--dev",
            "back1",
            "--queue-of",
            PORT,
            "--netns",
            &switch,
        ];
        run(&words).remove(0)
    };
    for scheme in ["hscc", "rwndq"] {
        let told = attach(scheme);
        assert_eq!(
            (&told["device"], &told["queue_of"]),
            (&"back1".into(), &PORT.into())
        );
        let status = bed.lowers("back1");
        assert_eq!(status["drift"].to_string(), "[]");
    }
    run(&["detach", "--dev", "back1", "--netns", &switch]);
    bed.holds_nothing();
}

#[test]
fn a_law_that_never_moves_an_edge_back_takes_the_place_of_one_that_does() {
    let Some(bed) = Bed::new() else { return };
    for scheme in ["hscc", "rwndq"] {
        bed.attach(scheme, &[]);
        assert_eq!(bed.attach(scheme, &["--no-retract"])["action"], "replaced");
        let status = bed.lowers(PORT);
        assert_eq!(status["no_retract"], true);
        assert_eq!(status["drift"].to_string(), "[]");
    }
}

#[test]
fn a_device_that_is_gone_is_told_and_what_was_there_is_cleaned() {
    let Some(bed) = Bed::new() else { return };
    bed.attach("hscc", &[]);
    ip(&format!("-n {} link del {PORT}", bed.namespace(SWITCH)));
    let drift = bed.status(PORT)["drift"].to_string();
    assert!(drift.contains("is gone"), "{drift}");
    run(&["detach", "--dev", PORT, "--netns", &bed.namespace(SWITCH)]);
    bed.holds_nothing();
}

#[test]
fn a_law_in_the_shadow_lowers_no_window_tells_how_many_it_would_and_is_replaced_by_one_that_acts() {
    let Some(bed) = Bed::new() else { return };
    let told = bed.attach("hscc", &["--shadow"]);
    assert_eq!(
        (&told["action"], &told["shadow"]),
        (&"attached".into(), &true.into())
    );
    let mut looks = (0..20).map(|_| {
        bed.send();
        bed.status(PORT)
    });
    let status = looks.find(|status| status["would_change"].as_u64() > Some(0));
    let status = status.expect("the law would lower windows");
    assert_eq!(
        (&status["shadow"], &status["rewritten"]),
        (&true.into(), &0.into()),
        "{status}"
    );
    // A law that acts is another program. The lease of the first program does not revive it.
    assert_eq!(bed.attach("hscc", &[])["action"], "replaced");
    let acting = bed.lowers(PORT);
    assert_eq!(acting["would_change"], Value::Null, "{acting}");
    bed.detach();
    bed.holds_nothing();
}

#[test]
fn another_queue_is_told() {
    let Some(bed) = Bed::new() else { return };
    bed.attach("hscc", &[]);
    let switch = bed.namespace(SWITCH);
    command(&format!(
        "tc -n {switch} qdisc change dev {PORT} {}",
        TBF.replace("64000", "32000")
    ));
    let drift = bed.status(PORT)["drift"].to_string();
    assert!(
        drift.contains("room for 32000 bytes, but was tbf with room for 64000"),
        "{drift}"
    );
    command(&format!("tc -n {switch} qdisc del dev {PORT} root"));
    let drift = bed.status(PORT)["drift"].to_string();
    assert!(drift.contains("the queue is none"), "{drift}");
}

#[test]
fn an_attach_that_dies_after_any_step_is_repeated_or_taken_away() {
    let Some(bed) = Bed::new() else { return };
    let steps = [
        "loaded",
        "filled maps",
        "noted",
        "made a folder",
        "linked egress",
        "pinned egress",
        "linked ingress",
        "pinned ingress",
        "recorded",
    ];
    for step in steps {
        bed.dies(step, "hscc", &[]);
        bed.attach("hscc", &[]);
        assert_eq!(bed.status(PORT)["drift"].to_string(), "[]", "{step}");
        bed.detach();
        bed.dies(step, "hscc", &[]);
        bed.detach();
        bed.holds_nothing();
    }
    let steps = [
        "loaded",
        "filled maps",
        "noted",
        "replaced egress",
        "replaced ingress",
        "recorded",
    ];
    for (step, scheme) in steps
        .into_iter()
        .flat_map(|step| [(step, "rwndq"), (step, "mark")])
    {
        bed.attach("hscc", &[]);
        bed.dies(step, scheme, &[]);
        bed.attach(scheme, &[]);
        let status = bed.status(PORT);
        assert_eq!(
            (&status["scheme"], status["drift"].to_string()),
            (&scheme.into(), "[]".into())
        );
        bed.detach();
        bed.attach("hscc", &[]);
        bed.dies(step, scheme, &[]);
        bed.detach();
        bed.holds_nothing();
    }
    bed.attach("hscc", &[]);
    bed.dies("revised", "hscc", &["--set", "hscc.window=3"]);
    bed.attach("hscc", &["--set", "hscc.window=3"]);
    assert_eq!(bed.status(PORT)["window_bytes"], 3 * 1_460);
}

#[test]
fn a_dry_run_changes_nothing() {
    let Some(bed) = Bed::new() else { return };
    let told = bed.attach("rwndq", &["--dry-run"]);
    assert_eq!(told["action"], "would attach");
    assert_eq!(told["programs"].as_array().unwrap().len(), 2);
    bed.holds_nothing();
    bed.attach("hscc", &[]);
    let before = (bed.record(), bed.pins());
    bed.attach("rwndq", &["--dry-run"]);
    let switch = bed.namespace(SWITCH);
    let told = run(&["detach", "--dev", PORT, "--netns", &switch, "--dry-run"]);
    assert_eq!(told[0]["action"], "would detach");
    assert_eq!((bed.record(), bed.pins()), before);
}

#[test]
fn without_privileges_every_command_names_what_it_needs() {
    let Some(bed) = Bed::new() else { return };
    if testing::tool("setpriv").is_none() {
        return;
    }
    bed.attach("hscc", &[]);
    let before = bed.pins();
    for words in [
        &["attach", "hscc", "--dev", PORT][..],
        &["observe", "--dev", PORT, "--time-s", "1"],
        &["status"],
        &["detach"],
    ] {
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-bpf,-perfmon", "--inh-caps=-bpf,-perfmon"]);
        let output = command
            .arg(program())
            .args(words)
            .output()
            .expect("setpriv starts");
        assert_eq!(output.status.code(), Some(3), "{words:?}");
        let line = line(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(
            line["what"],
            "the capabilities PERFMON and BPF, which root has"
        );
        assert_eq!(line["privileges"], true);
    }
    assert_eq!(bed.pins(), before);
}

#[test]
fn wrong_input_has_its_remedy() {
    let Some(bed) = Bed::new() else { return };
    let switch = bed.namespace(SWITCH);
    let here = ["--netns", switch.as_str(), "--lease-s", "60"];
    let cases: [(&[&str], &str, &str); 7] = [
        (
            &["attach", "hscc", "--dev", "nothing"],
            "has no device nothing",
            "ip link",
        ),
        (
            &["attach", "hscc", "--dev", "eth0"],
            "eth0 has no queue",
            "--queue-of",
        ),
        (
            &["attach", "mark", "--dev", PORT, "--set", "hscc.window=2"],
            "no setting hscc.window",
            "switch.ecn_threshold",
        ),
        (
            &["attach", "hscc", "--dev", PORT, "--set", "hscc.window=x"],
            "hscc.window",
            "",
        ),
        (
            &["attach", "red", "--dev", PORT],
            "nothing is called red",
            "hscc, rwndq, mark or rcc",
        ),
        (
            &["attach", "rcc", "--dev", PORT, "--shadow"],
            "cannot run without acting",
            "attach a law of a port",
        ),
        (
            &["status", "--metrics", "0.0.0.0:9123"],
            "not a loopback address",
            "proxy",
        ),
    ];
    for (words, message, help) in cases {
        let mut command = Command::new(program());
        command.args(words);
        if words[0] == "attach" {
            command.args(here);
        }
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let line = line(&String::from_utf8_lossy(&output.stdout));
        assert!(
            line["message"].as_str().unwrap().contains(message),
            "{line}"
        );
        assert!(
            line["help"].as_str().unwrap_or_default().contains(help),
            "{line}"
        );
    }
    bed.holds_nothing();
}

#[test]
fn prometheus_reads_what_stands() {
    let Some(bed) = Bed::new() else { return };
    bed.attach("hscc", &[]);
    bed.send();
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = free.expect("a port is free").to_string();
    let mut child = Command::new(program())
        .args(["status", "--metrics", &address])
        .spawn()
        .expect("the program starts");
    let text = (0..100).find_map(|_| {
        thread::sleep(Duration::from_millis(50));
        let mut stream = TcpStream::connect(&address).ok()?;
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
            .ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text)
    });
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.expect("kill starts").success());
    let ended = child.wait().expect("it ends");
    let text = text.expect("it answers");
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    for name in [
        "tailwater_acts{",
        "tailwater_rewritten_total{",
        "tailwater_queue_bytes{",
    ] {
        assert!(text.contains(name), "{name} in {text}");
    }
    assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
    assert_eq!(ended.code(), Some(128 + 15));
}

#[test]
fn doctor_tries_everything_and_leaves_nothing() {
    let Some(_bed) = Bed::new() else { return };
    let child = Command::new(program())
        .arg("doctor")
        .stdout(Stdio::piped())
        .spawn();
    let child = child.expect("the program starts");
    let own = format!("tw-{}n", child.id());
    let output = child.wait_with_output().expect("it ends");
    let told = line(&String::from_utf8_lossy(&output.stdout));
    let checks = told["checks"].as_array().unwrap();
    let is = |name: &str, state: &str| {
        checks
            .iter()
            .any(|check| check["name"] == name && check["state"] == state)
    };
    // The other tests of this file need these.
    for name in [
        "privileges",
        "namespaces",
        "veth",
        "TBF",
        "bpf_loop",
        "tcx",
        "bpf_cast_to_kern_ctx",
    ] {
        assert!(is(name, "ok"), "{name}: {told:#}");
    }
    assert_eq!(told["schemes"][3]["attach"], "yes", "{told:#}");
    assert_eq!(output.status.code(), Some(0));
    let mut left = names("/run/netns").into_iter();
    assert!(left.all(|name| !name.starts_with(&own)));
}
