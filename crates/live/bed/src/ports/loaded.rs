//! Loads programs, renews their leases while flows are under way, and removes them.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use fabric::PortId;
use laws::Loadable;
use programs::{Attached, Port, Reason, Receiver, Watchdog};
use protocol::SlotLengths;
use schemes::linux::{Decider, Site};

use super::receivers::{self, Host};
use super::{FateCounts, LEASE, PortReport, Sites, refused};
use crate::lan::Lan;
use crate::stack::Law;

/// Whether the kernel accepts a law; an error has the reason.
pub(crate) fn loadable(law: &Law) -> Result<(), String> {
    let loaded = match law {
        Law::UserSpace(_) => Receiver::load(0).map(drop),
        Law::Kernel(_, law) => Port::load(law).map(drop),
    };
    loaded.map_err(|error| error.to_string())
}

/// Does `act` while these ports and receivers follow the laws, which all start anew. Returns the reports of the
/// programs.
pub(crate) fn during<T>(
    lan: &Lan,
    laws: &[Law],
    sites: &Sites,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, PortReport)> {
    let receivers = sites.receivers.iter().map(|site| site.port);
    let receivers: Vec<PortId> = receivers.collect();
    let places = |site: Site| match site {
        Site::Port => sites.switches.iter().copied().collect(),
        Site::Receiver => receivers.clone(),
    };
    let in_kernel = laws.iter().filter_map(|law| match law {
        Law::Kernel(site, law) => Some((*site, law)),
        Law::UserSpace(_) => None,
    });
    let all = in_kernel.flat_map(|(site, law)| {
        let places = places(site).into_iter();
        places.map(move |place| (place, law))
    });
    let all: Vec<_> = all.collect();
    let ports = all.iter().map(|(place, law)| attach(lan, *place, law));
    let ports = ports.collect::<io::Result<Vec<_>>>()?;
    let decider = laws.iter().find_map(|law| match law {
        Law::UserSpace(decider) => Some(decider),
        Law::Kernel(..) => None,
    });
    let hosts = sites.receivers.iter();
    let hosts = decider.map(|decider| {
        let attached = hosts.map(|site| receivers::attach(lan, site, decider));
        attached.collect::<io::Result<Vec<_>>>()
    });
    let hosts = hosts.transpose()?.unwrap_or_default();
    let all_places: Vec<PortId> = all.iter().map(|(place, _)| *place).collect();
    let all = ports.iter().map(|(port, _)| port);
    let all: Vec<&Port> = all
        .chain(hosts.iter().map(|host| host.receiver.port()))
        .collect();
    let watched = ports.iter().zip(&all_places);
    let watched = watched.map(|((port, _), place)| {
        let dog = port.watchdog().map_err(refused)?;
        Ok(dog.map(|dog| (dog, *place)))
    });
    let dogs = watched.filter_map(io::Result::transpose);
    let dogs = dogs.collect::<io::Result<Vec<_>>>()?;
    let act = || watched_by(lan, &dogs, act);
    let (done, slots) = beside(&all, &hosts, decider, act)?;
    let mut counts = FateCounts::new();
    for port in all {
        for (reason, count) in port.counts().map_err(refused)? {
            if let Some(name) = name(reason) {
                *counts.entry(name).or_default() += count;
            }
        }
    }
    Ok((done, PortReport { counts, slots }))
}

/// Does `act` while leases are renewed and, if there is a decider, windows are decided.
fn beside<T>(
    ports: &[&Port],
    hosts: &[Host],
    decider: Option<&Decider>,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<(T, Option<SlotLengths>)> {
    thread::scope(|scope| {
        let (over, until) = mpsc::channel();
        let renewing = scope.spawn(move || renew(ports, &until));
        let deciding = decider.map(|decider| {
            let (over, until) = mpsc::channel();
            let decide = move || receivers::decide(hosts, decider, &until);
            (over, scope.spawn(decide))
        });
        let done = act();
        drop(over);
        let renewed = renewing.join().expect("renewing does not panic");
        let slots = deciding.map(|(over, deciding)| {
            drop(over);
            deciding.join().expect("deciding does not panic")
        });
        let slots = slots.transpose();
        renewed?;
        Ok((done?, slots?))
    })
}

/// Does `act` while watchdogs serve connections that wait for a grant, at ports where no ACK leaves.
fn watched_by<T>(
    lan: &Lan,
    dogs: &[(Watchdog, PortId)],
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    if dogs.is_empty() {
        return act();
    }
    thread::scope(|scope| {
        let (over, until) = mpsc::channel();
        let watching = scope.spawn(move || watch(lan, dogs, &until));
        let done = act();
        drop(over);
        watching.join().expect("watching does not panic")?;
        done
    })
}

/// Checks all lines periodically until the other end of `until` is dropped.
fn watch(lan: &Lan, dogs: &[(Watchdog, PortId)], until: &mpsc::Receiver<()>) -> io::Result<()> {
    while until.recv_timeout(Watchdog::PERIOD) == Err(RecvTimeoutError::Timeout) {
        for (dog, place) in dogs {
            let device = lan.interfaces[place.0 as usize];
            let look = || dog.look(device).map_err(refused);
            lan.owner(*place).within(look)?;
        }
    }
    Ok(())
}

/// Loads a law for a port. It is detached when the returned value is dropped, or when this process ends.
fn attach(lan: &Lan, place: PortId, law: &Loadable) -> io::Result<(Port, Attached)> {
    let port = Port::load(law).map_err(refused)?;
    port.renew(LEASE).map_err(refused)?;
    let device = lan.interfaces[place.0 as usize];
    let attached = lan
        .owner(place)
        .within(|| port.attach(device).map_err(refused))?;
    Ok((port, attached))
}

/// Renews all leases periodically until the other end of `until` is dropped.
fn renew(ports: &[&Port], until: &mpsc::Receiver<()>) -> io::Result<()> {
    while until.recv_timeout(LEASE / 5) == Err(RecvTimeoutError::Timeout) {
        for port in ports {
            port.renew(LEASE).map_err(refused)?;
        }
    }
    Ok(())
}

/// The name of a fate in results.
fn name(reason: Reason) -> Option<&'static str> {
    Some(match reason {
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
        // Laws of a test bed act.
        Reason::Shadowed => return None,
    })
}
