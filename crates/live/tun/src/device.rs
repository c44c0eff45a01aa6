//! The TUN device and the namespace behind it.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use machine::namespace::{self, Namespace};
use machine::netlink::{Route, Routing};
use machine::record::Record;
use machine::{Sysctl, sysctl};
use nix::libc;
use nix::net::if_::if_nametoindex;
use rustix::ioctl::{Updater, ioctl, opcode};

/// A device whose packets this process reads and writes, and a host with the kernel's TCP at its other end. Both are
/// removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Device {
    record: Record,
    namespace: Option<Namespace>,
    file: File,
}

impl Device {
    /// Makes the namespace `h0` of a new run with the device, and applies these settings.
    pub(crate) fn open(sysctls: &[Sysctl]) -> io::Result<Self> {
        let record = Record::begin()?;
        match make(&record, sysctls) {
            Ok((namespace, file)) => Ok(Self {
                record,
                namespace: Some(namespace),
                file,
            }),
            Err(error) => {
                // Anything left is found by its record.
                drop(record.remove());
                Err(error)
            }
        }
    }

    /// The host at the other end of the device.
    pub(crate) fn namespace(&self) -> &Namespace {
        self.namespace.as_ref().expect("it is there until the end")
    }

    /// Lets `emulate exec` find the host.
    pub(crate) fn publish(&mut self) -> io::Result<()> {
        self.record.keep()
    }

    /// Whether its host still has a name: `emulate down` removes it.
    pub(crate) fn is_there(&self) -> bool {
        namespace::exists(self.namespace().name())
    }

    /// Reads the next packet that the kernel sends, if one waits, into `buffer`. Returns its length.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Passes a packet to the kernel. If the kernel has no room it is lost, as on a wire.
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        match self.file.write(packet) {
            Err(error)
                if error.kind() != ErrorKind::WouldBlock
                    && error.raw_os_error() != Some(libc::ENOBUFS) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.namespace = None;
        // Anything left is found by its record.
        drop(self.record.remove());
    }
}

fn make(record: &Record, sysctls: &[Sysctl]) -> io::Result<(Namespace, File)> {
    let namespace = Namespace::create(&format!("{}h0", record.prefix()))?;
    let file = namespace.within(|| {
        let file = attach()?;
        let index = if_nametoindex(NAME)?;
        sysctl::set_all(&OWN)?;
        sysctls.iter().try_for_each(Sysctl::set)?;
        let mut routing = Routing::open()?;
        routing.set_up(index)?;
        routing.add_address(index, KERNEL)?;
        routing.add_route(&Route {
            to: OURS,
            prefix: 32,
            ways: vec![(index, OURS)],
            options: None,
        })?;
        Ok(file)
    })?;
    Ok((namespace, file))
}

/// Opens the device in the namespace of this thread.
#[expect(unsafe_code, reason = "a request that no crate wraps")]
fn attach() -> io::Result<File> {
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK);
    let file = options.open(PATH).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let what = format!("a kernel with {PATH} (CONFIG_TUN; modprobe tun)");
            io::Error::new(ErrorKind::Unsupported, what)
        }
        _ => error,
    })?;
    let mut request = InterfaceRequest {
        name: [0; 16],
        flags: TUN | NO_INFORMATION,
        rest: [0; 22],
    };
    request.name[..NAME.len()].copy_from_slice(NAME.as_bytes());
    // SAFETY: TUNSETIFF reads and writes a struct ifreq, whose layout `InterfaceRequest` has.
    unsafe {
        let request = Updater::<{ opcode::write::<libc::c_int>(b'T', 202) }, InterfaceRequest>::new(
            &mut request,
        );
        ioctl(&file, request)?;
    }
    Ok(file)
}

/// `struct ifreq` as this request uses it (`linux/if.h`).
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

const _: () = assert!(
    size_of::<InterfaceRequest>() == 40,
    "the size of struct ifreq"
);

/// The address of the endpoints of this process.
pub(crate) const OURS: Ipv4Addr = Ipv4Addr::new(10, 89, 0, 2);
/// The address of the kernel's end.
pub(crate) const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 89, 0, 1);

/// Only packets of TCP, and no memory of earlier connections.
const OWN: [(&str, &str); 3] = [
    ("ipv6/conf/all/disable_ipv6", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
    ("ipv4/tcp_no_metrics_save", "1"),
];

const PATH: &str = "/dev/net/tun";
const NAME: &str = "tun0";
// `linux/if_tun.h`
const TUN: i16 = 0x0001;
const NO_INFORMATION: i16 = 0x1000;
