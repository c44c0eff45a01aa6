//! A network and its traffic, drawn by a seed.

use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;

use base::cast::{index, real, whole};
use engine::random::Stream;

use crate::bed::{Bed, PORT, RECEIVER, SENDER, SWITCH, command, ip};

/// Servers that answer one client together, again and again, through one slow port.
pub(super) struct DrawnNetwork {
    pub(super) seed: u64,
    pub(super) law: &'static str,
    pub(super) measure: &'static str,
    senders: u8,
    /// Whether the receiver asks hosts for answers, or connections of one host bring their data.
    is_asked: bool,
    /// Bytes of an answer.
    size: u64,
    rate_mbit: u64,
    /// Full packets that fit into the queue of the port.
    packets: u64,
    control: &'static str,
    min_rto_ms: u64,
    /// In segments.
    first_window: u64,
    /// The mean time between rounds.
    pause_ms: u64,
    /// Bytes of flows from another server, which begin at random times.
    background: Option<u64>,
}

impl DrawnNetwork {
    pub(super) fn of(seed: u64) -> Self {
        let mut drawn = Stream::new(seed, "calibration", 0);
        Self {
            seed,
            law: one_of(&mut drawn, &["hscc", "hscc", "rwndq", "rwndq", "mark"]),
            measure: one_of(&mut drawn, &["p99", "p99", "p50"]),
            senders: 4 + u8::try_from(drawn.below(21)).expect("it is below 21"),
            is_asked: drawn.below(2) == 0,
            size: between(&mut drawn, 4_000, 128_000),
            rate_mbit: between(&mut drawn, 50, 400),
            packets: between(&mut drawn, 16, 256),
            control: one_of(&mut drawn, &["cubic", "reno"]),
            min_rto_ms: match drawn.below(2) {
                0 => 200,
                _ => between(&mut drawn, 10, 100),
            },
            first_window: one_of(&mut drawn, &[10, 10, 4, 2]),
            pause_ms: between(&mut drawn, 5, 100),
            background: (drawn.below(4) == 0).then(|| between(&mut drawn, 30_000, 500_000)),
        }
    }

    /// Whole seconds. Three minimum timeouts after each switch and before the next one do not count.
    pub(super) const fn period_s(&self) -> u64 {
        if self.min_rto_ms > 100 { 3 } else { 2 }
    }

    /// Settings of the law.
    pub(super) fn sets(&self) -> Vec<String> {
        if self.law != "mark" {
            return Vec::new();
        }
        let threshold = 20.min(self.packets / 2) * FULL_PACKET;
        vec![
            "--set".to_owned(),
            format!("switch.ecn_threshold={threshold}B"),
        ]
    }

    /// Sets the queue, the routes and the addresses.
    pub(super) fn set_up(&self, bed: &Bed) {
        let Self {
            rate_mbit,
            control,
            min_rto_ms,
            first_window,
            ..
        } = self;
        let (sender, switch) = (bed.namespace(SENDER), bed.namespace(SWITCH));
        let room = self.packets * FULL_PACKET;
        command(&format!(
            "tc -n {switch} qdisc replace dev {PORT} root tbf rate {rate_mbit}mbit burst 5000 limit {room}"
        ));
        ip(&format!(
            "-n {sender} route change default via 10.9.1.2 initcwnd {first_window} congctl {control} rto_min {min_rto_ms}ms"
        ));
        for number in 0..=self.senders {
            ip(&format!(
                "-n {sender} addr replace {}/24 dev in0",
                answering(number).ip()
            ));
        }
        for of in [SENDER, RECEIVER] {
            // Hosts that negotiate congestion marks of their own accord, or only for others.
            let value = if self.law == "mark" { "1" } else { "2" };
            bed.inside(of, || {
                fs::write("/proc/sys/net/ipv4/tcp_ecn", value).expect("a setting of the namespace");
            });
        }
    }

    /// Sends in threads of their own until it is over.
    pub(super) fn send<'scope, 'env>(
        &'env self,
        bed: &'env Bed,
        scope: &'scope Scope<'scope, 'env>,
        over: &'env AtomicBool,
    ) {
        let (clients, servers) = if self.is_asked {
            (RECEIVER, SENDER)
        } else {
            (SENDER, RECEIVER)
        };
        let listen = |number| TcpListener::bind(self.server(number)).expect("a port is free");
        let listeners: Vec<_> = bed.inside(servers, || (0..=self.senders).map(listen).collect());
        for listener in listeners {
            scope.spawn(move || self.serve(&listener));
        }
        scope.spawn(move || bed.inside(clients, || self.use_servers(over)));
    }

    /// Opens connections until it is over, and then ends the servers.
    fn use_servers(&self, over: &AtomicBool) {
        let all = Barrier::new(self.senders.into());
        let goes = AtomicBool::new(true);
        thread::scope(|scope| {
            for number in 0..self.senders {
                let (all, goes) = (&all, &goes);
                scope.spawn(move || {
                    // All draw the same pauses, and one of them waits for all.
                    let mut pauses = Stream::new(self.seed, "pauses", 0);
                    loop {
                        let pause = exponential(&mut pauses, real(self.pause_ms) / 1e3);
                        if all.wait().is_leader() {
                            thread::sleep(pause);
                            goes.store(!over.load(Ordering::Relaxed), Ordering::Relaxed);
                        }
                        all.wait();
                        if !goes.load(Ordering::Relaxed) {
                            return self.end(number);
                        }
                        let server = self.connected(number);
                        all.wait();
                        self.transfer(server, self.size);
                    }
                });
            }
            let mut times = Stream::new(self.seed, "background", 0);
            while !over.load(Ordering::Relaxed) {
                thread::sleep(exponential(&mut times, BACKGROUND_S));
                if let Some(size) = self.background {
                    self.transfer(self.connected(self.senders), size);
                }
            }
            self.end(self.senders);
        });
    }

    /// Answers requests, or takes data, until a connection brings a size of zero.
    fn serve(&self, listener: &TcpListener) {
        loop {
            let (mut client, _) = listener.accept().expect("a connection");
            let mut size = [0; HEAD];
            client.read_exact(&mut size).expect("a size");
            let size = u64::from_be_bytes(size);
            if size == 0 {
                return;
            }
            if self.is_asked {
                let data = vec![7; index(size)];
                client.write_all(&data).expect("it is sent");
            } else {
                takes(&mut client, size - HEAD as u64);
            }
        }
    }

    /// Asks for this many bytes, or sends them, and waits for the end.
    fn transfer(&self, mut server: TcpStream, size: u64) {
        let mut data = size.to_be_bytes().to_vec();
        if self.is_asked {
            server.write_all(&data).expect("a request");
            takes(&mut server, size);
        } else {
            data.resize(index(size), 7);
            server.write_all(&data).expect("it is sent");
            server.shutdown(Shutdown::Write).expect("an end");
            takes(&mut server, 0);
        }
    }

    fn end(&self, number: u8) {
        let mut server = self.connected(number);
        server.write_all(&[0; HEAD]).expect("it is sent");
    }

    fn connected(&self, number: u8) -> TcpStream {
        TcpStream::connect(self.server(number)).expect("a connection")
    }

    fn server(&self, number: u8) -> SocketAddr {
        if self.is_asked {
            return answering(number);
        }
        SocketAddr::from(([10, 9, 2, 1], 5_000 + u16::from(number)))
    }
}

impl fmt::Display for DrawnNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            law,
            measure,
            senders,
            size,
            rate_mbit,
            packets,
            control,
            min_rto_ms,
            first_window,
            pause_ms,
            ..
        } = self;
        let by = if self.is_asked {
            "hosts that answer"
        } else {
            "connections of one host"
        };
        write!(
            f,
            "{measure} with {law}, {senders} {by}, {size} B by {control} from {first_window} segments, {rate_mbit} Mbit/s, \
             {packets} packets, minimum RTO {min_rto_ms} ms, pauses of {pause_ms} ms"
        )?;
        match self.background {
            Some(size) => write!(f, ", beside flows of {size} B"),
            None => Ok(()),
        }
    }
}

/// A number of the range whose logarithm is uniform.
fn between(drawn: &mut Stream, low: u64, high: u64) -> u64 {
    let (low, high) = (real(low), real(high));
    whole((low * libm::pow(high / low, drawn.unit())).round())
}

fn one_of<T: Copy>(drawn: &mut Stream, values: &[T]) -> T {
    values[index(drawn.below(values.len() as u64))]
}

/// A time of a Poisson process, at most five times as long as the mean, so that no period stays empty.
fn exponential(drawn: &mut Stream, mean_s: f64) -> Duration {
    let times = -libm::log(1.0 - drawn.unit());
    Duration::from_secs_f64(mean_s * times.min(5.0))
}

/// Reads this many bytes and the end.
fn takes(from: &mut TcpStream, size: u64) {
    let limit = Some(Duration::from_secs(30));
    from.set_read_timeout(limit).expect("a timeout");
    let mut got = Vec::new();
    from.read_to_end(&mut got).expect("all arrives");
    assert_eq!(got.len() as u64, size);
}

/// The address of a host that answers.
fn answering(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 9, 1, 10 + number], 5_000))
}

/// The bytes of the size that a connection begins with.
const HEAD: usize = 8;
/// Of Ethernet.
const FULL_PACKET: u64 = 1_514;
/// The mean time between background flows.
const BACKGROUND_S: f64 = 0.1;
