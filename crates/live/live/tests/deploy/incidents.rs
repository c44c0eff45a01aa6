//! Many incidents: kept, simulated and shrunk by the command.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::Ends;
use crate::bed::{Bed, PORT, SENDER, SWITCH, command, ip, program};

/// The network and the traffic of an incident.
#[derive(Clone, Copy, Debug)]
struct Order {
    rate_mbit: u32,
    room_bytes: u32,
    flows: usize,
    size: usize,
    first_window: u32,
}

/// The numbers of an incident that were found.
struct Found {
    /// Of the whole observation.
    seen: u64,
    /// From the first flow of the crowd to the end of its last one.
    flows: u64,
    /// The fewest that show it, if the model does.
    least: Option<u64>,
    /// Senders of the plain incast, if one shows it under ten seeds.
    plain: Option<u64>,
    verdict: String,
}

/// `TAILWATER_INCIDENTS` says how many.
#[test]
#[ignore = "takes a quarter of an hour: cargo xtask trust incidents"]
fn of_thirty_incidents_25_fit_and_are_shrunk_and_no_file_has_an_address() {
    let Some(bed) = Bed::new() else { return };
    let tailwater = Path::new(program()).with_file_name("tailwater");
    assert!(tailwater.is_file(), "cargo build -p tailwater comes first");
    let count = std::env::var("TAILWATER_INCIDENTS").ok();
    let count: usize = count.map_or(30, |text| text.parse().expect("a number"));
    let folder = std::env::temp_dir().join(bed.namespace("incidents"));
    fs::create_dir_all(&folder).expect("a folder");
    let begin = machine::clock::now();
    let (mut all, mut missed) = (Vec::new(), 0);
    for number in 0..count {
        let order = Order::of(number);
        let file = folder.join(format!("{number}.toml"));
        let Some(found) = order.emulated(&bed, &tailwater, &file) else {
            missed += 1;
            say(&format!("{order:?}: no incident"));
            continue;
        };
        say(&format!(
            "{order:?}: {}, {} of {} flows, least {:?}, plain {:?}",
            found.verdict, found.flows, found.seen, found.least, found.plain
        ));
        all.push(found);
    }
    let files = fs::read_dir(&folder).expect("a folder");
    for file in files {
        let path = file.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a text");
        let has_address = ["10.9.1.", "10.9.2."].iter().any(|net| text.contains(net));
        assert!(!has_address, "{} has an address", path.display());
    }
    let fits = all.iter().filter(|found| found.least.is_some()).count();
    let shrunk = |part: u64, of: fn(&Found) -> u64| {
        let is = |found: &&Found| found.least.is_some_and(|least| part * least <= of(found));
        all.iter().filter(is).count()
    };
    let plain = all.iter().filter(|found| found.plain.is_some()).count();
    let incast = all.iter().filter(|found| found.verdict == "incast").count();
    say(&format!(
        "{count} emulated in {:.0} s: {} lost something, {missed} did not; {incast} called incast; {fits} fit; shrunk to a tenth of \
         what was seen {}, of the incident {}, to a third of it {}; {plain} with a plain incast under ten seeds",
        begin.elapsed().as_secs_f64(),
        all.len(),
        shrunk(10, |found| found.seen),
        shrunk(10, |found| found.flows),
        shrunk(3, |found| found.flows),
    ));
    fs::remove_dir_all(folder).expect("the folder goes");
    assert!(6 * fits >= 5 * all.len(), "{fits} of {} fit", all.len());
    let tenths = shrunk(10, |found| found.seen);
    assert_eq!(
        tenths, fits,
        "of those that fit, to a tenth of what was seen"
    );
    bed.holds_nothing();
}

impl Order {
    /// Five sizes of crowds, each with all queues and first windows in turn.
    fn of(number: usize) -> Self {
        Self {
            rate_mbit: [50, 100, 200][number / 5 % 3],
            room_bytes: [32_000, 64_000, 96_000, 48_000][number % 4],
            flows: [40, 60, 80, 100, 120][number % 5],
            size: [24, 32, 48, 64, 40, 20, 56][number % 7] << 10,
            first_window: [10, 4, 2][number % 3],
        }
    }

    /// Sends it again and again, with small flows in between, and lets the command keep the worst of five seconds.
    fn emulated(self, bed: &Bed, tailwater: &Path, file: &Path) -> Option<Found> {
        let Self {
            rate_mbit,
            room_bytes,
            first_window,
            ..
        } = self;
        let (switch, sender) = (bed.namespace(SWITCH), bed.namespace(SENDER));
        command(&format!(
            "tc -n {switch} qdisc replace dev {PORT} root tbf rate {rate_mbit}mbit burst 5000 limit {room_bytes}"
        ));
        ip(&format!(
            "-n {sender} route change default via 10.9.1.2 initcwnd {first_window} congctl cubic"
        ));
        let over = AtomicBool::new(false);
        let output = thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    bed.transfer(self.flows, self.size);
                    bed.transfer(2, 3_000);
                    thread::sleep(Duration::from_millis(30));
                }
            });
            let until = Ends(&over);
            let output = Command::new(tailwater)
                .args(["observe", "--dev", PORT, "--netns", &switch, "--for", "5s"])
                .args(["--format", "json", "--incident"])
                .arg(file)
                .stderr(Stdio::null())
                .output();
            drop(until);
            output.expect("the command starts")
        });
        assert!(output.status.success(), "{self:?}: {}", output.status);
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let incident = &told["incident"];
        let verdict = &told["observed"]["judged"]["verdict"];
        Some(Found {
            seen: told["observed"]["flows"].as_u64()?,
            flows: incident["flows"].as_u64()?,
            least: incident["least"]["flows"].as_u64(),
            plain: incident["plain"]["senders"].as_u64(),
            verdict: verdict.as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// Says what was measured.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("somebody reads");
}
