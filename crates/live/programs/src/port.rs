//! A law at a port: loaded into the kernel, with access to its maps.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use laws::Loadable;
use libbpf_rs::{MapHandle, Object, ObjectBuilder, OpenObject, ProgramInput, ProgramMut};

use crate::call_reader::{CALLS, CallReader};
use crate::error::LoadError;
use crate::maps::Maps;
use crate::objects;
use crate::reason::Reason;

/// The direction of a packet through the device of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Out: data, and SYNs.
    Egress,
    /// In: the ACKs of this data, and SYN-ACKs.
    Ingress,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Egress, Self::Ingress];

    /// The name in programs and pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Egress => "egress",
            Self::Ingress => "ingress",
        }
    }
}

/// Options fixed at load time.
#[derive(Clone, Copy, Default, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own, as the program has them"
)]
pub struct LoadOptions {
    /// ACKs come in by another device than the one by which data leaves. The program for data tells the program for
    /// ACKs where the queue is.
    pub apart: bool,
    /// The right edge of a connection's window never moves back.
    pub no_retract: bool,
    /// The law decides and counts but changes no packet.
    pub shadow: bool,
    /// Each call of the law is recorded, for [`Port::calls`].
    pub records: bool,
}

/// A law in the kernel. It is removed when this is dropped, unless it was attached for longer.
pub struct Port {
    object: Object,
    maps: Maps,
}

impl Port {
    /// Loads a law, which the kernel verifies. It has no lease yet.
    pub fn load(law: &Loadable) -> Result<Self, LoadError> {
        Self::made(law, load(objects::named(law.object)?)?)
    }

    /// Loads a law with these options.
    pub fn load_with(law: &Loadable, setup: LoadOptions) -> Result<Self, LoadError> {
        Self::load_object(law, objects::named(law.object)?, setup)
    }

    /// Loads the law from another object than its own. For tests.
    #[doc(hidden)]
    pub fn load_object(
        law: &Loadable,
        object: &[u8],
        setup: LoadOptions,
    ) -> Result<Self, LoadError> {
        let mut open = opened(object)?;
        let mut map = open.maps_mut().find(|map| map.name() == SETUP);
        let value = map.as_mut().and_then(|map| map.initial_value_mut());
        let value = value.filter(|value| value.len() == 16);
        let asked = [setup.apart, setup.no_retract, setup.shadow, setup.records];
        let asked = asked.map(|asked| u32::from(asked).to_ne_bytes());
        value
            .ok_or(LoadError::Lacks("settings of its own"))?
            .copy_from_slice(asked.as_flattened());
        let mut ring = open.maps_mut().find(|map| map.name() == CALLS);
        if setup.records
            && let Some(ring) = &mut ring
        {
            let sized = ring.set_max_entries(CALLS_BYTES);
            sized.map_err(|error| LoadError::Refused("make room for calls", error))?;
        }
        Self::made(law, verified(open)?)
    }

    /// Loads another object of the same law, with room for this many directions of connections of IPv4, and of IPv6.
    pub fn load_as(law: &Loadable, object: &[u8], flows: u32) -> Result<Self, LoadError> {
        let mut open = opened(object)?;
        let maps = open.maps_mut();
        for mut map in maps.filter(|map| map.name() == "flows" || map.name() == "flows6") {
            let sized = map.set_max_entries(flows);
            sized.map_err(|error| LoadError::Refused("make room for connections", error))?;
        }
        Self::made(law, verified(open)?)
    }

    fn made(law: &Loadable, object: Object) -> Result<Self, LoadError> {
        let maps = object.maps().map(|map| MapHandle::try_from(&map));
        let maps = maps.collect::<Result<_, _>>();
        let maps = maps.map_err(|error| LoadError::Refused("open a map", error))?;
        let maps = Maps::among(maps)?;
        maps.begin(law)?;
        Ok(Self { object, maps })
    }

    /// The programs and maps in the kernel.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The maps of the law.
    pub fn maps(&self) -> &Maps {
        &self.maps
    }

    /// Reads the calls of the law, if its setup records them.
    pub fn calls(&self) -> Result<CallReader, LoadError> {
        CallReader::of(&self.object)
    }

    /// See [`Maps::renew`].
    pub fn renew(&self, lease: Duration) -> Result<(), LoadError> {
        self.maps.renew(lease)
    }

    /// See [`Maps::counts`].
    pub fn counts(&self) -> Result<Vec<(Reason, u64)>, LoadError> {
        self.maps.counts()
    }

    /// For [`queue`](crate::queue): the mean queue in bytes since the first packet, weighted by time; `None` before the
    /// second packet.
    pub fn mean_queue(&self) -> Result<Option<f64>, LoadError> {
        self.maps.mean_queue()
    }

    /// Lets the law act at a device of the network namespace of this thread, in whose queue its data waits. It ends
    /// when the returned value is dropped, or with this process.
    pub fn attach(&self, device: u32) -> Result<Attached, LoadError> {
        let hooks = Direction::BOTH.map(|way| self.hook(way, device));
        let hooks = hooks.into_iter().filter_map(Result::transpose);
        Ok(Attached {
            _hooks: hooks.collect::<Result<_, _>>()?,
        })
    }

    /// Lets the program of this direction act at a device of the network namespace of this thread; `None` if the law
    /// has none.
    pub fn hook(&self, way: Direction, device: u32) -> Result<Option<HookedProgram>, LoadError> {
        let program = self.program(way);
        program
            .map(|program| HookedProgram::at(&program, way, device))
            .transpose()
    }

    /// The frame after the law has processed it in this direction.
    pub fn run(&self, way: Direction, frame: &[u8]) -> Result<Vec<u8>, LoadError> {
        let program = self.program(way);
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

    /// The program of this way.
    pub(crate) fn program(&self, way: Direction) -> Option<ProgramMut<'_>> {
        let mut programs = self.object.progs_mut();
        programs.find(|program| program.name() == way.name())
    }
}

/// The programs and maps of an object, verified by the kernel.
pub(crate) fn load(object: &[u8]) -> Result<Object, LoadError> {
    verified(opened(object)?)
}

pub(crate) fn opened(object: &[u8]) -> Result<OpenObject, LoadError> {
    let mut builder = ObjectBuilder::default();
    let open = builder.open_memory(object);
    open.map_err(|error| LoadError::Refused("read a program", error))
}

pub(crate) fn verified(open: OpenObject) -> Result<Object, LoadError> {
    open.load()
        .map_err(|error| LoadError::Refused("load a program", error))
}

/// A law at a device.
pub struct Attached {
    _hooks: Vec<HookedProgram>,
}

/// A program at a hook of a device. It is removed when this value is dropped or the process ends, unless it is pinned.
#[derive(Debug)]
pub struct HookedProgram(OwnedFd);

impl HookedProgram {
    /// Lets a program act at a device of the network namespace of this thread.
    pub(crate) fn at(
        program: &ProgramMut<'_>,
        way: Direction,
        device: u32,
    ) -> Result<Self, LoadError> {
        let hook = match way {
            Direction::Egress => libbpf_sys::BPF_TCX_EGRESS,
            Direction::Ingress => libbpf_sys::BPF_TCX_INGRESS,
        };
        link(program.as_fd().as_raw_fd(), device, hook).map(Self)
    }

    /// Keeps the program as long as this file of a BPF file system exists.
    #[expect(unsafe_code, reason = "a call of the C library")]
    pub fn pin(&self, file: &Path) -> Result<(), LoadError> {
        let wrong = |error| LoadError::Refused("pin a program", error);
        let path = CString::new(file.as_os_str().as_bytes());
        let path = path.map_err(|error| wrong(std::io::Error::from(error).into()))?;
        // SAFETY: the link is open as long as this value, and the path ends with a zero.
        let pinned = unsafe { libbpf_sys::bpf_obj_pin(self.0.as_raw_fd(), path.as_ptr()) };
        if pinned < 0 {
            return Err(wrong(libbpf_rs::Error::from_raw_os_error(-pinned)));
        }
        Ok(())
    }
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
    // SAFETY: the call has just opened it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(link) })
}

/// `setup` of `bpf/setup.h`.
const SETUP: &str = ".rodata.setup";
/// The size of the ring of `bpf/record.h` in bytes: 400,000 calls, at least those of a tenth of a second.
const CALLS_BYTES: u32 = 16 << 20;

/// Bytes by which a frame may grow in a test run; these programs do not change its length.
const ROOM: usize = 64;
