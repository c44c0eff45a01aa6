//! Communication with a law in the kernel, through its maps.

use std::ops::Range;
use std::time::Duration;

use laws::Loadable;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use rustix::time::{ClockId, clock_gettime};

use crate::error::LoadError;
use crate::reason::Reason;

/// The maps of a law in the kernel; another process may have loaded it.
#[derive(Debug)]
pub struct Maps {
    port: MapHandle,
    lease: MapHandle,
    counters: MapHandle,
    /// The state of a receiver, if the law has one.
    receiver: Option<MapHandle>,
    /// For IPv4 and for IPv6. Programs that ignore connections have none.
    flows: Vec<MapHandle>,
}

impl Maps {
    /// The maps of a port, found among `all`.
    pub(crate) fn among(all: Vec<MapHandle>) -> Result<Self, LoadError> {
        let [mut port, mut lease, mut counters, mut receiver] = [const { None }; 4];
        let mut flows = Vec::new();
        for map in all {
            let place = match map.name().to_str() {
                Some("port") => &mut port,
                Some("lease") => &mut lease,
                Some("counters") => &mut counters,
                Some("receiver") => &mut receiver,
                Some("flows" | "flows6") => {
                    flows.push(map);
                    continue;
                }
                _ => continue,
            };
            *place = Some(map);
        }
        Ok(Self {
            port: port.ok_or(LoadError::Lacks("map of its port"))?,
            lease: lease.ok_or(LoadError::Lacks("map of its lease"))?,
            counters: counters.ok_or(LoadError::Lacks("map of counters"))?,
            receiver,
            flows,
        })
    }

    /// Lets the law act for this time from now on, not counting sleep of the machine; [`Duration::MAX`] is for ever.
    pub fn renew(&self, lease: Duration) -> Result<(), LoadError> {
        let until = now().saturating_add(lease).as_nanos();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        set(&self.lease, &until.to_ne_bytes(), MapFlags::ANY)
    }

    /// The remaining time of the lease: zero if it is over, [`Duration::MAX`] if it never ends.
    pub fn lease_left(&self) -> Result<Duration, LoadError> {
        let value = get(&self.lease, MapFlags::ANY)?;
        let until = value.first_chunk().copied().map_or(0, u64::from_ne_bytes);
        Ok(match until {
            u64::MAX => Duration::MAX,
            until => Duration::from_nanos(until).saturating_sub(now()),
        })
    }

    /// The law with its state from the map `port`, followed by a receiver's state if there is one; `None` if it is not
    /// of the kind of `like`.
    pub fn law(&self, like: &Loadable) -> Result<Option<Vec<u8>>, LoadError> {
        let mut memory = get(&self.port, locking(like))?;
        if memory.len() != like.memory.len() {
            return Ok(None);
        }
        if let Some(receiver) = &self.receiver {
            let state = get(receiver, MapFlags::LOCK)?;
            memory.extend(state.get(FLIGHT).unwrap_or_default());
        }
        Ok(Some(memory))
    }

    /// The number of connections in the line of a receiver; zero for other laws.
    pub(crate) fn line(&self) -> Result<u32, LoadError> {
        let state = self.receiver.as_ref();
        let state = state.map(|receiver| get(receiver, MapFlags::ANY));
        let state = state.transpose()?.unwrap_or_default();
        let word = |at: usize| state.get(at..).and_then(|bytes| bytes.first_chunk());
        let [first, last] =
            [FLIGHT.end, FLIGHT.end + 4].map(|at| word(at).copied().map_or(0, u32::from_ne_bytes));
        Ok(last.wrapping_sub(first))
    }

    /// The same maps, opened again.
    pub(crate) fn again(&self) -> Result<Self, LoadError> {
        let again = |map: &MapHandle| {
            MapHandle::try_from(map).map_err(|error| LoadError::Refused("open a map", error))
        };
        Ok(Self {
            port: again(&self.port)?,
            lease: again(&self.lease)?,
            counters: again(&self.counters)?,
            receiver: self.receiver.as_ref().map(again).transpose()?,
            flows: self.flows.iter().map(again).collect::<Result<_, _>>()?,
        })
    }

    /// Changes the settings of the running law, which keeps its state. Returns whether it is of the kind of `law`.
    /// RWNDQ may miscount a connection that opens or ends in the same microseconds.
    pub fn revise(&self, law: &Loadable) -> Result<bool, LoadError> {
        let memory = get(&self.port, locking(law))?;
        let Some(revised) = law.revised(&memory) else {
            return Ok(false);
        };
        set(&self.port, &revised, locking(law))?;
        Ok(true)
    }

    /// The number of packets for each fate so far, on all processors.
    pub fn counts(&self) -> Result<Vec<(Reason, u64)>, LoadError> {
        let count = |(number, reason): (u32, Reason)| {
            let values = self
                .counters
                .lookup_percpu(&number.to_ne_bytes(), MapFlags::ANY);
            let values = values.map_err(|error| LoadError::Refused("read a counter", error))?;
            let values = values.unwrap_or_default();
            let numbers = values
                .iter()
                .filter_map(|value| value.first_chunk().copied());
            Ok((reason, numbers.map(u64::from_ne_bytes).sum()))
        };
        (0..).zip(Reason::ALL).map(count).collect()
    }

    /// The number of known directions of connections; `None` for a law that ignores connections.
    pub fn directions(&self) -> Option<usize> {
        let counts = self.flows.iter().map(|flows| flows.keys().count());
        (!self.flows.is_empty()).then(|| counts.sum())
    }

    /// See [`Port::mean_queue`](crate::Port::mean_queue).
    #[expect(clippy::cast_precision_loss, reason = "a mean carries 53 bits")]
    pub(crate) fn mean_queue(&self) -> Result<Option<f64>, LoadError> {
        let value = get(&self.port, MapFlags::ANY)?;
        let word = |at: usize| value.get(at..).and_then(|bytes| bytes.first_chunk());
        let [time, area] = [16, 24].map(|at| word(at).copied().map_or(0, u64::from_ne_bytes));
        Ok((time > 0).then(|| area as f64 / 2.0 / time as f64))
    }

    /// Initialises the law with this memory.
    pub(crate) fn begin(&self, law: &Loadable) -> Result<(), LoadError> {
        set(&self.port, &law.memory, MapFlags::ANY)
    }
}

/// Time since the start of the machine, without its sleep: the clock of leases.
fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::try_from(now).unwrap_or_default()
}

/// A law with a lock is read and written as a whole.
fn locking(law: &Loadable) -> MapFlags {
    if law.is_locked {
        MapFlags::LOCK
    } else {
        MapFlags::ANY
    }
}

fn get(map: &MapHandle, flags: MapFlags) -> Result<Vec<u8>, LoadError> {
    let value = map.lookup(&FIRST, flags);
    let value = value.map_err(|error| LoadError::Refused("read a map", error))?;
    Ok(value.unwrap_or_default())
}

fn set(map: &MapHandle, value: &[u8], flags: MapFlags) -> Result<(), LoadError> {
    let set = map.update(&FIRST, value, flags);
    set.map_err(|error| LoadError::Refused("write a map", error))
}

const FIRST: [u8; 4] = [0; 4];
/// The range of `struct flight` in `struct receiver` of `bpf/grants.bpf.c`; the line follows it.
const FLIGHT: Range<usize> = 8..104;
