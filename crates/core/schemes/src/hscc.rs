//! HSCC: a switch that holds connections to a segment while its queue is long.
//!
//! A port whose queue exceeds the upper threshold rewrites the receive window in every ACK of the data
//! it carries to one segment, until the queue has fallen below the lower threshold. Senders keep their
//! congestion windows and resume at once. The switch has no state per connection, so a helper at the
//! hosts writes the shift of the connection's windows into every ACK. The law is [`laws::Hscc`], the
//! text of `crates/core/laws/c/hscc.h`; hosts are in `window_scale.rs`.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | alpha1, alpha2 | `hscc.alpha1`, `hscc.alpha2` | 0.25, 0.5 | HSCC §IV |
//! | `W_cbr` | `hscc.window` | 1 segment | HSCC §IV; its sweep goes to 10 and prefers 5 |
//! | SYN-ACKs | `hscc.rewrite_synack` | left alone | the authors' hardware rewrites them |
//! | scale in ACKs | `hscc.encoding` | four reserved bits | HSCC §IV-A, with two more that it names |
//! | B, the buffer | `switch.buffer` | | the scenario; packets where these limit the queue, else bytes |
//!
//! Deviations: a rewritten window is the fewest units that hold it, where the hardware's constant shifted
//! right is less than a segment; it never exceeds what the receiver grants, where the hardware overwrites
//! and can open a closed window; and FINs are left alone. With the option as encoding the four bytes it
//! would take in a packet do not count.
//!
//! Open in the paper: the comparisons at the thresholds (strict) and what is compared with them (what
//! waits at the instant, without the packet in transmission), SYN-ACKs, FINs, data with an ACK (rewritten),
//! and several congested switches (the smallest window wins).
//!
//! Cost: O(1) per packet, at a port and at a host.

use base::setting::Settings;
use base::{Count, Fraction, Packet, TcpFlags, Time};
use fabric::{Backlog, Calls, Limit, Quiet, SwitchHook};
use laws::{Hscc, HsccSettings};
use tcp::Gauge;

use crate::registry::linux::{self, KernelLaw, Linux, Reading, Runs};
use crate::registry::{Misfit, PortInfo, Role, Roles, Scheme};

pub use crate::window_scale::Encoding;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "hscc",
    summary: "HSCC: switches cut every window to a segment while their queue is long",
    how: "A port of a switch watches the length of its own queue. When the queue exceeds an upper \
          threshold, the port rewrites the receive window in every ACK of the data that it carries, to one \
          segment. It does so until the queue has fallen below a lower threshold. Senders keep their \
          congestion windows meanwhile and resume at once. The switch keeps no state per connection: a \
          helper at the hosts writes the scale of windows into every ACK.",
    reference: "Abdelmoniem, Bensaou, INFOCOM 2019",
    roles: &[Role::Switch, Role::Host],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH, CLAMPING],
    linux: Linux {
        law: Some(&AT_PORT),
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        let encoding = params.encoding;
        Ok(Roles {
            misfits: misfit(&params).into_iter().collect(),
            shares_buffer: Some("hscc"),
            hook: Some(Box::new(move |port| Box::new(Hook::new(&params, port)))),
            host: Some(Box::new(move |_| encoding.helper())),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

/// HSCC at a port of a Linux machine.
const AT_PORT: KernelLaw = KernelLaw {
    name: "hscc",
    summary: "ACKs leave with a small window while the queue is long",
    keys: &[
        "hscc.alpha1",
        "hscc.alpha2",
        "hscc.window",
        "hscc.rewrite_synack",
    ],
    // A receiver that delays its ACKs answers a window of one segment after 40 ms.
    usual: &[("hscc.window", "2")],
    least_window: Some("hscc.window"),
    cure: Some("hscc"),
    runs: Runs::Kernel(|text, port| {
        let law = Params::read(text)?.law(port.buffer_bytes, port.mss);
        Ok(law.loadable())
    }),
    readings: &[
        Reading {
            key: "is_on",
            metric: Some(("tailwater_on", "Whether HSCC lowers windows.")),
            words: Some(["on:", "off; on,"]),
            read: |memory| Some(u64::from(Hscc::of_map(memory)?.is_on())),
        },
        Reading {
            key: "window_bytes",
            metric: Some(linux::WINDOW_BYTES),
            words: None,
            read: |memory| Some(Hscc::of_map(memory)?.window_bytes().into()),
        },
    ],
    lines: &["{is_on} windows of {window_bytes} bytes"],
    ..KernelLaw::PLAIN
};

base::settings! {
    /// Parameters of HSCC.
    pub struct Params in "hscc" {
        /// Share of a switch's buffer below which a port leaves windows alone again (alpha1).
        pub alpha1: Fraction = "0.25",
        /// Share of a switch's buffer above which a port begins to rewrite windows (alpha2).
        pub alpha2: Fraction = "0.5",
        /// Window that a port grants every connection while it rewrites, in segments.
        pub window: Count = "1",
        /// Whether windows of SYN-ACKs are rewritten too, so that connections that open meanwhile begin with hscc.window.
        pub rewrite_synack: bool = "false",
        /// How a packet tells switches by how much its window is shifted; every host of the network must do so.
        pub encoding: Encoding = "reserved",
    }
}

const CLAMPING: Gauge = Gauge {
    name: "clamping",
    unit: "0 or 1",
    help: "Whether the port of the switch rewrites windows.",
};

/// Thresholds in the wrong order.
fn misfit(params: &Params) -> Option<Misfit> {
    (params.alpha1 > params.alpha2).then(|| Misfit {
        keys: &["hscc.alpha1", "hscc.alpha2"],
        message: format!(
            "hscc.alpha1 = {} exceeds hscc.alpha2 = {}: a port would switch off above where it switches on",
            params.alpha1.0, params.alpha2.0
        ),
        remedy: "lower hscc.alpha1 or raise hscc.alpha2".into(),
    })
}

impl Params {
    /// The law at a port with this buffer, in bytes or packets, for segments of `mss` bytes.
    pub fn law(&self, buffer_units: u64, mss: u16) -> Hscc {
        Hscc::new(&HsccSettings {
            buffer_units,
            alpha1_millionths: self.alpha1.millionths(),
            alpha2_millionths: self.alpha2.millionths(),
            window_bytes: self.window.0.saturating_mul(u32::from(mss)),
            rewrites_syn_ack: self.rewrite_synack,
        })
    }
}

/// HSCC at a port of a switch.
#[derive(Debug)]
pub struct Hook {
    law: Hscc,
    /// Whether the buffer, and so its thresholds, count packets.
    counts_packets: bool,
    encoding: Encoding,
}

impl Hook {
    /// A port that leaves windows alone, until its queue says otherwise.
    pub fn new(params: &Params, port: &PortInfo) -> Self {
        let (buffer_units, counts_packets) = match port.limit {
            // A share of a buffer without bound is never reached; the scenario refuses it.
            Limit::Unlimited => (u64::MAX, false),
            Limit::Bytes(bytes) => (bytes, false),
            Limit::Packets(packets) => (packets, true),
        };
        Self {
            law: params.law(buffer_units, port.mss),
            counts_packets,
            encoding: params.encoding,
        }
    }
}

impl SwitchHook for Hook {
    fn calls(&self) -> Calls {
        // Only a packet that joins the queue switches the port on, and only then ACKs are rewritten.
        let rewrites = if self.law.is_on() {
            Calls::REVERSE
        } else {
            Calls::NONE
        };
        Calls::LEVEL.with(rewrites)
    }

    fn quiet(&self) -> Quiet {
        let (least, most) = self.law.unmoved_units();
        Quiet { least, most }
    }

    fn on_level(&mut self, queue: Backlog, _at: Time) {
        self.law.on_level(if self.counts_packets {
            queue.packets
        } else {
            queue.bytes
        });
    }

    fn on_reverse(&mut self, _queue: Backlog, packet: &mut Packet, _now: Time) {
        if self.law.is_on() && packet.flags.has(TcpFlags::ACK) {
            let law = &self.law;
            self.encoding.rewrite(packet, |flags, window, shift| {
                law.window(flags, window, shift)
            });
        }
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        sink(CLAMPING.name, f64::from(u8::from(self.law.is_on())));
    }
}
