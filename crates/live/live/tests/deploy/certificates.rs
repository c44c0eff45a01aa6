//! Certificates of the decisions of laws in the shadow, and laws that act only with a certificate.

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use base::cast::real;
use laws::Call;
use protocol::{Certificate, LEAST_DECISIONS, certify};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bed::{Bed, PORT, SWITCH, command, line, names, program};

/// A folder for logs and certificates, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(bed: &Bed) -> Self {
        let folder = std::env::temp_dir().join(bed.namespace("certificates"));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        let file = self.0.join(name);
        file.to_str().expect("a path").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the folder was there");
    }
}

/// A law in the shadow that logs its decisions.
fn logging(bed: &Bed, scheme: &str, log: &str) -> Child {
    logging_for(bed, scheme, log, 60)
}

/// [`logging`], for this many seconds.
fn logging_for(bed: &Bed, scheme: &str, log: &str, seconds: u32) -> Child {
    let switch = bed.namespace(SWITCH);
    let mut command = Command::new(program());
    command.args(["attach", scheme, "--dev", PORT, "--netns", &switch]);
    command.args(["--shadow", "--lease-s", &seconds.to_string(), "--log", log]);
    if scheme == "mark" {
        command.args(["--set", "switch.ecn_threshold=20KB"]);
    }
    let child = command.stdout(Stdio::piped()).spawn();
    let child = child.expect("the program starts");
    // It drops its privileges once it sees packets.
    for _ in 0..200 {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        if status.is_ok_and(|text| text.contains("CapEff:\t0000000000000000")) {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Ends it, and returns its last line.
fn logged(child: Child) -> Value {
    kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{} {text}", output.status);
    line(text.lines().last().expect("a line"))
}

fn certified(log: &str) -> Certificate {
    let file = File::open(log).expect("a log");
    certify(BufReader::new(file)).unwrap_or_else(|why| panic!("{log}: {why}"))
}

#[test]
fn laws_in_the_shadow_decide_as_the_simulator_and_leave_nothing() {
    let Some(bed) = Bed::new() else { return };
    let folder = Folder::new(&bed);
    for scheme in ["hscc", "rwndq", "mark"] {
        let log = folder.file(scheme);
        let child = logging(&bed, scheme, &log);
        assert_eq!(bed.pins(), [""; 0], "nothing is pinned");
        for _ in 0..5 {
            bed.send();
        }
        let told = logged(child);
        assert_eq!(
            (&told["type"], &told["scheme"]),
            (&"logged".into(), &scheme.into())
        );
        let certificate = certified(&log);
        assert_eq!(told["decisions"], certificate.decisions, "{certificate:?}");
        assert_eq!(told["calls"], certificate.calls, "{certificate:?}");
        assert!(certificate.decisions > 500, "{certificate:?}");
        assert_eq!(certificate.law, scheme);
        let text = fs::read(&log).expect("a log");
        let has_address = text.windows(4).any(|bytes| bytes == [10, 9, 2, 1]);
        assert!(!has_address, "{log} has an address");
    }
    // The flows of the bed fill its queue, so that HSCC switches on.
    let hscc = certified(&folder.file("hscc"));
    assert!(hscc.would_change > 0 && hscc.connections > 0, "{hscc:?}");
    bed.holds_nothing();
}

/// `TAILWATER_DECISIONS` says how many of each law.
#[test]
#[ignore = "takes some minutes for a million: cargo xtask trust decisions"]
fn millions_of_decisions_in_the_shadow_are_those_of_the_simulator() {
    let Some(bed) = Bed::new() else { return };
    let folder = Folder::new(&bed);
    let wanted = std::env::var("TAILWATER_DECISIONS").ok();
    let wanted: u64 = wanted.map_or(1_000_000, |text| text.parse().expect("a number"));
    let switch = bed.namespace(SWITCH);
    // A slower queue would make ACKs rare, and a longer one would not fill.
    command(&format!(
        "tc -n {switch} qdisc replace dev {PORT} root tbf rate 500mbit burst 20000 limit 64000"
    ));
    for scheme in ["hscc", "rwndq", "mark"] {
        let log = folder.file(scheme);
        let child = logging_for(&bed, scheme, &log, 86_400);
        let (begin, mut growing) = (machine::clock::now(), Growing::of(&log));
        while growing.decisions() < wanted {
            bed.transfer(20, 4 << 20);
        }
        let seconds = begin.elapsed().as_secs_f64();
        let own = processor_time(&child);
        logged(child);
        let certificate = certified(&log);
        let text = format!(
            "{scheme}: {} decisions of {} calls are equal, in {seconds:.0} s, {} would have changed a packet; writing them \
             down took {:.2} us of processor time each call",
            certificate.decisions,
            certificate.calls,
            certificate.would_change,
            own.as_secs_f64() * 1e6 / real(certificate.calls),
        );
        writeln!(std::io::stderr(), "{text}").expect("somebody reads");
        assert!(certificate.decisions >= wanted, "{certificate:?}");
        assert!(
            certificate.would_change > 0 || scheme == "mark",
            "{certificate:?}"
        );
        fs::remove_file(log).expect("it is there");
    }
    bed.holds_nothing();
}

/// A log that is being written.
struct Growing {
    file: File,
    /// Read, and not yet a whole call.
    rest: Vec<u8>,
    has_head: bool,
    decisions: u64,
}

impl Growing {
    fn of(log: &str) -> Self {
        Self {
            file: File::open(log).expect("a log"),
            rest: Vec::new(),
            has_head: false,
            decisions: 0,
        }
    }

    /// How many decisions it has.
    fn decisions(&mut self) -> u64 {
        self.file.read_to_end(&mut self.rest).expect("a log");
        if !self.has_head {
            let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') else {
                return 0;
            };
            self.rest.drain(..=end);
            self.has_head = true;
        }
        let (calls, rest) = self.rest.as_chunks::<{ Call::BYTES }>();
        let calls = calls.iter().filter_map(|call| Call::read(call));
        self.decisions += calls.filter(Call::is_decision).count() as u64;
        self.rest = rest.to_vec();
        self.decisions
    }
}

/// The processor time of a process so far.
fn processor_time(child: &Child) -> Duration {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let (_, fields) = text.rsplit_once(") ").expect("a name in brackets");
    // Fields 14 and 15 of proc(5), in ticks of 10 ms; the first one here is the third.
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks
        .map(|field| field.parse::<u64>().expect("ticks"))
        .sum();
    Duration::from_millis(10 * ticks)
}

#[test]
fn a_log_whose_process_is_killed_stays_and_its_programs_do_not() {
    let Some(bed) = Bed::new() else { return };
    let folder = Folder::new(&bed);
    let log = folder.file("killed");
    let mut child = logging(&bed, "hscc", &log);
    (0..3).for_each(|_| bed.send());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(certified(&log).decisions > 0);
    bed.holds_nothing();
    let told = Command::new("tc")
        .args(["-n", &bed.namespace(SWITCH), "filter", "show", "dev", PORT])
        .arg("egress")
        .output();
    assert!(told.expect("tc starts").stdout.is_empty());
}

#[test]
fn a_law_acts_only_with_a_certificate_of_this_machine_and_this_law() {
    let Some(bed) = Bed::new() else { return };
    let folder = Folder::new(&bed);
    let log = folder.file("hscc");
    let child = logging(&bed, "hscc", &log);
    bed.send();
    logged(child);
    let few = certified(&log);
    let file = folder.file("certificate.json");
    let write = |certificate: &Certificate| {
        let text = serde_json::to_vec(certificate).expect("JSON");
        fs::write(&file, text).expect("a file");
    };
    let enough = Certificate {
        decisions: LEAST_DECISIONS,
        ..few.clone()
    };
    let change = |change: fn(&mut Certificate)| {
        let mut certificate = enough.clone();
        change(&mut certificate);
        certificate
    };
    for (certificate, scheme, why) in [
        (few, "hscc", "are too few: 1000000 are needed"),
        (enough.clone(), "rwndq", "it is a certificate of hscc"),
        (
            change(|one| one.decided_by.kernel.push('x')),
            "hscc",
            "it is for another kernel",
        ),
        (
            change(|one| one.decided_by.btf_sha256.clear()),
            "hscc",
            "it is for another types of the kernel",
        ),
        (
            change(|one| one.decided_by.compiler.clear()),
            "hscc",
            "it is for another compiler",
        ),
        (
            change(|one| one.decided_by.program_sha256.clear()),
            "hscc",
            "it is for another program",
        ),
        (
            change(|one| one.decided_by.law_sha256.clear()),
            "hscc",
            "it is for another text of the law",
        ),
    ] {
        write(&certificate);
        let text = refused(&bed, scheme, &["--certified", &file]);
        assert!(
            text.contains(why) && text.contains("tailwater certify FILE"),
            "{text}"
        );
    }
    fs::write(&file, "{}").expect("a file");
    let text = refused(&bed, "hscc", &["--certified", &file]);
    assert!(
        text.contains("the file is not a certificate: missing field"),
        "{text}"
    );
    let text = refused(&bed, "hscc", &["--shadow", "--log", &log]);
    assert!(text.contains("name a new file"), "{text}");
    bed.holds_nothing();
    write(&enough);
    let told = bed.attach("hscc", &["--certified", &file]);
    assert_eq!(told["action"], "attached");
    bed.detach();
    assert_eq!(names(folder.0.to_str().expect("a path")).len(), 2);
}

/// The answer of an attach that is refused as wrong input.
fn refused(bed: &Bed, scheme: &str, more: &[&str]) -> String {
    let switch = bed.namespace(SWITCH);
    let mut command = Command::new(program());
    command.args(["attach", scheme, "--dev", PORT, "--netns", &switch]);
    let output = command.args(["--lease-s", "60"]).args(more).output();
    let output = output.expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}
