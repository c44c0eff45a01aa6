//! Cures that are settings: the commands that `observe --predict` prints do what they say, and are undone.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use machine::netlink::{Devices, QdiscLimit, RootQdisc};
use observed::{CommandSite, Flow, FlowTimes, Observation, Predicted, Prediction};
use protocol::Line;

use crate::bed::{Bed, PORT, RECEIVER, SENDER, SWITCH, command, run};

/// The cures of the port of the bed, as it is seen now, with one flow that this machine sends through it.
fn cures(bed: &Bed) -> (Observation, Vec<Predicted>) {
    let netns = bed.namespace(SWITCH);
    let words = ["observe", "--dev", PORT, "--netns", &netns, "--time-s", "1"];
    let told = run(&words);
    let seen = told.iter().find_map(|line| {
        let line = Line::read(&line.to_string()).expect("a line of the protocol");
        match line {
            Line::Observed(seen) => Some(*seen),
            _ => None,
        }
    });
    let seen = seen.expect("a summary");
    // Only the flow below passed.
    let seen = Observation {
        packet_bytes: [10_000, 0],
        ..seen
    };
    let flow = Flow {
        fct_s: 0.1,
        ..Flow::lossless("10.9.1.1:5000", "10.9.2.1:41000", 10_000)
    };
    let all = seen.cures().into_iter().map(|cure| (cure, None));
    let cures = Prediction::new((&seen, &[flow]), FlowTimes::default(), all).cures;
    (seen, cures)
}

/// The commands of the cure with this name.
fn typed(cures: &[Predicted], name: &str) -> Vec<observed::CureCommand> {
    let cure = cures.iter().find(|cure| cure.name == name);
    cure.unwrap_or_else(|| panic!("{name} is tried"))
        .commands
        .clone()
}

/// A terminal with a folder of its own.
struct Terminal<'a> {
    bed: &'a Bed,
    folder: PathBuf,
}

impl<'a> Terminal<'a> {
    fn new(bed: &'a Bed, name: &str) -> Self {
        let name = format!("tw-cures-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Self { bed, folder }
    }

    /// Types a line into a shell of root on this machine. Returns its output if it succeeds.
    fn tries(&self, of: &str, line: &str) -> Result<String, String> {
        let mut shell = Command::new("sh");
        let line = line.replace("sudo ", "");
        shell.args(["-ec", &line]).current_dir(&self.folder);
        let output = self.bed.inside(of, || shell.output()).expect("sh starts");
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{line}: {said}"))
        }
    }

    fn types(&self, of: &str, line: &str) -> String {
        self.tries(of, line).unwrap_or_else(|why| panic!("{why}"))
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

#[test]
fn a_shorter_timer_is_set_for_the_route_to_the_receiver_and_taken_back() {
    let Some(bed) = Bed::new() else { return };
    let terminal = Terminal::new(&bed, "route");
    let (seen, all) = cures(&bed);
    let by_route = typed(&all, "min_rto 10ms").remove(0);
    assert_eq!(by_route.site, CommandSite::Senders);
    let route = || terminal.types(SENDER, "ip route get fibmatch 10.9.2.1");
    let before = route();
    // Again, and once more with another value: an existing setting is replaced.
    terminal.types(SENDER, &by_route.command.replace("10ms", "20ms"));
    for _ in 0..2 {
        terminal.types(SENDER, &by_route.command);
        let now = route();
        assert!(
            now.contains("default via 10.9.1.2") && now.contains("rto_min lock 10ms"),
            "{now}"
        );
    }
    terminal.types(SENDER, &by_route.undo);
    assert_eq!(route().trim(), before.trim());
    assert_eq!(seen.has_rto_min_us, by_route.or.is_some());
    let Some(or) = by_route.or else {
        testing::skipped("this kernel has no net.ipv4.tcp_rto_min_us");
        return;
    };
    let (_, of_all) = or.split_once(": ").expect("when, and what to type");
    terminal.types(SENDER, of_all);
    let timer = terminal.types(SENDER, "sysctl -n net.ipv4.tcp_rto_min_us");
    assert_eq!(timer.trim(), "10000");
}

#[test]
fn the_room_of_the_queue_is_changed_and_nothing_else_of_it() {
    let Some(bed) = Bed::new() else { return };
    let terminal = Terminal::new(&bed, "room");
    let queue = || -> RootQdisc {
        bed.inside(SWITCH, || {
            let mut devices = Devices::open().expect("netlink");
            let device = devices.named(PORT).expect("netlink").expect("the port");
            devices
                .queue(device.index)
                .expect("netlink")
                .expect("a queue")
        })
    };
    let switch = bed.namespace(SWITCH);
    let kinds = [
        (
            "tbf rate 100mbit burst 5000 limit 64000",
            QdiscLimit::Bytes(256_000),
        ),
        ("bfifo limit 64000", QdiscLimit::Bytes(256_000)),
        ("pfifo limit 40", QdiscLimit::Packets(160)),
    ];
    for (kind, then) in kinds {
        command(&format!(
            "tc -n {switch} qdisc replace dev {PORT} root {kind}"
        ));
        let before = queue();
        let (_, all) = cures(&bed);
        let room = &typed(&all, "buffer x4")[0];
        // The command contains the namespace.
        assert!(
            room.site == CommandSite::Here && room.command.contains(&switch),
            "{room:?}"
        );
        terminal.types(RECEIVER, &room.command);
        let now = queue();
        let expected = RootQdisc {
            limit: Some(then),
            ..before.clone()
        };
        assert_eq!(now, expected, "{}", room.command);
        terminal.types(RECEIVER, &room.undo);
        assert_eq!(queue(), before, "{}", room.undo);
    }
}

#[test]
fn receive_buffers_are_bounded_and_as_they_were_afterwards() {
    let Some(bed) = Bed::new() else { return };
    let terminal = Terminal::new(&bed, "rmem");
    let (_, all) = cures(&bed);
    let buffer = &typed(&all, "receive buffer 16 KiB")[0];
    assert_eq!(buffer.site, CommandSite::Receiver);
    let bounds = || terminal.types(RECEIVER, "sysctl -n net.ipv4.tcp_rmem");
    let before = bounds();
    terminal.types(RECEIVER, &buffer.command);
    let now: Vec<_> = bounds().split_whitespace().map(str::to_owned).collect();
    assert_eq!(now, ["4096", "16384", "16384"]);
    // Transfers still complete with such a small buffer.
    bed.transfer(2, 100_000);
    terminal.types(RECEIVER, &buffer.undo);
    assert_eq!(bounds(), before);
}

#[test]
fn marks_are_asked_for_where_the_kernel_has_dctcp() {
    let Some(bed) = Bed::new() else { return };
    let terminal = Terminal::new(&bed, "dctcp");
    let (_, all) = cures(&bed);
    let typed = typed(&all, "dctcp");
    let [_, hosts] = &typed[..] else {
        panic!("the port and the hosts: {typed:?}")
    };
    let names = "net.ipv4.tcp_ecn net.ipv4.tcp_congestion_control";
    let settings = || terminal.types(SENDER, &format!("sysctl -n {names}"));
    let before = settings();
    if let Err(why) = terminal.tries(SENDER, &hosts.command) {
        // A namespace may choose only among what the machine has and allows to all.
        testing::skipped(&format!(
            "this kernel does not let namespaces use DCTCP: {why}"
        ));
        return;
    }
    assert_eq!(
        settings().split_whitespace().collect::<Vec<_>>(),
        ["1", "dctcp"]
    );
    terminal.types(SENDER, &hosts.undo);
    assert_eq!(settings(), before);
}
