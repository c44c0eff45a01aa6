//! Features of the kernel that programs need, each tested by a program.

use std::io;
use std::thread;
use std::time::Duration;

use programs::observer::{DeviceObserver, ObserverOptions, Totals};
use programs::probes;
use programs::{Attached, LoadError, Port};
use schemes::linux::{self, KernelPort, Needs, Runs};

use super::trial::{DEVICE, TrialNetwork};
use super::{BACKLOG, BPF_LOOP, Check, OBSERVER, PROGRAMS, RING, STRUCT_OPS, State, TCX};

/// Tries everything that programs need.
pub(super) fn programs(trial: &TrialNetwork) -> Vec<Check> {
    let mut checks = vec![Check::ok(PROGRAMS, built())];
    checks.push(probed(
        BPF_LOOP,
        probes::loops(),
        "a kernel from 5.17 on",
        true,
    ));
    checks.extend(at_a_device(trial));
    checks.push(probed(
        RING,
        probes::has_ring_buffer(),
        "a kernel from 5.8 on",
        false,
    ));
    checks.push(observer(trial));
    checks.extend(laws());
    checks.push(struct_ops());
    checks
}

fn probed(
    name: &'static str,
    probed: Result<bool, LoadError>,
    cure: &'static str,
    essential: bool,
) -> Check {
    let check = match probed {
        Ok(true) => return Check::ok(name, "tried"),
        Ok(false) => Check::fails(name, State::Broken, &"it did not behave as expected", cure),
        Err(error) => Check::fails(name, State::Missing, &error, cure),
    };
    if essential { check.essential() } else { check }
}

/// A program at the link reads the queue in front of it.
fn at_a_device(trial: &TrialNetwork) -> [Check; 2] {
    const NEWER: &str = "a kernel from 6.2 on";
    let needs = |why: &LoadError| Check::fails(BACKLOG, State::Missing, &why, NEWER).essential();
    let port = match Port::load(&programs::queue()) {
        Ok(port) => port,
        Err(error) => {
            let tcx = super::untried(TCX, "needs a program that can be loaded");
            return [tcx, needs(&error)];
        }
    };
    let attached = trial.within(|| port.attach(DEVICE).map_err(io::Error::other));
    let attached = match attached {
        Ok(attached) => attached,
        Err(error) => {
            let tcx = Check::fails(TCX, State::Missing, &error, "a kernel from 6.6 on").essential();
            return [tcx, super::untried(BACKLOG, "needs tcx")];
        }
    };
    let tcx = Check::ok(TCX, "attached to a link of its own");
    let backlog = match mean_queue(trial, &port, &attached) {
        Ok(Some(bytes)) if bytes > 0.0 => Check::ok(
            BACKLOG,
            format!("a program saw {bytes:.0} bytes wait on average"),
        ),
        Ok(_) => {
            let why = "a program saw no packet wait where some did";
            Check::fails(BACKLOG, State::Broken, &why, NEWER).essential()
        }
        Err(error) => Check::fails(BACKLOG, State::Broken, &error, NEWER).essential(),
    };
    [tcx, backlog]
}

fn mean_queue(trial: &TrialNetwork, port: &Port, _attached: &Attached) -> io::Result<Option<f64>> {
    port.renew(Duration::from_secs(10))
        .map_err(io::Error::other)?;
    trial.send()?;
    port.mean_queue().map_err(io::Error::other)
}

/// The programs of observe: at a device, and at four tracepoints of drops and TCP.
fn observer(trial: &TrialNetwork) -> Check {
    const CURE: &str =
        "a kernel from 6.6 on with these tracepoints; without them observe does not run";
    match observed(trial) {
        Ok(totals) if totals.packets[0] > 0 && totals.queue_most > 0 => {
            let (packets, most) = (totals.packets[0], totals.queue_most);
            Check::ok(
                OBSERVER,
                format!("saw {packets} packets, and {most} bytes wait"),
            )
        }
        Ok(_) => Check::fails(OBSERVER, State::Broken, &"no packet was seen to wait", CURE),
        Err(error) => Check::fails(OBSERVER, State::Missing, &error, CURE),
    }
}

fn observed(trial: &TrialNetwork) -> io::Result<Totals> {
    let watch = ObserverOptions {
        queue_shift: 10,
        degree: 8,
        burst_bytes: 0,
        burst: Duration::from_micros(100),
        packets_per_second: 1_000_000,
        has_queue: true,
        queue_bps: 0,
    };
    let mut observer = DeviceObserver::load(watch).map_err(io::Error::other)?;
    trial.within(|| observer.attach(DEVICE).map_err(io::Error::other))?;
    trial.send()?;
    // Sent packets may not have reached the queue.
    thread::sleep(Duration::from_millis(10));
    observer.detach();
    observer.totals().map_err(io::Error::other)
}

/// Which laws this program has: those that can be attached, then the others.
fn built() -> String {
    let laws = linux::kernel_laws().into_iter().map(|(_, law)| law);
    let (all, others): (Vec<_>, Vec<_>) = laws.partition(|law| law.is_attachable());
    let names: Vec<&str> = all.iter().chain(&others).map(|law| law.name).collect();
    let (last, first) = names.split_last().expect("there are laws");
    format!("{} and {last} are in this tailwater-live", first.join(", "))
}

/// The laws that need more than what was tried before: whether the kernel takes them.
fn laws() -> Vec<Check> {
    let mut checks = Vec::new();
    for (scheme, law) in linux::kernel_laws() {
        let (Needs::Loading { check, remedy }, Runs::Kernel(load)) = (law.needs, law.runs) else {
            continue;
        };
        let text = |key: &str| {
            let mut given = law.fixed.iter().chain(law.attached());
            let given = given.find(|(own, _)| *own == key).map(|(_, text)| *text);
            let usual = || scheme.keys.iter().find(|own| own.name == key);
            let usual = || usual().map_or("", |key| key.default);
            given.unwrap_or_else(usual).to_owned()
        };
        let port = KernelPort {
            buffer_bytes: 60_000,
            packet_bytes: 1_514,
            mss: 1_460,
        };
        let loadable = load(&text, &port).expect("declared defaults are correct");
        // One that makes connections wait has a watchdog, too.
        checks.push(
            match Port::load(&loadable).and_then(|port| port.watchdog()) {
                Ok(_) => Check::ok(check, "loaded"),
                Err(error) => Check::fails(check, State::Missing, &error, remedy),
            },
        );
    }
    checks
}

/// Functions of a struct return the right values, many times.
fn struct_ops() -> Check {
    const CURE: &str = "schemes that need a congestion control in BPF are left out";
    match probes::wrong_returns(RETURNS) {
        Ok(0) => Check::ok(STRUCT_OPS, format!("{RETURNS} values returned, all right")),
        Ok(wrong) => {
            let detail = format!("{wrong} of {RETURNS} returned values arrived as others");
            Check::fails(STRUCT_OPS, State::Broken, &detail, CURE)
        }
        Err(error) => Check::fails(STRUCT_OPS, State::Missing, &error, CURE),
    }
}

/// On some days 4 of 748 values arrived wrong on one kernel, and none of 644 on others.
const RETURNS: u32 = 2_000;
