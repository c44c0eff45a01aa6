//! A law at a queue of this machine's kernel, with the kernel's TCP on both sides of it.

#![expect(clippy::cast_precision_loss, reason = "measurements carry 53 bits")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use laws::{Hscc, HsccSettings, Rwndq, RwndqSettings};
use programs::{Law, Port, Reason};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::{is_root, loaded};

const BUFFER: u64 = 64_000;
const SENDERS: usize = 20;
const SIZE: usize = 256 << 10;

#[test]
fn hscc_at_a_queue_drops_less_than_half_of_what_drop_tail_drops_and_delivers_every_byte() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let plain = bed.incast();
    let law = Hscc::new(&HsccSettings {
        buffer_units: BUFFER,
        alpha1_millionths: 250_000,
        alpha2_millionths: 500_000,
        window_bytes: 1_460,
        rewrites_syn_ack: false,
    });
    let Some(port) = loaded(Port::load(&Law::Hscc(law))) else {
        return;
    };
    port.renew(Duration::from_mins(1)).expect("a lease");
    let attached = bed.inside(SWITCH, || port.attach(bed.device()));
    let attached = attached.expect("the device takes the program");
    let cured = bed.incast();
    let counts = port.counts().expect("counters");
    let of = |reason| counts.iter().find(|(counted, _)| *counted == reason);
    assert!(
        of(Reason::Rewritten).is_some_and(|(_, count)| *count > 100),
        "{counts:?}"
    );
    assert!(
        of(Reason::Failed).is_some_and(|(_, count)| *count == 0),
        "{counts:?}"
    );
    assert!(plain > 20, "drop-tail drops {plain}");
    assert!(
        2 * cured < plain,
        "{cured} drops with HSCC, {plain} without"
    );
    drop(attached);
    let rewritten = of(Reason::Rewritten).copied();
    bed.incast();
    let counts = port.counts().expect("counters");
    let after = counts
        .iter()
        .find(|(counted, _)| *counted == Reason::Rewritten);
    assert_eq!(
        after.copied(),
        rewritten,
        "what is detached rewrites nothing"
    );
}

#[test]
fn rwndq_keeps_the_queue_of_five_long_flows_at_its_target_and_shares_fairly() {
    let Some(bed) = Bed::new() else {
        return;
    };
    let law = Rwndq::new(&RwndqSettings {
        buffer_bytes: BUFFER,
        alpha_millionths: 200_000,
        samples: 10,
        mss_bytes: 1_448,
        scale: 14,
        paths: 1,
    });
    let interval = Duration::from_micros(50);
    let Some(port) = loaded(Port::load(&Law::Rwndq(law, interval))) else {
        return;
    };
    port.renew(Duration::from_mins(1)).expect("a lease");
    let attached = bed.inside(SWITCH, || port.attach(bed.device()));
    let attached = attached.expect("the device takes the program");
    let Some(measure) = loaded(Port::load(&Law::None)) else {
        return;
    };
    measure.renew(Duration::from_mins(1)).expect("a lease");
    // Flows that have just begun are not what is measured.
    let device = bed.device();
    let late = || {
        thread::sleep(Duration::from_secs(2));
        bed.inside(SWITCH, || measure.attach(device))
    };
    let (bytes, measured) = bed.long_flows(5, late, Duration::from_secs(2));
    let queue = measure.mean_queue().expect("a map").expect("packets");
    drop((attached, measured));
    let target = 0.2 * BUFFER as f64;
    assert!(
        (queue / target - 1.0).abs() < 0.15,
        "a mean queue of {queue} for {target}"
    );
    let sum: f64 = bytes.iter().sum();
    let squares: f64 = bytes.iter().map(|bytes| bytes * bytes).sum();
    let jain = sum * sum / (bytes.len() as f64 * squares);
    assert!(jain > 0.98, "a fairness of {jain}: {bytes:?}");
}

/// A switch between many senders, which share one namespace, and a receiver: 200 Mbit/s and a queue of
/// [`BUFFER`] towards the receiver.
struct Bed {
    prefix: String,
    /// One at a time: others would take the processors that its network needs.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());
/// Nothing takes longer, so that a network that stands still fails a test.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

const SWITCH: &str = "switch";

impl Bed {
    fn new() -> Option<Self> {
        if !is_root() {
            testing::skipped("without privileges there are no namespaces");
            return None;
        }
        testing::tool("ip")?;
        testing::tool("tc")?;
        let bed = Self {
            prefix: format!("tw-programs-{}", std::process::id()),
            _alone: ALONE.lock().unwrap_or_else(PoisonError::into_inner),
        };
        for name in ["sender", SWITCH, "receiver"] {
            Self::ip(&format!("netns add {}", bed.namespace(name)));
        }
        for (host, device, net) in [("sender", "s", 1), ("receiver", "r", 2)] {
            let (of_host, of_switch) = (bed.namespace(host), bed.namespace(SWITCH));
            Self::ip(&format!(
                "link add {device}0 netns {of_host} type veth peer name {device}1 netns {of_switch}"
            ));
            Self::ip(&format!(
                "-n {of_host} addr add 10.9.{net}.1/24 dev {device}0"
            ));
            Self::ip(&format!(
                "-n {of_switch} addr add 10.9.{net}.2/24 dev {device}1"
            ));
            for (of, end) in [(&of_host, 0), (&of_switch, 1)] {
                // Trains of segments would be one packet to the queue.
                Self::ip(&format!("-n {of} link set {device}{end} gso_max_segs 1 up"));
                Self::run(&format!(
                    "ip netns exec {of} ethtool -K {device}{end} gso off tso off gro off"
                ));
            }
            Self::ip(&format!("-n {of_host} route add default via 10.9.{net}.2"));
        }
        let switch = bed.namespace(SWITCH);
        Self::run(&format!(
            "ip netns exec {switch} sysctl -q net.ipv4.ip_forward=1"
        ));
        Self::run(&format!(
            "tc -n {switch} qdisc add dev r1 root tbf rate 200mbit burst 5000 limit {BUFFER}"
        ));
        Some(bed)
    }

    fn namespace(&self, of: &str) -> String {
        format!("{}-{of}", self.prefix)
    }

    fn ip(arguments: &str) {
        Self::run(&format!("ip {arguments}"));
    }

    /// A command of words without spaces. Programs that are missing here, such as ethtool, change nothing.
    fn run(line: &str) -> String {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        let output = command.args(words).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let allowed = line.contains("ethtool");
        assert!(output.status.success() || allowed, "{line}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// In another thread, which is in that namespace.
    fn inside<T: Send>(&self, namespace: &str, act: impl FnOnce() -> T + Send) -> T {
        let path = PathBuf::from("/run/netns").join(self.namespace(namespace));
        let file = std::fs::File::open(path).expect("the namespace is there");
        let body = || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), kind)
                .expect("it can be entered");
            act()
        };
        thread::scope(|scope| scope.spawn(body).join().expect("it does not panic"))
    }

    /// The number of the device whose queue fills.
    fn device(&self) -> u32 {
        let switch = self.namespace(SWITCH);
        let shown = Self::run(&format!("ip -n {switch} -o link show dev r1"));
        let number = shown.split(':').next().expect("a number first");
        number.trim().parse().expect("a number")
    }

    /// All send at once, and what the queue drops meanwhile.
    fn incast(&self) -> u64 {
        let before = self.drops();
        let listener = self.inside("receiver", || {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 5_000))
        });
        let listener = listener.expect("a port is free");
        let to = SocketAddr::from(([10, 9, 2, 1], 5_000));
        let byte = |at: usize| at.wrapping_mul(2_654_435_761).to_le_bytes()[1];
        thread::scope(|scope| {
            scope.spawn(|| {
                self.inside("sender", || {
                    let sent: Vec<u8> = (0..SIZE).map(byte).collect();
                    let streams: Vec<TcpStream> = (0..SENDERS).map(|_| connected(to)).collect();
                    thread::scope(|scope| {
                        for mut stream in streams {
                            scope.spawn({
                                let sent = &sent;
                                move || stream.write_all(sent).expect("it is sent")
                            });
                        }
                    });
                });
            });
            let receivers: Vec<_> = (0..SENDERS)
                .map(|_| {
                    let (mut stream, _) = listener.accept().expect("a connection");
                    scope.spawn(move || {
                        let mut got = Vec::with_capacity(SIZE);
                        stream.set_read_timeout(PATIENCE).expect("a timeout");
                        stream.read_to_end(&mut got).expect("all arrives");
                        got
                    })
                })
                .collect();
            for receiver in receivers {
                let got = receiver.join().expect("a receiver");
                assert_eq!(got.len(), SIZE);
                assert!((0..SIZE).all(|at| got[at] == byte(at)), "bytes are intact");
            }
        });
        self.drops() - before
    }

    /// So many flows without end: what each of them brought in this time after `begin`, which returns what lives
    /// meanwhile.
    fn long_flows<T>(
        &self,
        flows: usize,
        begin: impl FnOnce() -> T,
        time: Duration,
    ) -> (Vec<f64>, T) {
        let listener = self.inside("receiver", || {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 5_000))
        });
        let listener = listener.expect("a port is free");
        let to = SocketAddr::from(([10, 9, 2, 1], 5_000));
        let received: Vec<AtomicU64> = (0..flows).map(|_| AtomicU64::new(0)).collect();
        let over = AtomicBool::new(false);
        let so_far = || {
            let bytes = received.iter().map(|bytes| bytes.load(Relaxed) as f64);
            bytes.collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let connect = |_| connected(to);
            let connect_all = || (0..flows).map(connect).collect::<Vec<_>>();
            for mut stream in self.inside("sender", connect_all) {
                let some = vec![7; 1 << 16];
                scope.spawn(move || while stream.write_all(&some).is_ok() {});
            }
            for bytes in &received {
                let (mut stream, _) = listener.accept().expect("a connection");
                stream.set_read_timeout(PATIENCE).expect("a timeout");
                let over = &over;
                scope.spawn(move || {
                    let mut buffer = vec![0; 1 << 16];
                    while !over.load(Relaxed) {
                        let read = stream.read(&mut buffer).expect("it goes on");
                        bytes.fetch_add(read as u64, Relaxed);
                    }
                });
            }
            let begun = begin();
            let first = so_far();
            thread::sleep(time);
            let bytes = so_far().into_iter().zip(first);
            let bytes = bytes.map(|(last, first)| last - first).collect();
            over.store(true, Relaxed);
            (bytes, begun)
        })
    }

    fn drops(&self) -> u64 {
        let shown = self.queue();
        let dropped = shown.split("dropped ").nth(1).expect("a count of drops");
        let digits = dropped.split(',').next().expect("a number");
        digits.parse().expect("a number")
    }

    fn queue(&self) -> String {
        let switch = self.namespace(SWITCH);
        Self::run(&format!("tc -n {switch} -s qdisc show dev r1"))
    }
}

fn connected(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("a connection");
    stream.set_write_timeout(PATIENCE).expect("a timeout");
    stream
}

impl Drop for Bed {
    fn drop(&mut self) {
        for name in ["sender", SWITCH, "receiver"] {
            let namespace = self.namespace(name);
            drop(
                Command::new("ip")
                    .args(["netns", "del", &namespace])
                    .output(),
            );
        }
    }
}
