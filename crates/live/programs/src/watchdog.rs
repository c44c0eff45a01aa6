//! Serves connections that wait for a grant when no ACK leaves.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use libbpf_rs::Program;

use crate::error::LoadError;
use crate::maps::Maps;
use crate::port::Port;

/// The program of a law with a line, [`laws::Grants`], that serves waiting connections without an ACK of this machine,
/// and its maps.
#[derive(Debug)]
pub struct Watchdog {
    program: OwnedFd,
    maps: Maps,
}

impl Watchdog {
    /// The name of the pin of its program.
    pub const PIN: &str = RELEASE;

    /// The interval between calls: about as long as the packets of a full queue take at some ten Mbit/s, and less than
    /// any timer of a sender.
    pub const PERIOD: Duration = Duration::from_millis(10);

    /// The watchdog pinned in `folder`; `None` if there is none.
    pub fn open(folder: &Path, maps: Maps) -> Result<Option<Self>, LoadError> {
        let file = folder.join(RELEASE);
        if !file.exists() {
            return Ok(None);
        }
        let program = Program::fd_from_pinned_path(file);
        let program = program.map_err(|error| LoadError::Refused("open a pin", error))?;
        Ok(Some(Self { program, maps }))
    }

    /// Grants waiting connections their turn at this device of the network namespace of this thread, as far as the
    /// budget allows. Returns how many waited.
    pub fn look(&self, device: u32) -> Result<u32, LoadError> {
        let waiting = self.maps.line()?;
        if waiting > 0 {
            run(&self.program, device)?;
        }
        Ok(waiting)
    }

    /// The maps of the law.
    pub fn maps(&self) -> &Maps {
        &self.maps
    }
}

impl Port {
    /// The watchdog of its law, if the law has one.
    pub fn watchdog(&self) -> Result<Option<Watchdog>, LoadError> {
        let mut programs = self.object().progs_mut();
        let Some(program) = programs.find(|program| program.name() == RELEASE) else {
            return Ok(None);
        };
        let program = program.as_fd().try_clone_to_owned();
        let program =
            program.map_err(|error| LoadError::Refused("open a program", error.into()))?;
        let maps = self.maps().again()?;
        Ok(Some(Watchdog { program, maps }))
    }

    /// Keeps the watchdog's program, if the law has one, as long as a file of this folder exists.
    pub fn pin_watchdog(&self, folder: &Path) -> Result<(), LoadError> {
        let mut programs = self.object().progs_mut();
        let program = programs.find(|program| program.name() == RELEASE);
        let pinned = program.map(|mut program| program.pin(folder.join(RELEASE)));
        let pinned = pinned.transpose();
        pinned.map_err(|error| LoadError::Refused("pin a program", error))?;
        Ok(())
    }
}

/// Runs a program with a frame that seems to leave by this device. The program redirects it.
#[expect(unsafe_code, reason = "a call of the C library")]
fn run(program: &OwnedFd, device: u32) -> Result<(), LoadError> {
    // The beginning of `struct __sk_buff`; a caller may set this word, among others.
    let mut context = [0; DEVICE + 1];
    context[DEVICE] = device;
    let frame = [0_u8; 64];
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or_default();
    let context = context.map(u32::to_ne_bytes);
    let context = context.as_flattened();
    let mut options = libbpf_sys::bpf_test_run_opts {
        sz: size_of::<libbpf_sys::bpf_test_run_opts>() as u64,
        data_in: frame.as_ptr().cast(),
        data_size_in: size(&frame),
        ctx_in: context.as_ptr().cast(),
        ctx_size_in: size(context),
        ..libbpf_sys::bpf_test_run_opts::default()
    };
    // SAFETY: the program is open, and what the options point to lives as long as the call, which writes to the
    // options alone.
    let ran = unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
    if ran < 0 {
        let error = libbpf_rs::Error::from_raw_os_error(-ran);
        return Err(LoadError::Refused("run a program", error));
    }
    Ok(())
}

/// The name of the program and of its pin.
const RELEASE: &str = "release";
/// `ifindex` of `struct __sk_buff`, in words.
const DEVICE: usize = 10;
