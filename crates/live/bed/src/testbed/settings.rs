//! Knobs of the kernel for settings of TCP and of queues.

use base::{Quantity, Span};
use machine::{RouteOptions, Sysctl};
use plan::PointSpec;
use plan::keys::{Keys, Profile, QueueUnit, SendBuffer, Tcp, WindowScale, Workload, WorkloadKind};

use super::HEADERS;

/// A setting that Linux does not follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Different {
    /// The key.
    pub key: &'static str,
    /// The substitute.
    pub instead: String,
}

/// The knobs of the kernel for the settings of a point.
pub(super) struct Settings {
    pub(super) route: RouteOptions,
    pub(super) sysctls: Vec<Sysctl>,
    pub(super) different: Vec<Different>,
    pub(super) twin: Vec<(&'static str, String)>,
}

pub(super) fn translate(point: &PointSpec) -> Settings {
    let tcp = &point.keys.tcp;
    let mut settings = Settings {
        route: route(tcp),
        sysctls: sysctls(tcp),
        different: Vec::new(),
        twin: vec![
            ("net.header_bytes", HEADERS.to_string()),
            // Slow start in Linux counts the segments that an ACK acknowledges.
            ("tcp.byte_counting_limit", "1000".to_owned()),
        ],
    };
    settings.compare(&QUEUES, point);
    settings.compare(&TIMERS, point);
    settings.compare(&ENDPOINTS, point);
    settings.compare_delay_of_acks(tcp);
    if tcp.send_buffer != SendBuffer::Unlimited {
        settings
            .twin
            .push(("tcp.send_buffer", format!("{SEND_BUFFER}B")));
    }
    settings
}

/// A fixed behaviour of Linux, whatever a scenario says.
struct Fixed {
    key: &'static str,
    /// Whether the scenario has the same.
    agrees: fn(&Keys) -> bool,
    /// The substitute, in words.
    instead: &'static str,
    /// The setting of the twin, if the simulator has one.
    twin: Option<&'static str>,
}

const QUEUES: [Fixed; 7] = [
    Fixed {
        key: "link.delay",
        agrees: |_| false,
        instead: "none is added; the round-trip time is measured, and the twin has it",
        twin: None,
    },
    Fixed {
        key: "link.jitter",
        agrees: |keys| keys.link.jitter.0.is_none_or(|jitter| jitter == Span::ZERO),
        instead: "the jitter of this machine",
        twin: Some("auto"),
    },
    Fixed {
        key: "switch.burst_lateness",
        agrees: |keys| keys.switch.burst_lateness == Span::ZERO,
        instead: "the late timers of this machine",
        twin: None,
    },
    Fixed {
        key: "host.burst_lateness",
        agrees: |keys| keys.host.burst_lateness == Span::ZERO,
        instead: "the late timers of this machine",
        twin: None,
    },
    Fixed {
        key: "net.header_bytes",
        agrees: |keys| keys.net.header_bytes == HEADERS,
        instead: "66: Ethernet, IPv4, and TCP with timestamps",
        twin: None,
    },
    Fixed {
        key: "switch.unit",
        agrees: |keys| keys.switch.unit == QueueUnit::Bytes,
        instead: "queues count bytes",
        twin: Some("bytes"),
    },
    Fixed {
        key: "tcp.window_validation",
        agrees: |keys| keys.tcp.window_validation,
        instead: "true",
        twin: Some("true"),
    },
];

const TIMERS: [Fixed; 6] = [
    Fixed {
        key: "tcp.initial_rto",
        agrees: |keys| keys.tcp.initial_rto == Span::from_secs(1),
        instead: "1 s, which only a program in the kernel could change",
        twin: Some("1s"),
    },
    Fixed {
        key: "tcp.syn_rto",
        agrees: |keys| keys.tcp.syn_rto == Span::from_secs(1),
        instead: "1 s, which only a program in the kernel could change",
        twin: Some("1s"),
    },
    Fixed {
        key: "tcp.rto_after_syn_loss",
        agrees: |keys| keys.tcp.rto_after_syn_loss == Span::ZERO,
        instead: "none: timestamps still give a sample of the round trip",
        twin: Some("0s"),
    },
    Fixed {
        key: "tcp.max_rto",
        agrees: |keys| keys.tcp.max_rto == Span::from_secs(120),
        instead: "120 s",
        twin: Some("120s"),
    },
    Fixed {
        key: "tcp.min_rto",
        agrees: |keys| keys.tcp.min_rto.as_ps().is_multiple_of(PS_PER_MS),
        instead: "whole milliseconds, at least one",
        twin: None,
    },
    Fixed {
        key: "tcp.receiver_min_rto",
        agrees: |keys| keys.tcp.receiver_min_rto.0.is_none(),
        instead: "tcp.min_rto, which is set in the routes of both ends",
        twin: Some("auto"),
    },
];

const ENDPOINTS: [Fixed; 12] = [
    Fixed {
        key: "workload.kind",
        agrees: |keys| !asks(&keys.workload),
        instead: "servers open the connections for requests; in the twin clients open them",
        twin: None,
    },
    Fixed {
        key: "workload.jitter",
        agrees: |keys| keys.workload.kind != WorkloadKind::Incast,
        instead: "starts are late, as reported above; the twin's starts are equally late",
        twin: None,
    },
    Fixed {
        key: "tcp.initial_ssthresh",
        agrees: |keys| keys.tcp.initial_ssthresh.0.is_none(),
        instead: "unlimited: the kernel keeps a route's threshold only with its metrics cache",
        twin: Some("unlimited"),
    },
    Fixed {
        key: "tcp.limited_transmit",
        agrees: |keys| keys.tcp.limited_transmit,
        instead: "true",
        twin: Some("true"),
    },
    Fixed {
        key: "tcp.delayed_ack",
        agrees: |keys| keys.tcp.delayed_ack.0 <= 2,
        instead: "2 after a few quick ones",
        twin: Some("2"),
    },
    Fixed {
        key: "tcp.scale_syn_ack",
        agrees: |keys| !keys.tcp.scale_syn_ack,
        instead: "false",
        twin: Some("false"),
    },
    Fixed {
        key: "tcp.window_scale",
        agrees: |keys| !matches!(keys.tcp.window_scale, WindowScale::Shift(_)),
        instead: "auto",
        twin: Some("auto"),
    },
    Fixed {
        key: "tcp.time_wait",
        agrees: |keys| keys.tcp.time_wait == Span::from_secs(60),
        instead: "60 s",
        twin: Some("60s"),
    },
    Fixed {
        key: "tcp.profile",
        agrees: |keys| keys.tcp.profile == Profile::Linux,
        instead: "the kernel's loss recovery, ACKs and timers; the twin has those of the scenario, and \
                  tcp.profile=linux makes them Linux's",
        twin: None,
    },
    Fixed {
        key: "tcp.ecn_retransmissions",
        agrees: |keys| !keys.tcp.ecn_retransmissions,
        instead: "false",
        twin: Some("false"),
    },
    Fixed {
        key: "tcp.clock_granularity",
        agrees: |keys| {
            keys.tcp.clock_granularity == Span::ZERO || keys.tcp.profile == Profile::Linux
        },
        instead: "that of the kernel's timers",
        twin: None,
    },
    Fixed {
        key: "tcp.header_room",
        agrees: |keys| keys.tcp.header_room == 320,
        instead: "320 bytes, as kernels of distributions are built",
        twin: Some("320"),
    },
];

impl Settings {
    fn compare_delay_of_acks(&mut self, tcp: &Tcp) {
        let delay = delay_of_acks(tcp);
        if tcp.delayed_ack.0 == 1 || tcp.delayed_ack_timeout == delay {
            return;
        }
        let key = "tcp.delayed_ack_timeout";
        let millis = delay.as_ps() / PS_PER_MS;
        self.different.push(Different {
            key,
            instead: format!("{millis} ms, below tcp.min_rto"),
        });
        self.twin.push((key, span_text(delay)));
    }

    fn compare(&mut self, fixed: &[Fixed], point: &PointSpec) {
        let agree = |row: &Fixed| point.groups.iter().all(|group| (row.agrees)(&group.keys));
        for row in fixed.iter().filter(|row| !agree(row)) {
            let instead = row.instead.to_owned();
            self.different.push(Different {
                key: row.key,
                instead,
            });
            if let Some(text) = row.twin {
                self.twin.push((row.key, text.to_owned()));
            }
        }
    }
}

/// Whether receivers ask for flows.
fn asks(workload: &Workload) -> bool {
    match workload.kind {
        WorkloadKind::Trace => workload.trace.content().has_requests(),
        kind => kind == WorkloadKind::Requests,
    }
}

/// The delay of an ACK: 40 ms at first, but always less than the least timeout of the route, so that the sender's timer
/// does not expire meanwhile (`tcp_delack_max` in `net/ipv4/tcp_output.c`, from Linux 6.7 on).
fn delay_of_acks(tcp: &Tcp) -> Span {
    let tick = match tcp.clock_granularity {
        Span::ZERO => TICK,
        tick => tick,
    };
    let ticks = tcp.min_rto.as_ps().div_ceil(tick.as_ps());
    (tick * (ticks.max(2) - 1)).min(Span::from_millis(40))
}

fn route(tcp: &Tcp) -> RouteOptions {
    let window = tcp.receive_buffer.in_bytes(tcp.mss.0.into());
    let ms = tcp.min_rto.as_ps() / PS_PER_MS;
    RouteOptions {
        advertised_mss: tcp.mss.0 + TIMESTAMPS,
        initial_window: tcp.initial_window.0,
        min_rto_ms: u32::try_from(ms).unwrap_or(u32::MAX).max(1),
        quick_ack: tcp.delayed_ack.0 == 1,
        window: u32::try_from(window)
            .unwrap_or(MOST_WINDOW)
            .min(MOST_WINDOW),
    }
}

fn sysctls(tcp: &Tcp) -> Vec<Sysctl> {
    let flag = |on: bool| u32::from(on).to_string();
    let window = u64::from(route(tcp).window);
    // Half of a buffer may be bookkeeping. The route's window is the limit for the peer.
    let buffer = (4 * window).clamp(1 << 17, 1 << 30);
    let files = [
        ("ipv4/tcp_sack", flag(tcp.sack)),
        ("ipv4/tcp_dsack", flag(tcp.sack)),
        (
            "ipv4/tcp_window_scaling",
            flag(tcp.window_scale != WindowScale::Off),
        ),
        ("ipv4/tcp_slow_start_after_idle", flag(tcp.idle_restart)),
        ("ipv4/tcp_timestamps", flag(true)),
        ("ipv4/tcp_ecn", flag(tcp.ecn)),
        (
            "ipv4/tcp_syn_retries",
            tcp.syn_retries.clamp(1, 127).to_string(),
        ),
        (
            "ipv4/tcp_synack_retries",
            tcp.syn_ack_retries
                .0
                .unwrap_or(tcp.syn_retries)
                .clamp(1, 127)
                .to_string(),
        ),
        ("ipv4/tcp_retries2", tcp.retries.clamp(1, 255).to_string()),
        ("ipv4/tcp_rmem", format!("4096 {buffer} {buffer}")),
        // The data of a flow waits in its socket, not in the generator.
        ("ipv4/tcp_wmem", format!("4096 {SEND_BUFFER} {SEND_BUFFER}")),
        ("ipv4/tcp_no_metrics_save", flag(true)),
        // A SYN-ACK has the priority of its SYN.
        ("ipv4/tcp_reflect_tos", flag(true)),
        // An incast of SYNs must not count as an attack.
        ("ipv4/tcp_syncookies", flag(false)),
        ("ipv4/tcp_max_syn_backlog", BACKLOG.to_string()),
        ("core/somaxconn", BACKLOG.to_string()),
        ("ipv6/conf/all/disable_ipv6", flag(true)),
        ("ipv6/conf/default/disable_ipv6", flag(true)),
    ];
    let own = files.into_iter();
    own.map(|(file, value)| Sysctl::new(file, value)).collect()
}

/// Bytes of the timestamp option in every segment, padded.
const TIMESTAMPS: u32 = 12;

/// The largest window with the largest scale.
const MOST_WINDOW: u32 = 1 << 30;

/// Bytes that a sending socket accepts at once.
const SEND_BUFFER: u32 = 4 << 20;

/// Connections that may wait to be accepted.
pub(crate) const BACKLOG: i32 = 8192;

/// For a kernel with 250 ticks a second, as most have.
const TICK: Span = Span::from_millis(4);

const PS_PER_MS: u64 = 1_000_000_000;

/// The text of a time, as a scenario writes it.
pub(crate) fn span_text(span: Span) -> String {
    let text = format!("{}ns", span.as_ps().div_ceil(1000));
    debug_assert!(Span::parse(&text).is_ok(), "{text}");
    text
}
