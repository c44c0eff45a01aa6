//! Laws at a port of this machine, by the commands: attached, changed, replaced, forgotten by nobody.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use serde_json::Value;

const SENDER: &str = "sender";
const SWITCH: &str = "switch";
const RECEIVER: &str = "receiver";
/// The port towards the receiver.
const PORT: &str = "out1";
const TBF: &str = "root tbf rate 100mbit burst 5000 limit 64000";

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
        bed.attach_for("hscc", 2, &[]);
        thread::sleep(Duration::from_secs(3));
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

/// Tells others to end when it goes, be it by a panic.
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
        drift.contains("room for 32000 bytes, and was tbf with room for 64000"),
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
        let line: Value = serde_json::from_slice(&output.stdout).expect("a line");
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
    let cases: [(&[&str], &str, &str); 6] = [
        (
            &["attach", "hscc", "--dev", "nothing"],
            "has no device nothing",
            "ip link",
        ),
        (
            &["attach", "hscc", "--dev", "in1"],
            "in1 has no queue",
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
            "hscc, rwndq or mark",
        ),
        (
            &["status", "--metrics", "0.0.0.0:9123"],
            "not an address of this machine alone",
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
        let line: Value = serde_json::from_slice(&output.stdout).expect("a line");
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
    let told: Value = serde_json::from_slice(&output.stdout).expect("one line");
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

/// The page speaks to `tailwater`, which hands its words on; here they are said to the privileged program itself.
#[test]
fn the_commands_of_the_page_about_attaching_do_what_it_says() {
    let Some(bed) = Bed::new() else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/attach.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let switch = bed.namespace(SWITCH);
    let lines: Vec<&str> = page.lines().collect();
    let mut ran = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix("$ sudo tailwater ") else {
            continue;
        };
        let command = command.replace("eth1", PORT);
        let command = command.replace("--for 10m", "--lease-s 600");
        let mut words: Vec<_> = command.split(' ').collect();
        words.extend(["--netns", &switch]);
        let told = run(&words).remove(0);
        let expected = *lines.get(at + 1).expect("an answer follows");
        let (scheme, action) = (&told["scheme"], &told["action"]);
        let [scheme, action] = [scheme, action].map(|word| word.as_str().unwrap_or_default());
        let first = match action {
            "" => format!("eth1: {scheme}, "),
            action => format!("{action} {scheme} at eth1"),
        };
        assert!(
            expected.starts_with(&first),
            "{line}: {expected} and {told}"
        );
        for (key, value) in told["settings"].as_object().into_iter().flatten() {
            let setting = format!("  {key} = {}", value.as_str().unwrap_or_default());
            let shown = lines[at + 1..].iter().take_while(|line| !line.is_empty());
            let is_shown = action.is_empty() || shown.into_iter().any(|line| *line == setting);
            assert!(is_shown, "{line} shows {setting}");
        }
        ran += 1;
    }
    assert!(ran >= 6, "{ran} commands");
    bed.holds_nothing();
}

/// A switch between two hosts, whose port towards the receiver is slow.
struct Bed {
    prefix: String,
    _alone: MutexGuard<'static, ()>,
}

impl Bed {
    /// One at a time; `None` without privileges, said aloud.
    fn new() -> Option<Self> {
        static ONE: Mutex<()> = Mutex::new(());
        if let Some(lacks) = live::lacks_for_programs() {
            testing::skipped(&format!("this process has not {lacks}"));
            return None;
        }
        testing::tool("ip")?;
        testing::tool("tc")?;
        let bed = Self {
            prefix: format!("tw-deploy-{}", std::process::id()),
            _alone: ONE.lock().unwrap_or_else(PoisonError::into_inner),
        };
        for of in [SENDER, SWITCH, RECEIVER] {
            ip(&format!("netns add {}", bed.namespace(of)));
        }
        for (host, near, far, net) in [(SENDER, "in0", "in1", 1), (RECEIVER, "out0", PORT, 2)] {
            let (host, switch) = (bed.namespace(host), bed.namespace(SWITCH));
            ip(&format!(
                "link add {near} netns {host} type veth peer name {far} netns {switch}"
            ));
            ip(&format!("-n {host} addr add 10.9.{net}.1/24 dev {near}"));
            ip(&format!("-n {switch} addr add 10.9.{net}.2/24 dev {far}"));
            ip(&format!("-n {host} link set {near} gso_max_segs 1 up"));
            ip(&format!("-n {switch} link set {far} gso_max_segs 1 up"));
            ip(&format!("-n {host} route add default via 10.9.{net}.2"));
        }
        let switch = bed.namespace(SWITCH);
        bed.inside(SWITCH, || {
            fs::write("/proc/sys/net/ipv4/ip_forward", "1").expect("it forwards");
        });
        command(&format!("tc -n {switch} qdisc add dev {PORT} {TBF}"));
        Some(bed)
    }

    /// A second way from the receiver, which what it sends takes.
    fn let_acks_go_back_by(&self, device: &str) {
        let (host, switch) = (self.namespace(RECEIVER), self.namespace(SWITCH));
        ip(&format!(
            "link add back0 netns {host} type veth peer name {device} netns {switch}"
        ));
        ip(&format!("-n {host} addr add 10.9.3.1/24 dev back0"));
        ip(&format!("-n {switch} addr add 10.9.3.2/24 dev {device}"));
        ip(&format!("-n {host} link set back0 up"));
        ip(&format!("-n {switch} link set {device} up"));
        ip(&format!("-n {host} route replace default via 10.9.3.2"));
        self.inside(SWITCH, || {
            // What comes from the receiver is expected where the way to it begins.
            for of in ["all", device] {
                let file = format!("/proc/sys/net/ipv4/conf/{of}/rp_filter");
                fs::write(file, "0").expect("a setting of the namespace");
            }
        });
    }

    fn namespace(&self, of: &str) -> String {
        format!("{}-{of}", self.prefix)
    }

    /// In another thread, which is in that namespace.
    fn inside<T: Send>(&self, of: &str, act: impl FnOnce() -> T + Send) -> T {
        let file = File::open(Path::new("/run/netns").join(self.namespace(of)));
        let file = file.expect("the namespace is there");
        let body = || {
            setns(&file, CloneFlags::CLONE_NEWNET).expect("it can be entered");
            act()
        };
        thread::scope(|scope| scope.spawn(body).join().expect("it does not panic"))
    }

    /// Eight flows at once through the port, complete.
    fn send(&self) {
        const FLOWS: usize = 8;
        const SIZE: usize = 64 << 10;
        let listener = self.inside(RECEIVER, || TcpListener::bind("10.9.2.1:5000"));
        let listener = listener.expect("a port is free");
        let to = SocketAddr::from(([10, 9, 2, 1], 5_000));
        let connect = || -> Vec<TcpStream> {
            let connect = |_| TcpStream::connect(to).expect("a connection");
            (0..FLOWS).map(connect).collect()
        };
        let streams = self.inside(SENDER, connect);
        thread::scope(|scope| {
            for mut stream in streams {
                scope.spawn(move || stream.write_all(&vec![7; SIZE]).expect("it is sent"));
            }
            for _ in 0..FLOWS {
                let (mut stream, _) = listener.accept().expect("a connection");
                scope.spawn(move || {
                    let mut got = Vec::new();
                    stream
                        .set_read_timeout(Some(Duration::from_secs(20)))
                        .expect("a timeout");
                    stream.read_to_end(&mut got).expect("all arrives");
                    assert!(got.len() == SIZE && got.iter().all(|byte| *byte == 7));
                });
            }
        });
    }

    fn attach(&self, scheme: &str, more: &[&str]) -> Value {
        self.attach_for(scheme, 600, more)
    }

    fn attach_for(&self, scheme: &str, seconds: u32, more: &[&str]) -> Value {
        let (switch, seconds) = (self.namespace(SWITCH), seconds.to_string());
        let words = [
            "attach",
            scheme,
            "--dev",
            PORT,
            "--netns",
            &switch,
            "--lease-s",
            &seconds,
        ];
        let threshold = ["--set", "switch.ecn_threshold=20KB"];
        let set = (scheme == "mark")
            .then_some(threshold)
            .into_iter()
            .flatten();
        let words: Vec<_> = words
            .into_iter()
            .chain(set)
            .chain(more.iter().copied())
            .collect();
        run(&words).remove(0)
    }

    /// An attach that is killed after this step.
    fn dies(&self, step: &str, scheme: &str, more: &[&str]) {
        let switch = self.namespace(SWITCH);
        let mut command = Command::new(program());
        command
            .args(["attach", scheme, "--dev", PORT, "--netns", &switch])
            .args(more);
        let output = command.env("TAILWATER_DIE_AFTER", step).output();
        let status = output.expect("the program starts").status;
        assert_eq!(status.signal(), Some(6), "{step}: {status}");
    }

    fn detach(&self) {
        run(&["detach", "--dev", PORT, "--netns", &self.namespace(SWITCH)]);
    }

    /// Of the attachment of a device.
    fn status(&self, device: &str) -> Value {
        let switch = self.namespace(SWITCH);
        let words = ["status", "--dev", device, "--netns", &switch];
        run(&words).pop().expect("something is attached")
    }

    /// Of the attachment of a device, once windows more than before were lowered. How long the queue gets depends on
    /// how far apart a busy machine lets the flows begin.
    fn lowers(&self, device: &str) -> Value {
        let rewritten = |status: &Value| status["rewritten"].as_u64().expect("a count");
        let before = rewritten(&self.status(device));
        let mut tries = (0..20).map(|_| {
            self.send();
            self.status(device)
        });
        let lowered = tries.find(|status| rewritten(status) > before);
        lowered.expect("the law lowers windows")
    }

    /// What was written down of the port.
    fn record(&self) -> Value {
        let folder = Path::new("/run/tailwater/attached");
        let own = names("/run/tailwater/attached").into_iter().filter(|name| {
            name.starts_with(&self.number())
                && Path::new(name).extension().is_some_and(|end| end == "json")
        });
        let own: Vec<_> = own.collect();
        let text = fs::read(folder.join(&own[0])).expect("a record");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn pins(&self) -> Vec<String> {
        let folder = PathBuf::from("/run/tailwater/bpf").join(self.number());
        let devices = names(folder.to_str().expect("digits"));
        devices
            .iter()
            .flat_map(|device| names(folder.join(device).to_str().expect("digits")))
            .collect()
    }

    /// The number of the switch's namespace.
    fn number(&self) -> String {
        let file = fs::metadata(Path::new("/run/netns").join(self.namespace(SWITCH)));
        file.expect("it is there").ino().to_string()
    }

    /// Neither pins nor records of the switch are left.
    fn holds_nothing(&self) {
        assert_eq!(self.pins(), [""; 0]);
        let number = self.number();
        let folders = ["/run/tailwater/attached", "/run/tailwater/bpf"];
        let left = folders
            .into_iter()
            .flat_map(names)
            .filter(|name| name.starts_with(&number));
        assert_eq!(left.collect::<Vec<_>>(), [""; 0]);
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let number = self.number();
        let switch = self.namespace(SWITCH);
        for device in [PORT, "back1"] {
            let detach = ["detach", "--dev", device, "--netns", &switch];
            drop(Command::new(program()).args(detach).output());
        }
        for of in [SENDER, SWITCH, RECEIVER] {
            let namespace = self.namespace(of);
            drop(
                Command::new("ip")
                    .args(["netns", "del", &namespace])
                    .output(),
            );
        }
        drop(fs::remove_dir(Path::new("/run/tailwater/bpf").join(number)));
    }
}

fn ip(arguments: &str) {
    command(&format!("ip {arguments}"));
}

/// What a command that succeeds tells.
fn run(words: &[&str]) -> Vec<Value> {
    let output = Command::new(program())
        .args(words)
        .stdout(Stdio::piped())
        .output();
    let output: Output = output.expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{words:?}: {} {text}",
        output.status
    );
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("lines are JSON"));
    lines.collect()
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_tailwater-live")
}

/// A command of words without spaces, which succeeds.
fn command(line: &str) {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let output = command.args(words).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}
