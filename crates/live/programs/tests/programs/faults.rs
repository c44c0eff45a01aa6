//! Failures around a law under load. They do not harm the connections.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use laws::Idle;
use programs::{Port, Reason};

use crate::bed::{Bed, Flows, RECEIVER, SENDER, SWITCH, enter};
use crate::live::{INTERVAL, attached, hscc, rwndq};
use crate::{are_there, count, loaded, program_ids};

#[test]
fn killing_the_holder_of_a_law_a_hundred_times_costs_no_connection() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let flows = bed.flows(FLOWS);
    let without = lost(&bed, || thread::sleep(Duration::from_secs(1)));
    let with = lost(&bed, || {
        for number in 0..100 {
            let mut holder = Holder::start(&bed, number % 2 == 0);
            thread::sleep(Duration::from_millis(100));
            assert!(are_there(&holder.programs), "it holds its programs");
            holder.process.kill().expect("it is killed");
            holder.process.wait().expect("it has ended");
            // The kernel removes programs once no packet can be in them.
            let mut looks = (0..1_000).map(|_| thread::sleep(Duration::from_millis(10)));
            assert!(
                looks.any(|()| !are_there(&holder.programs)),
                "they go with it"
            );
        }
    });
    assert!(with <= without, "{with} lost or reset, {without} without");
    assert_alive(&flows);
}

/// A process that loads a law, attaches it to the queue of the bed, and holds it.
struct Holder {
    process: Child,
    /// The numbers of its programs in the kernel.
    programs: Vec<u32>,
}

impl Holder {
    /// HSCC, or RWNDQ. It acts when this returns.
    fn start(bed: &Bed, is_hscc: bool) -> Self {
        let namespace = PathBuf::from("/run/netns").join(bed.namespace(SWITCH));
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "--ignored", "--nocapture"]);
        command.arg("faults::holds_a_law_until_it_is_killed");
        command.env(NAMESPACE, namespace);
        command.env(DEVICE, bed.device().to_string());
        command.env(LAW, if is_hscc { "hscc" } else { "rwndq" });
        let started = command.stdout(Stdio::piped()).spawn();
        let mut process = started.expect("it starts");
        let said = BufReader::new(process.stdout.take().expect("a pipe"));
        let lines = said.lines().map_while(Result::ok);
        let mut numbers = lines.filter_map(|line| Some(line.split_once(HOLDS)?.1.to_owned()));
        let numbers = numbers.next().expect("it holds programs");
        let numbers = numbers.split_whitespace().map(str::parse);
        let programs = numbers.collect::<Result<_, _>>().expect("numbers");
        Self { process, programs }
    }
}

#[test]
#[ignore = "other tests of `cargo test -p programs --features kernel` start and kill it"]
fn holds_a_law_until_it_is_killed() {
    let Some(namespace) = env::var_os(NAMESPACE) else {
        return;
    };
    let device = env::var(DEVICE).expect("a device").parse();
    let law = match env::var(LAW).expect("a law").as_str() {
        "hscc" => hscc().loadable(),
        _ => rwndq().loadable(INTERVAL, &Idle::new(0), false),
    };
    let port = Port::load(&law).expect("a law");
    port.renew(Duration::from_mins(1)).expect("a lease");
    enter(&PathBuf::from(namespace)).expect("the namespace is there");
    let attached = port.attach(device.expect("a number"));
    let attached = attached.expect("the device takes the program");
    let numbers = program_ids(&port).map(|number| number.to_string());
    writeln!(io::stdout(), "{HOLDS} {}", numbers.join(" ")).expect("somebody reads it");
    thread::sleep(Duration::from_mins(1));
    drop(attached);
}

#[test]
fn a_lease_that_is_over_stops_the_rewriting_within_a_second_under_load() {
    let Some((bed, port)) = port() else {
        return;
    };
    let attached = attached(&bed, &port);
    let flows = bed.flows(FLOWS);
    acts(&port);
    port.renew(Duration::from_millis(500)).expect("a lease");
    thread::sleep(Duration::from_millis(1_500));
    let before = [Reason::Rewritten, Reason::NoLease].map(|of| count(&port, of));
    grows(&port, Reason::NoLease, before[1] + 1_000);
    assert_eq!(count(&port, Reason::Rewritten), before[0], "it is over");
    assert_alive(&flows);
    drop(attached);
}

#[test]
fn a_law_goes_on_at_a_queue_that_is_replaced_under_load() {
    let Some((bed, port)) = port() else {
        return;
    };
    let attached = attached(&bed, &port);
    let flows = bed.flows(FLOWS);
    for limit in [64_000, 128_000, 64_000] {
        bed.queue("replace", "bfifo limit 64000");
        thread::sleep(Duration::from_millis(200));
        bed.queue(
            "replace",
            &format!("tbf rate 200mbit burst 5000 limit {limit}"),
        );
        acts(&port);
    }
    assert_alive(&flows);
    drop(attached);
}

#[test]
fn a_device_that_is_deleted_takes_its_law_along_and_nothing_else() {
    let Some((bed, port)) = port() else {
        return;
    };
    let attached = attached(&bed, &port);
    let flows = bed.flows(FLOWS);
    acts(&port);
    bed.delete_device();
    thread::sleep(Duration::from_millis(500));
    let still = count(&port, Reason::Rewritten);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(count(&port, Reason::Rewritten), still, "it acts no more");
    // Neither dropping the link nor renewing the lease fails, and the law can act elsewhere.
    port.renew(Duration::from_mins(1)).expect("a lease");
    drop((attached, flows, bed));
    let Some(bed) = Bed::new() else {
        return;
    };
    let attached = self::attached(&bed, &port);
    bed.incast(crate::live::SENDERS, crate::live::SIZE);
    let acts = count(&port, Reason::Rewritten);
    assert!(acts > still + 100, "{still} windows, then {acts}");
    drop(attached);
}

#[test]
fn a_hundred_flows_pass_a_law_that_remembers_sixteen_directions() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let Some(port) = loaded(Port::load_as(&hscc().loadable(), HSCC, 16)) else {
        return;
    };
    let attached = attached(&bed, &port);
    bed.incast(100, 64 << 10);
    let forgotten = count(&port, Reason::Unknown);
    assert!(
        forgotten > 100,
        "{forgotten} ACKs of connections that it forgot"
    );
    assert_eq!(count(&port, Reason::Failed), 0);
    drop(attached);
}

/// A bed, and HSCC for it.
fn port() -> Option<(Bed, Port)> {
    let bed = Bed::new()?;
    let port = loaded(Port::load(&hscc().loadable()))?;
    Some((bed, port))
}

/// Connections that are reset or refused, at either end, while `act` runs.
fn lost(bed: &Bed, act: impl FnOnce()) -> u64 {
    let now = || {
        let counters = ["EstabResets", "OutRsts", "AttemptFails"];
        let of = |host| counters.map(|name| bed.tcp_counter(host, name));
        [SENDER, RECEIVER].map(of).concat().iter().sum::<u64>()
    };
    let before = now();
    act();
    now() - before
}

/// Waits until the law has lowered a hundred windows more.
fn acts(port: &Port) {
    let before = count(port, Reason::Rewritten);
    grows(port, Reason::Rewritten, before + 100);
}

/// Waits until a counter exceeds `least`; how soon depends on the other work of the machine.
#[track_caller]
fn grows(port: &Port, of: Reason, least: u64) {
    let mut looks = (0..200).map(|_| {
        thread::sleep(Duration::from_millis(50));
        count(port, of)
    });
    assert!(
        looks.any(|count| count > least),
        "{of:?}: {}",
        count(port, of)
    );
}

/// Each flow still makes progress, perhaps after some timeouts in a row.
fn assert_alive(flows: &Flows) {
    let mut moved = vec![false; FLOWS];
    for _ in 0..20 {
        let bytes = flows.bytes_in(Duration::from_millis(500));
        let now = moved.iter_mut().zip(bytes);
        now.for_each(|(moved, bytes)| *moved |= bytes > 0);
        if moved.iter().all(|moved| *moved) {
            return;
        }
    }
    panic!("flows that go on: {moved:?}");
}

const FLOWS: usize = 4;
const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc.o"));
/// The environment variable for the process that holds a law, and the line that it prints once it does.
const NAMESPACE: &str = "TAILWATER_TEST_NAMESPACE";
const DEVICE: &str = "TAILWATER_TEST_DEVICE";
const LAW: &str = "TAILWATER_TEST_LAW";
const HOLDS: &str = "holds programs";
