//! Watches a device: its queue, the transfers that pass, and their losses.
//!
//! Programs at both hooks of the device follow transfers, count how many go to one receiver at once, and read the queue
//! when a packet is about to join it. Tracepoints report drops, and timeouts of senders on this machine. Nothing is
//! changed.
//!
//! A call of a program costs about as much as some of its work, and the kernel calls the tracepoints of queues for
//! every packet of the machine, and even without one. So these are not used: between two packets that join it, a queue
//! falls evenly, at a known rate.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, Object, Program, ProgramInput, ProgramMut,
    RingBufferBuilder,
};

use crate::error::LoadError;
use crate::port::{Direction, HookedProgram, opened, verified};

mod seen;
mod table;

pub use seen::{FlowDirection, ObservedTransfer, ObserverEvent, Socket, Totals};
use table::TRANSFER;
#[doc(hidden)]
pub use table::neighbour;

/// Options of an observer.
#[derive(Clone, Copy, Debug)]
pub struct ObserverOptions {
    /// Width of a bin of the queue's histogram, in powers of two bytes.
    pub queue_shift: u32,
    /// The number of flows to one receiver within a millisecond from which the millisecond is reported.
    pub degree: u32,
    /// More bytes than this in a window of [`burst`](Self::burst) are a burst; zero: there are no bursts.
    pub burst_bytes: u64,
    /// Length of such a window.
    pub burst: Duration,
    /// Packets per second that are examined in each direction; further ones are only counted.
    pub packets_per_second: u64,
    /// Whether the device has a queue whose length can be read.
    pub has_queue: bool,
    /// The rate at which this queue falls, in bits per second; zero if unknown.
    pub queue_bps: u64,
}

/// Programs that watch a device until this is dropped.
pub struct DeviceObserver {
    object: Object,
    queue_bps: u64,
    links: Vec<Link>,
    hooks: Vec<HookedProgram>,
}

impl DeviceObserver {
    /// Loads the programs, which the kernel verifies.
    pub fn load(watch: ObserverOptions) -> Result<Self, LoadError> {
        Self::load_as(watch, OBJECT)
    }

    /// The same with programs of the same names from another object, for measurements.
    #[doc(hidden)]
    pub fn load_as(watch: ObserverOptions, object: &[u8]) -> Result<Self, LoadError> {
        let mut open = opened(object)?;
        let mut map = open.maps_mut().find(|map| map.name() == SETUP);
        let value = map.as_mut().and_then(|map| map.initial_value_mut());
        let value = value.filter(|value| value.len() == 40);
        // `BYTE_SHIFT`; zero for a queue with an unknown rate.
        let byte_ns = (8_000_000_000_u64 << 10).checked_div(watch.queue_bps);
        let byte_ns = u32::try_from(byte_ns.unwrap_or_default()).unwrap_or(u32::MAX);
        let has_queue = u32::from(watch.has_queue);
        let words = [watch.queue_shift, watch.degree, has_queue, byte_ns].map(u32::to_ne_bytes);
        // A window is 2^23 ns.
        let most = (watch.packets_per_second << 23) / 1_000_000_000;
        let burst = u64::try_from(watch.burst.as_nanos()).unwrap_or(u64::MAX);
        let longs = [watch.burst_bytes, burst, most].map(u64::to_ne_bytes);
        let setup = [words.as_flattened(), longs.as_flattened()].concat();
        value
            .ok_or(LoadError::Lacks("settings of its own"))?
            .copy_from_slice(&setup);
        Ok(Self {
            object: verified(open)?,
            queue_bps: watch.queue_bps,
            links: Vec::new(),
            hooks: Vec::new(),
        })
    }

    /// Begins to watch a device of the network namespace of this thread.
    pub fn attach(&mut self, device: u32) -> Result<(), LoadError> {
        self.attach_hooks(device)?;
        for program in self.object.progs_mut() {
            if hook_of(&program).is_none() {
                let link = program.attach();
                let refused = |error| LoadError::Refused("attach a program", error);
                self.links.push(link.map_err(refused)?);
            }
        }
        Ok(())
    }

    /// Only attaches the programs that every packet passes, for measurements.
    #[doc(hidden)]
    pub fn attach_hooks(&mut self, device: u32) -> Result<(), LoadError> {
        for program in self.object.progs_mut() {
            if let Some(way) = hook_of(&program) {
                self.hooks.push(HookedProgram::at(&program, way, device)?);
            }
        }
        Ok(())
    }

    /// Stops watching; the results stay.
    pub fn detach(&mut self) {
        self.hooks.clear();
        self.links.clear();
    }

    /// Runs the program of this direction on a frame, this many times. Returns the mean time of a run.
    pub fn run(&self, way: Direction, frame: &[u8], times: u32) -> Result<Duration, LoadError> {
        let mut programs = self.object.progs_mut();
        let program = programs.find(|program| program.name() == way.name());
        let program = program.ok_or(LoadError::Lacks("program for this way"))?;
        let input = ProgramInput {
            data_in: Some(frame),
            repeat: times,
            ..ProgramInput::default()
        };
        let ran = program.test_run(input);
        let ran = ran.map_err(|error| LoadError::Refused("run a program", error))?;
        Ok(ran.duration)
    }

    /// The events since the last call.
    pub fn told(&self) -> Result<Vec<ObserverEvent>, LoadError> {
        let refused = |error| LoadError::Refused("read a ring", error);
        let told = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&told);
        let ring = self.map("ring")?;
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&ring, move |bytes| {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(ObserverEvent::read(bytes));
                0
            })
            .map_err(refused)?;
        let ring = builder.build().map_err(refused)?;
        ring.consume().map_err(refused)?;
        drop(ring);
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *told))
    }

    /// The last transfer of each direction of a known connection, with the highest byte.
    pub fn transfers(&self) -> Result<Vec<(FlowDirection, ObservedTransfer)>, LoadError> {
        let mut all = table::taken(&self.map(TABLE)?)?;
        for name in FLOWS {
            let map = self.map(name)?;
            for key in map.keys() {
                // A transfer removed meanwhile has been reported.
                let value = map.lookup(&key, MapFlags::ANY).ok().flatten();
                let transfer =
                    value.and_then(|value| ObservedTransfer::read(value.get(TRANSFER..)?));
                all.extend(FlowDirection::read(&key).zip(transfer));
            }
        }
        Ok(all)
    }

    /// Forgets a direction of a connection, to make room.
    pub fn forget(&self, way: &FlowDirection) -> Result<(), LoadError> {
        table::free(&self.map(TABLE)?, way)?;
        let (name, key) = way.key();
        // It may have been removed, or never existed.
        drop(self.map(name)?.delete(&key));
        Ok(())
    }

    /// Totals of the device.
    pub fn totals(&self) -> Result<Totals, LoadError> {
        let value = self.map(TOTALS)?.lookup(&[0; 4], MapFlags::ANY);
        let value = value.map_err(|error| LoadError::Refused("read a map", error))?;
        let totals = value.and_then(|value| Totals::read(&value));
        let mut totals = totals.ok_or(LoadError::Lacks("totals"))?;
        // A packet that one processor is about to enqueue seems to have left to another. So a known rate limits the
        // decrease.
        if self.queue_bps > 0 {
            totals.peak_bps[0] = totals.peak_bps[0].min(self.queue_bps);
        }
        Ok(totals)
    }

    /// By number of flows: the milliseconds in which at most this number went to one receiver at once.
    pub fn degrees(&self) -> Result<Vec<u64>, LoadError> {
        let map = self.map("degrees")?;
        let count = |key: Vec<u8>| {
            let value = map.lookup(&key, MapFlags::ANY).ok().flatten();
            value.and_then(|value| value.first_chunk().copied().map(u64::from_ne_bytes))
        };
        Ok(map.keys().map(|key| count(key).unwrap_or(0)).collect())
    }

    /// Nanoseconds of processor time of the programs so far, and their number of runs, while measuring: see
    /// [`measure`].
    pub fn cost(&self) -> Result<(u64, u64), LoadError> {
        let mut own = Vec::new();
        for program in self.object.progs_mut() {
            own.extend(Program::id_from_fd(program.as_fd()));
        }
        let all = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
        let own = all.filter(|program| own.contains(&program.id));
        let costs = own.map(|program| (program.run_time_ns, program.run_cnt));
        Ok(costs.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    }

    fn map(&self, name: &str) -> Result<MapHandle, LoadError> {
        let mut maps = self.object.maps();
        let map = maps.find(|map| map.name() == name);
        let map = map.ok_or(LoadError::Lacks("map"))?;
        MapHandle::try_from(&map).map_err(|error| LoadError::Refused("open a map", error))
    }
}

/// The direction of packets that a program sees.
fn hook_of(program: &ProgramMut<'_>) -> Option<Direction> {
    let name = program.name();
    Direction::BOTH.into_iter().find(|way| name == way.name())
}

/// Lets the kernel measure the cost of programs until the result is dropped.
#[expect(unsafe_code, reason = "a call of the C library, and what it returns")]
pub fn measure() -> Result<impl Sized, LoadError> {
    // SAFETY: the call takes a number and returns a descriptor or a negative error.
    let measuring = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    if measuring < 0 {
        let error = libbpf_rs::Error::from_raw_os_error(-measuring);
        return Err(LoadError::Refused("measure programs", error));
    }
    // SAFETY: the call has just opened it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(measuring.as_raw_fd()) })
}

/// The map with most directions.
const TABLE: &str = "table";
/// The maps of single flows, for IPv4 and for IPv6.
const FLOWS: [&str; 2] = ["flows", "flows6"];
const SETUP: &str = ".rodata.setup";
const TOTALS: &str = ".data.totals";
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/observe.o"));
