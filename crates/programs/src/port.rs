//! A law at a port: loaded into the kernel, and spoken to through its maps.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use laws::{Hscc, Rwndq};
use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use rustix::time::{ClockId, clock_gettime};

/// What a port is to do.
#[derive(Clone, Debug)]
pub enum Law {
    /// HSCC: ACKs leave with a small window while the queue is long.
    Hscc(Hscc),
    /// RWNDQ: ACKs leave with the window of all, which is sampled and moved once per interval.
    Rwndq(Rwndq, Duration),
    /// Capable packets that find so many bytes waiting are marked.
    Mark(u64),
    /// None: the queue is measured, which [`Port::mean_queue`] tells.
    None,
}

/// Which way a packet goes through the device of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Out: data, and SYNs.
    Egress,
    /// In: the ACKs of these data, and SYN-ACKs.
    Ingress,
}

/// What became of a packet, as programs count it: `enum reason` of `bpf/packet.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "described by `Reason::says`")]
pub enum Reason {
    NoLease,
    Short,
    OtherLink,
    Fragment,
    Extension,
    Other,
    Unknown,
    Options,
    Closed,
    Flags,
    Law,
    Rewritten,
    Marked,
    Failed,
}

/// Why a program cannot be loaded or used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel refused.
    #[error("the kernel refuses to {0}: {1}")]
    Refused(&'static str, libbpf_rs::Error),
    /// An object without a part that it must have.
    #[error("the program has no {0}")]
    Lacks(&'static str),
}

/// A law in the kernel. It goes when this is dropped, unless it was attached for longer.
pub struct Port {
    object: Object,
}

impl Port {
    /// Loads a law, which the kernel verifies. It has no lease yet.
    pub fn load(law: &Law) -> Result<Self, LoadError> {
        let (program, value) = law.program();
        let object = load(program)?;
        let port = Self { object };
        port.set("port", &value)?;
        Ok(port)
    }

    /// Lets the law act for so long from now on.
    pub fn renew(&self, lease: Duration) -> Result<(), LoadError> {
        let now = clock_gettime(ClockId::Boottime);
        let now = Duration::try_from(now).unwrap_or_default();
        let until = u64::try_from((now + lease).as_nanos()).unwrap_or(u64::MAX);
        self.set("lease", &until.to_ne_bytes())
    }

    /// Lets the law act at a device of the network namespace of this thread, whose queue its data wait in. It ends
    /// when what this returns is dropped, or with this process.
    pub fn attach(&self, device: u32) -> Result<Attached, LoadError> {
        let links = self.object.progs_mut().map(|program| {
            let hook = match program.name().to_str() {
                Some("egress") => libbpf_sys::BPF_TCX_EGRESS,
                _ => libbpf_sys::BPF_TCX_INGRESS,
            };
            link(program.as_fd().as_raw_fd(), device, hook)
        });
        Ok(Attached {
            _links: links.collect::<Result<_, _>>()?,
        })
    }

    /// What the law makes of a frame that goes this way: the frame as it goes on.
    pub fn run(&self, way: Direction, frame: &[u8]) -> Result<Vec<u8>, LoadError> {
        let name = match way {
            Direction::Egress => "egress",
            Direction::Ingress => "ingress",
        };
        let mut programs = self.object.progs_mut();
        let program = programs.find(|program| program.name() == name);
        let program = program.ok_or(LoadError::Lacks("program for this way"))?;
        let mut out = vec![0; frame.len() + ROOM];
        let input = ProgramInput {
            data_in: Some(frame),
            data_out: Some(&mut out),
            ..ProgramInput::default()
        };
        let ran = program.test_run(input);
        let ran = ran.map_err(|error| LoadError::Refused("run a program", error))?;
        Ok(ran.data.map_or_else(Vec::new, |data| data.to_vec()))
    }

    /// Of [`Law::None`]: the mean queue in bytes since the first packet, weighted by time; `None` before the
    /// second one.
    #[expect(clippy::cast_precision_loss, reason = "a mean carries 53 bits")]
    pub fn mean_queue(&self) -> Result<Option<f64>, LoadError> {
        let first = 0_u32.to_ne_bytes();
        let value = self.map("port")?.lookup(&first, MapFlags::ANY);
        let value = value.map_err(|error| LoadError::Refused("read a map", error))?;
        let value = value.unwrap_or_default();
        let word = |at| {
            value
                .get(at..at + 8)
                .and_then(|bytes| bytes.try_into().ok())
        };
        let [time, area] = [16, 24].map(|at| word(at).map_or(0, u64::from_ne_bytes));
        Ok((time > 0).then(|| area as f64 / 2.0 / time as f64))
    }

    /// How many packets met each fate so far, on all processors.
    pub fn counts(&self) -> Result<Vec<(Reason, u64)>, LoadError> {
        let count = |(number, reason): (u32, Reason)| {
            let values = self
                .map("counters")?
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

    fn set(&self, map: &'static str, value: &[u8]) -> Result<(), LoadError> {
        let first = 0_u32.to_ne_bytes();
        let set = self.map(map)?.update(&first, value, MapFlags::ANY);
        set.map_err(|error| LoadError::Refused("write a map", error))
    }

    fn map(&self, name: &'static str) -> Result<libbpf_rs::Map<'_>, LoadError> {
        let map = self.object.maps().find(|map| map.name() == name);
        map.ok_or(LoadError::Lacks(name))
    }
}

/// Programs and maps of an object, which the kernel verifies.
pub(crate) fn load(object: &[u8]) -> Result<Object, LoadError> {
    let mut builder = ObjectBuilder::default();
    let open = builder.open_memory(object);
    let open = open.map_err(|error| LoadError::Refused("read a program", error))?;
    open.load()
        .map_err(|error| LoadError::Refused("load a program", error))
}

/// A law at a device.
pub struct Attached {
    _links: Vec<OwnedFd>,
}

/// Links a program to a hook of a device; libbpf-rs has no call for this kind of hook.
#[expect(unsafe_code, reason = "a call of the C library, and what it returns")]
fn link(
    program: i32,
    device: u32,
    hook: libbpf_sys::bpf_attach_type,
) -> Result<OwnedFd, LoadError> {
    let target = i32::try_from(device).unwrap_or_default();
    // SAFETY: the program is open as long as the object; without options a null pointer is allowed.
    let link = unsafe { libbpf_sys::bpf_link_create(program, target, hook, std::ptr::null()) };
    if link < 0 {
        let error = libbpf_rs::Error::from_raw_os_error(-link);
        return Err(LoadError::Refused("attach a program", error));
    }
    // SAFETY: the call has just opened it, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}

impl Law {
    /// The object of the law, and what its map `port` holds first.
    fn program(&self) -> (&'static [u8], Vec<u8>) {
        // A lock is four bytes, and the structs of laws begin at a multiple of eight.
        let lock = vec![0; 8];
        match self {
            Self::Hscc(law) => (HSCC, [lock, law.to_memory()].concat()),
            Self::Rwndq(law, interval) => {
                let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
                let times = [interval.to_ne_bytes(), [0; 8]].concat();
                (RWNDQ, [lock, times, law.to_memory()].concat())
            }
            Self::Mark(from_bytes) => (MARK, from_bytes.to_ne_bytes().to_vec()),
            Self::None => (QUEUE, vec![0; 32]),
        }
    }
}

impl Reason {
    /// All, in the order of their counters.
    pub const ALL: [Self; 14] = [
        Self::NoLease,
        Self::Short,
        Self::OtherLink,
        Self::Fragment,
        Self::Extension,
        Self::Other,
        Self::Unknown,
        Self::Options,
        Self::Closed,
        Self::Flags,
        Self::Law,
        Self::Rewritten,
        Self::Marked,
        Self::Failed,
    ];

    /// What it means.
    pub const fn says(self) -> &'static str {
        match self {
            Self::NoLease => "the lease was over",
            Self::Short => "a header was cut off",
            Self::OtherLink => "neither IPv4 nor IPv6 behind at most one VLAN tag",
            Self::Fragment => "a fragment",
            Self::Extension => "options of IPv4, or a header of IPv6 before TCP",
            Self::Other => "not TCP",
            Self::Unknown => "a connection that began before the program was there",
            Self::Options => "a signed header, or MPTCP",
            Self::Closed => "a window of zero",
            Self::Flags => "no ACK, or one that opens or ends a connection",
            Self::Law => "the law left it as it was",
            Self::Rewritten => "its window was lowered",
            Self::Marked => "it was marked",
            Self::Failed => "the kernel refused to change it",
        }
    }
}

/// Bytes that a frame may grow by in a test run; programs here change none of its length.
const ROOM: usize = 64;

const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc.o"));
const RWNDQ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rwndq.o"));
const QUEUE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/queue.o"));
const MARK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mark.o"));
