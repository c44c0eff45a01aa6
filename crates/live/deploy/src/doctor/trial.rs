//! Two namespaces with a slow link between them, for tests of features.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

use machine::namespace::Namespace;
use machine::netlink::{LinkEnd, Route, Routing, Tbf};
use machine::record::Record;

/// Namespaces that are removed on drop.
pub(super) struct TrialNetwork {
    record: Record,
    near: Namespace,
    far: Namespace,
}

impl TrialNetwork {
    /// Makes both namespaces.
    pub(super) fn make() -> io::Result<Self> {
        let record = Record::begin()?;
        let make = |name: &str| Namespace::create(&format!("{}{name}", record.prefix()));
        match make("h0").and_then(|near| Ok((near, make("h1")?))) {
            Ok((near, far)) => Ok(Self { record, near, far }),
            Err(error) => {
                drop(record.remove());
                Err(error)
            }
        }
    }

    /// Does `work` in the namespace of the sender.
    #[cfg(feature = "kernel")]
    pub(super) fn within<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        self.near.within(work)
    }

    /// Joins both namespaces by a virtual link.
    pub(super) fn connect(&self) -> io::Result<()> {
        let end = |index, last| LinkEnd {
            name: "eth0".to_owned(),
            index,
            mac: [2, 0x74, 0, 0, 0, last],
        };
        let (near, far) = (end(DEVICE, 1), end(DEVICE + 1, 2));
        self.near.within(|| {
            let mut routing = Routing::open()?;
            routing.add_link(&near, &far, self.far.as_fd(), MTU)?;
            routing.set_up(DEVICE)?;
            routing.add_address(DEVICE, NEAR)?;
            routing.add_neighbour(DEVICE, FAR, far.mac)?;
            routing.add_route(&Route {
                to: FAR,
                prefix: 32,
                ways: vec![(DEVICE, FAR)],
                options: None,
            })
        })?;
        self.far.within(|| Routing::open()?.set_up(far.index))
    }

    /// Puts a slow token bucket in front of the link.
    pub(super) fn set_queue(&self) -> io::Result<()> {
        let tbf = Tbf {
            rate_bps: 1_000_000,
            burst: 2 * MTU,
            limit: LIMIT,
        };
        self.near.within(|| Routing::open()?.set_queue(DEVICE, tbf))
    }

    /// Sends more at once than the bucket lets through, so that some packets wait.
    #[cfg(feature = "kernel")]
    pub(super) fn send(&self) -> io::Result<()> {
        self.near.within(|| {
            let socket = std::net::UdpSocket::bind((NEAR, 0))?;
            for _ in 0..PACKETS {
                socket.send_to(&[0; 1_000], (FAR, 9))?;
            }
            Ok(())
        })
    }
}

impl Drop for TrialNetwork {
    fn drop(&mut self) {
        // What stays behind is found by its record.
        drop(self.record.remove());
    }
}

/// The number of the near end.
pub(super) const DEVICE: u32 = 16;
const MTU: u32 = 1_500;
/// Bytes that may wait.
const LIMIT: u32 = 64_000;
/// Of 1,000 bytes each: more than the bucket holds, less than may wait.
#[cfg(feature = "kernel")]
const PACKETS: usize = 30;

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 88, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 88, 0, 2);
