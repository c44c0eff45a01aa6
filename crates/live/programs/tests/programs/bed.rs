//! A network for tests: a switch between many senders, which share one namespace, and a receiver, with a queue of
//! [`BUFFER`] and 200 Mbit/s towards the receiver.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::ioctl::{self, Setter};
use rustix::net::{AddressFamily, SocketType};
use rustix::thread::{CapabilitySet, LinkNameSpaceType, move_into_link_name_space};

pub(crate) const BUFFER: u64 = 64_000;
pub(crate) const SENDER: &str = "sender";
pub(crate) const SWITCH: &str = "switch";
pub(crate) const RECEIVER: &str = "receiver";
/// Where the receiver listens.
pub(crate) const TCP_PORT: u16 = 5_000;

pub(crate) struct Bed {
    prefix: String,
    /// One at a time: other tests would take the processors that its network needs.
    _alone: MutexGuard<'static, ()>,
}

/// Flows without end from the sender to the receiver. They end when this is dropped, and it must go before the bed.
pub(crate) struct Flows {
    received: Vec<Arc<AtomicU64>>,
    ends: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

impl Bed {
    /// `None` where the test may not create networks on this machine, which is said aloud.
    pub(crate) fn new() -> Option<Self> {
        if !is_privileged() {
            testing::skipped("without privileges there are no namespaces");
            return None;
        }
        testing::tool("ip")?;
        testing::tool("tc")?;
        let bed = Self {
            prefix: format!("tw-programs-{}", std::process::id()),
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
        };
        for name in [SENDER, SWITCH, RECEIVER] {
            run(&format!("ip netns add {}", bed.namespace(name)));
        }
        for (host, device, net) in [(SENDER, "s", 1), (RECEIVER, "r", 2)] {
            bed.connect(host, device, net);
        }
        let switch = bed.namespace(SWITCH);
        run(&format!(
            "ip netns exec {switch} sysctl -q net.ipv4.ip_forward=1"
        ));
        bed.queue(
            "add",
            &format!("tbf rate 200mbit burst 5000 limit {BUFFER}"),
        );
        Some(bed)
    }

    /// A link from a host to the switch: `device`0 to `device`1.
    fn connect(&self, host: &str, device: &str, net: u8) {
        let (of_host, of_switch) = (self.namespace(host), self.namespace(SWITCH));
        run(&format!(
            "ip link add {device}0 netns {of_host} type veth peer name {device}1 netns {of_switch}"
        ));
        let addresses = [(host, &of_host, 0, 1), (SWITCH, &of_switch, 1, 2)];
        for (name, namespace, end, address) in addresses {
            let device = format!("{device}{end}");
            run(&format!(
                "ip -n {namespace} addr add 10.9.{net}.{address}/24 dev {device}"
            ));
            // The queue would count a train of segments as one packet.
            run(&format!(
                "ip -n {namespace} link set {device} gso_max_segs 1 up"
            ));
            let off = self.inside(name, || without_checksum_offload(&device));
            off.expect("the device computes no checksums");
        }
        run(&format!(
            "ip -n {of_host} route add default via 10.9.{net}.2"
        ));
    }

    pub(crate) fn namespace(&self, of: &str) -> String {
        format!("{}-{of}", self.prefix)
    }

    /// Runs `act` in another thread, which is in that namespace.
    pub(crate) fn inside<T: Send>(&self, namespace: &str, act: impl FnOnce() -> T + Send) -> T {
        let path = PathBuf::from("/run/netns").join(self.namespace(namespace));
        let body = || {
            enter(&path).expect("the namespace can be entered");
            act()
        };
        thread::scope(|scope| scope.spawn(body).join().expect("it does not panic"))
    }

    /// The number of the device whose queue fills.
    pub(crate) fn device(&self) -> u32 {
        self.device_of(SWITCH, "r1")
    }

    /// The number of a device of a host or the switch.
    pub(crate) fn device_of(&self, of: &str, name: &str) -> u32 {
        let namespace = self.namespace(of);
        let shown = run(&format!("ip -n {namespace} -o link show dev {name}"));
        let number = shown.split(':').next().expect("a number first");
        number.trim().parse().expect("a number")
    }

    /// Deletes that device.
    pub(crate) fn delete_device(&self) {
        run(&format!("ip -n {} link del r1", self.namespace(SWITCH)));
    }

    /// `add` or `replace` for the queue of that device.
    pub(crate) fn queue(&self, how: &str, kind: &str) {
        let switch = self.namespace(SWITCH);
        run(&format!("tc -n {switch} qdisc {how} dev r1 root {kind}"));
    }

    /// The number of packets that the queue has dropped.
    pub(crate) fn drops(&self) -> u64 {
        let switch = self.namespace(SWITCH);
        let shown = run(&format!("tc -n {switch} -s qdisc show dev r1"));
        let dropped = shown.split("dropped ").nth(1).expect("a count of drops");
        let digits = dropped.split(',').next().expect("a number");
        digits.parse().expect("a number")
    }

    /// A counter of TCP of a host, by its name in `/proc/net/snmp`.
    pub(crate) fn tcp_counter(&self, host: &str, name: &str) -> u64 {
        self.counter(host, "snmp", "Tcp:", name)
    }

    /// One of the extended counters, by its name in `/proc/net/netstat`.
    pub(crate) fn tcp_extended(&self, host: &str, name: &str) -> u64 {
        self.counter(host, "netstat", "TcpExt:", name)
    }

    fn counter(&self, host: &str, file: &str, group: &str, name: &str) -> u64 {
        let path = format!("/proc/thread-self/net/{file}");
        let text = self.inside(host, || std::fs::read_to_string(&path));
        let text = text.expect("counters of the kernel");
        let mut lines = text.lines().filter(|line| line.starts_with(group));
        let mut words = || lines.next().expect("two lines for a group").split(' ');
        let (names, values) = (words(), words());
        let mut pairs = names.zip(values);
        let (_, value) = pairs
            .find(|(named, _)| *named == name)
            .expect("the counter");
        value.parse().expect("a number")
    }

    /// This many senders send this many bytes at once, which arrive as they were sent. Returns how many packets the
    /// queue drops meanwhile.
    pub(crate) fn incast(&self, senders: usize, size: usize) -> u64 {
        let before = self.drops();
        let (sending, receiving) = self.connections(senders);
        let byte = |at: usize| at.wrapping_mul(2_654_435_761).to_le_bytes()[1];
        let sent: Vec<u8> = (0..size).map(byte).collect();
        thread::scope(|scope| {
            for mut stream in sending {
                let sent = &sent;
                scope.spawn(move || stream.write_all(sent).expect("it is sent"));
            }
            for mut stream in receiving {
                let sent = &sent;
                scope.spawn(move || {
                    let mut got = Vec::with_capacity(size);
                    stream.read_to_end(&mut got).expect("all arrives");
                    assert!(got == *sent, "{} bytes are intact", got.len());
                });
            }
        });
        self.drops() - before
    }

    /// This many flows without end.
    pub(crate) fn flows(&self, flows: usize) -> Flows {
        let (sending, receiving) = self.connections(flows);
        let mut made = Flows {
            received: Vec::new(),
            ends: Vec::new(),
            threads: Vec::new(),
        };
        for (mut sending, mut receiving) in sending.into_iter().zip(receiving) {
            let bytes = Arc::new(AtomicU64::new(0));
            for end in [&sending, &receiving] {
                made.ends
                    .push(end.try_clone().expect("one more descriptor"));
            }
            made.received.push(Arc::clone(&bytes));
            made.threads.push(thread::spawn(move || {
                let some = vec![7; 1 << 16];
                while sending.write_all(&some).is_ok() {}
            }));
            made.threads.push(thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(read @ 1..) = receiving.read(&mut buffer) {
                    bytes.fetch_add(read as u64, Relaxed);
                }
            }));
        }
        made
    }

    /// The ends of this many connections, at the sender and at the receiver.
    pub(crate) fn connections(&self, count: usize) -> (Vec<TcpStream>, Vec<TcpStream>) {
        let listener = self.inside(RECEIVER, || {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, TCP_PORT))
        });
        let listener = listener.expect("a port is free");
        let to = SocketAddr::from(([10, 9, 2, 1], TCP_PORT));
        let connect = || -> Vec<_> {
            let streams = (0..count).map(|_| TcpStream::connect(to));
            streams
                .map(|stream| stream.expect("a connection"))
                .collect()
        };
        thread::scope(|scope| {
            let sending = scope.spawn(|| self.inside(SENDER, connect));
            let receiving = (0..count).map(|_| listener.accept().expect("a connection").0);
            let receiving: Vec<_> = receiving.collect();
            let sending = sending.join().expect("connections");
            for stream in sending.iter().chain(&receiving) {
                stream.set_write_timeout(PATIENCE).expect("a timeout");
                stream.set_read_timeout(PATIENCE).expect("a timeout");
            }
            (sending, receiving)
        })
    }
}

impl Flows {
    /// The bytes that each flow has delivered so far.
    pub(crate) fn bytes(&self) -> Vec<u64> {
        let bytes = self.received.iter().map(|bytes| bytes.load(Relaxed));
        bytes.collect()
    }

    /// The bytes that each flow delivers from now on.
    pub(crate) fn bytes_in(&self, time: Duration) -> Vec<u64> {
        let before = self.bytes();
        thread::sleep(time);
        let bytes = self.bytes().into_iter().zip(before);
        bytes.map(|(after, before)| after - before).collect()
    }
}

impl Drop for Flows {
    fn drop(&mut self) {
        for end in &self.ends {
            // A connection that was reset is shut down already.
            drop(end.shutdown(Shutdown::Both));
        }
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        for name in [SENDER, SWITCH, RECEIVER] {
            let namespace = self.namespace(name);
            let mut command = Command::new("ip");
            drop(command.args(["netns", "del", &namespace]).output());
        }
    }
}

/// Whether this process may create networks and load programs. Then a refusal is the program's fault.
pub(crate) fn is_privileged() -> bool {
    let needed = CapabilitySet::NET_ADMIN
        | CapabilitySet::SYS_ADMIN
        | CapabilitySet::PERFMON
        | CapabilitySet::BPF;
    let own = rustix::thread::capabilities(None).expect("the kernel tells them");
    own.effective.contains(needed)
}

/// Moves this thread into a namespace, for good.
pub(crate) fn enter(path: &std::path::Path) -> io::Result<()> {
    let file = std::fs::File::open(path)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(())
}

/// A command of words without spaces.
fn run(line: &str) -> String {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let output = command.args(words).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes every packet of a device carry its whole checksum. Otherwise the kernel trusts packets that never left the
/// machine, and nobody would notice a wrong change.
#[expect(unsafe_code, reason = "a request to a device that has no safe face")]
fn without_checksum_offload(device: &str) -> io::Result<()> {
    /// `struct ifreq` of `linux/if.h`.
    #[repr(C)]
    struct Request {
        name: [u8; 16],
        value: *const [u32; 2],
        rest: [u64; 2],
    }
    /// `SIOCETHTOOL` of `linux/sockios.h`.
    const ETHTOOL: ioctl::Opcode = 0x8946;
    /// `ETHTOOL_STXCSUM` of `linux/ethtool.h`, and off.
    static OFF: [u32; 2] = [0x17, 0];
    let mut name = [0; 16];
    name[..device.len()].copy_from_slice(device.as_bytes());
    let request = Request {
        name,
        value: &raw const OFF,
        rest: [0; 2],
    };
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the request is laid out as the kernel has it, and what it points to lives as long as the program.
    unsafe { ioctl::ioctl(socket, Setter::<ETHTOOL, _>::new(request)) }?;
    Ok(())
}

static ALONE: Mutex<()> = Mutex::new(());
/// Nothing takes longer. If a network stands still, the test fails.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));
