//! Loads programs, keeps their leases while flows are under way, and takes them away.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use fabric::PortId;
use programs::{Attached, LoadError, Port, Reason};

use super::Counts;
use crate::linux::lan::Lan;
use crate::linux::stack::Law;

/// Whether the kernel takes a law, or why not.
pub(crate) fn loadable(law: &Law) -> Result<(), String> {
    load(law).map(drop).map_err(|error| error.to_string())
}

fn load(law: &Law) -> Result<Port, LoadError> {
    Port::load(&match law {
        Law::Hscc(law) => programs::Law::Hscc(law.clone()),
        Law::Rwndq(law, interval, idle) => {
            programs::Law::Rwndq(law.clone(), *interval, idle.clone())
        }
        Law::Mark(from_bytes) => programs::Law::Mark(*from_bytes),
    })
}

/// Does `act` while these ports follow the laws. Returns what the programs counted.
pub(crate) fn during<T>(
    lan: &Lan,
    (laws, places): (&[Law], &BTreeSet<PortId>),
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Counts)> {
    let all = laws.iter();
    let all = all.flat_map(|law| places.iter().map(move |port| (law, *port)));
    let ports = all.map(|(law, port)| attach(lan, port, law));
    let ports = ports.collect::<io::Result<Vec<_>>>()?;
    let (over, until) = mpsc::channel();
    let done = thread::scope(|scope| {
        let renewed = &ports;
        let renewing = scope.spawn(move || renew(renewed, &until));
        let done = act();
        drop(over);
        let renewed = renewing.join().expect("renewing does not panic");
        renewed.and(done)
    })?;
    let mut counts = Counts::new();
    for (port, _) in &ports {
        for (reason, count) in port.counts().map_err(refused)? {
            *counts.entry(name(reason)).or_default() += count;
        }
    }
    Ok((done, counts))
}

/// Loads a law for a port. It is detached when what this returns is dropped, or with this process.
fn attach(lan: &Lan, place: PortId, law: &Law) -> io::Result<(Port, Attached)> {
    let port = load(law).map_err(refused)?;
    port.renew(LEASE).map_err(refused)?;
    let device = lan.interfaces[place.0 as usize];
    let attached = lan
        .owner(place)
        .within(|| port.attach(device).map_err(refused))?;
    Ok((port, attached))
}

/// Renews all leases again and again until the other end of `until` is gone.
fn renew(ports: &[(Port, Attached)], until: &Receiver<()>) -> io::Result<()> {
    while until.recv_timeout(LEASE / 5) == Err(RecvTimeoutError::Timeout) {
        for (port, _) in ports {
            port.renew(LEASE).map_err(refused)?;
        }
    }
    Ok(())
}

/// What a fate is called in results.
fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::NoLease => "no_lease",
        Reason::Short => "short",
        Reason::OtherLink => "other_link",
        Reason::Fragment => "fragment",
        Reason::Extension => "extension",
        Reason::Other => "other",
        Reason::Unknown => "unknown",
        Reason::Options => "options",
        Reason::Closed => "closed",
        Reason::Flags => "flags",
        Reason::Law => "law",
        Reason::Rewritten => "rewritten",
        Reason::Marked => "marked",
        Reason::Failed => "failed",
        Reason::Told => "told",
    }
}

fn refused(error: LoadError) -> io::Error {
    io::Error::other(error)
}

/// How long programs act when nobody renews: a process that hangs should not outlive its patience by much.
const LEASE: Duration = Duration::from_secs(5);
