//! The network of these tests: a switch between two hosts, and the commands that are given there.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};
use serde_json::Value;

pub(crate) const SENDER: &str = "sender";
pub(crate) const SWITCH: &str = "switch";
pub(crate) const RECEIVER: &str = "receiver";
/// The port towards the receiver.
pub(crate) const PORT: &str = "eth1";
pub(crate) const TBF: &str = "root tbf rate 100mbit burst 5000 limit 64000";

/// A switch between two hosts, whose port towards the receiver is slow.
pub(crate) struct Bed {
    prefix: String,
    _alone: MutexGuard<'static, ()>,
}

impl Bed {
    /// One at a time; `None` without privileges, which is said aloud.
    pub(crate) fn new() -> Option<Self> {
        static ONE: Mutex<()> = Mutex::new(());
        if let Some(lacks) = machine::privilege::lacks_for_programs() {
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
        for (host, near, far, net) in [(SENDER, "in0", "eth0", 1), (RECEIVER, "out0", PORT, 2)] {
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

    /// A second path from the receiver, which its packets take.
    pub(crate) fn let_acks_go_back_by(&self, device: &str) {
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
            // The check of return paths would drop the receiver's packets, which come in by another device than the one
            // towards it.
            for of in ["all", device] {
                let file = format!("/proc/sys/net/ipv4/conf/{of}/rp_filter");
                fs::write(file, "0").expect("a setting of the namespace");
            }
        });
    }

    pub(crate) fn namespace(&self, of: &str) -> String {
        format!("{}-{of}", self.prefix)
    }

    /// Runs `act` in another thread, which is in that namespace.
    pub(crate) fn inside<T: Send>(&self, of: &str, act: impl FnOnce() -> T + Send) -> T {
        let file = File::open(Path::new("/run/netns").join(self.namespace(of)));
        let file = file.expect("the namespace is there");
        let body = || {
            setns(&file, CloneFlags::CLONE_NEWNET).expect("it can be entered");
            act()
        };
        thread::scope(|scope| scope.spawn(body).join().expect("it does not panic"))
    }

    /// Sends eight flows at once through the port until they are complete.
    pub(crate) fn send(&self) {
        self.transfer(8, 64 << 10);
    }

    /// Sends this many flows of this many bytes at once through the port until they are complete.
    pub(crate) fn transfer(&self, flows: usize, size: usize) {
        // A program that another thread has just started holds the old listener until it runs.
        let listening = |_| {
            let listener = TcpListener::bind("10.9.2.1:5000");
            listener
                .inspect_err(|_| thread::sleep(Duration::from_millis(5)))
                .ok()
        };
        let listener = self.inside(RECEIVER, || (0..200).find_map(listening));
        let listener = listener.expect("a port is free");
        let to = SocketAddr::from(([10, 9, 2, 1], 5_000));
        let connect = || -> Vec<TcpStream> {
            let connect = |_| TcpStream::connect(to).expect("a connection");
            (0..flows).map(connect).collect()
        };
        let streams = self.inside(SENDER, connect);
        thread::scope(|scope| {
            for mut stream in streams {
                scope.spawn(move || stream.write_all(&vec![7; size]).expect("it is sent"));
            }
            for _ in 0..flows {
                let (mut stream, _) = listener.accept().expect("a connection");
                scope.spawn(move || {
                    let mut got = Vec::new();
                    stream
                        .set_read_timeout(Some(Duration::from_secs(20)))
                        .expect("a timeout");
                    stream.read_to_end(&mut got).expect("all arrives");
                    assert!(got.len() == size && got.iter().all(|byte| *byte == 7));
                });
            }
        });
    }

    pub(crate) fn attach(&self, scheme: &str, more: &[&str]) -> Value {
        self.attach_for(scheme, 600, more)
    }

    pub(crate) fn attach_for(&self, scheme: &str, seconds: u32, more: &[&str]) -> Value {
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
    pub(crate) fn dies(&self, step: &str, scheme: &str, more: &[&str]) {
        let switch = self.namespace(SWITCH);
        let mut command = Command::new(program());
        command
            .args(["attach", scheme, "--dev", PORT, "--netns", &switch])
            .args(more);
        let output = command.env("TAILWATER_DIE_AFTER", step).output();
        let status = output.expect("the program starts").status;
        assert_eq!(status.signal(), Some(6), "{step}: {status}");
    }

    pub(crate) fn detach(&self) {
        run(&["detach", "--dev", PORT, "--netns", &self.namespace(SWITCH)]);
    }

    /// The status of the attachment of a device.
    pub(crate) fn status(&self, device: &str) -> Value {
        let switch = self.namespace(SWITCH);
        let words = ["status", "--dev", device, "--netns", &switch];
        run(&words).pop().expect("something is attached")
    }

    /// The status of the attachment of a device, once more windows than before were lowered. On a busy machine flows
    /// begin at different times, so the length of the queue varies.
    pub(crate) fn lowers(&self, device: &str) -> Value {
        let rewritten = |status: &Value| status["rewritten"].as_u64().expect("a count");
        let before = rewritten(&self.status(device));
        let mut tries = (0..20).map(|_| {
            self.send();
            self.status(device)
        });
        let lowered = tries.find(|status| rewritten(status) > before);
        lowered.expect("the law lowers windows")
    }

    /// The record of the port.
    pub(crate) fn record(&self) -> Value {
        let folder = Path::new("/run/tailwater/attached");
        let own = names("/run/tailwater/attached").into_iter().filter(|name| {
            name.starts_with(&self.number())
                && Path::new(name).extension().is_some_and(|end| end == "json")
        });
        let own: Vec<_> = own.collect();
        let text = fs::read(folder.join(&own[0])).expect("a record");
        serde_json::from_slice(&text).expect("JSON")
    }

    pub(crate) fn pins(&self) -> Vec<String> {
        let folder = PathBuf::from("/run/tailwater/bpf").join(self.number());
        let devices = names(folder.to_str().expect("digits"));
        devices
            .iter()
            .flat_map(|device| names(folder.join(device).to_str().expect("digits")))
            .collect()
    }

    /// The number of the switch's namespace.
    pub(crate) fn number(&self) -> String {
        self.number_of(SWITCH)
    }

    /// That of a namespace.
    pub(crate) fn number_of(&self, of: &str) -> String {
        let file = fs::metadata(Path::new("/run/netns").join(self.namespace(of)));
        file.expect("it is there").ino().to_string()
    }

    /// Checks that neither pins nor records of the switch are left.
    pub(crate) fn holds_nothing(&self) {
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
        let places = [
            (SWITCH, PORT),
            (SWITCH, "back1"),
            (SWITCH, "eth0"),
            (RECEIVER, "out0"),
        ];
        for (of, device) in places {
            let netns = self.namespace(of);
            let detach = ["detach", "--dev", device, "--netns", &netns];
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

pub(crate) fn ip(arguments: &str) {
    command(&format!("ip {arguments}"));
}

/// The lines of a command that succeeds.
pub(crate) fn run(words: &[&str]) -> Vec<Value> {
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
    text.lines().map(line).collect()
}

/// A line that the program wrote, which is one of the protocol.
pub(crate) fn line(text: &str) -> Value {
    let line = protocol::Line::read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(line.to_string(), text.trim_end());
    serde_json::to_value(line).expect("JSON")
}

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_tailwater-live")
}

/// Runs a command of words without spaces, which must succeed.
pub(crate) fn command(line: &str) {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let output = command.args(words).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
}

pub(crate) fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}
