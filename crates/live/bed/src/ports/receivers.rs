//! Receivers whose windows are decided outside the kernel, once per slot.

use std::io;
use std::sync::mpsc::{Receiver as Until, RecvTimeoutError};
use std::time::Duration;

use machine::clock::{self, duration};
use machine::priority::Priority;
use programs::{Attached, Receiver};
use protocol::SlotLengths;
use rustix::time::{ClockId, clock_gettime};
use schemes::HostInfo;
use schemes::linux::Decider;

use super::connections::Connections;
use super::{LEASE, ReceiverSite, refused, slots};
use crate::lan::Lan;

/// A host with its programs.
pub(super) struct Host {
    pub(super) receiver: Receiver,
    _attached: Attached,
    info: HostInfo,
}

/// Loads the programs of a receiver. They are detached when the returned value is dropped, or when this process ends.
pub(super) fn attach(lan: &Lan, site: &ReceiverSite, decider: &Decider) -> io::Result<Host> {
    let first = u64::from(decider.first_window) * u64::from(site.info.mss);
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    let receiver = Receiver::load(first).map_err(refused)?;
    receiver.port().renew(LEASE).map_err(refused)?;
    let device = lan.interfaces[site.port.0 as usize];
    let owner = lan.owner(site.port);
    let attached = owner.within(|| receiver.port().attach(device).map_err(refused))?;
    Ok(Host {
        receiver,
        _attached: attached,
        info: site.info,
    })
}

/// Decides windows in every slot until the other end of `until` is dropped. Returns the lengths of the slots.
pub(super) fn decide(
    hosts: &[Host],
    decider: &Decider,
    until: &Until<()>,
) -> io::Result<SlotLengths> {
    let _first = Priority::raised();
    let zero = clock_gettime(ClockId::Monotonic);
    let zero = Duration::try_from(zero).unwrap_or_default();
    let rings = hosts.iter().map(|host| host.receiver.listen());
    let rings = rings.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let role = |host: &Host| Connections::new((decider.receiver)(&host.info), host.info.mss, zero);
    let mut all: Vec<_> = hosts.iter().map(role).collect();
    let slot = duration(decider.slot);
    let (mut last, mut lengths) = (clock::now(), Vec::new());
    loop {
        let rest = slot.saturating_sub(clock::now().saturating_duration_since(last));
        if until.recv_timeout(rest) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        let now = clock::now();
        lengths.push(clock::micros(now.saturating_duration_since(last)));
        last = now;
        for ((host, ring), connections) in hosts.iter().zip(&rings).zip(&mut all) {
            connections.hear(ring.heard().map_err(refused)?);
            for (way, bytes) in connections.changed() {
                host.receiver.assign(&way, bytes).map_err(refused)?;
            }
            for way in connections.ended() {
                host.receiver.forget(&way).map_err(refused)?;
            }
        }
    }
    let untold = hosts.iter().map(|host| host.receiver.untold());
    let untold = untold.sum::<Result<u64, _>>().map_err(refused)?;
    Ok(slots(clock::micros(slot), lengths, untold))
}
