//! The result of an observation.

use serde::{Deserialize, Serialize};

use base::cast::real;

/// One transfer: data that went in one direction without a long pause.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Start in seconds since the observation began: the SYN, or the first byte if it came after a pause. The first
    /// byte also counts if it came longer after the handshake than the handshake took, since a program waited then.
    pub start_s: f64,
    /// When its connection opened, if this is its first flow.
    #[serde(default)]
    pub opened_s: Option<f64>,
    /// Seconds until the last byte, and until it has left the queue of the device if it leaves by it.
    pub fct_s: f64,
    /// Payload; each byte counts once.
    pub bytes: u64,
    /// Address and port of the sender.
    pub sender: String,
    /// Address and port of the receiver.
    pub receiver: String,
    /// Timeouts: reported by the kernel's TCP if the sender is on this machine, otherwise data that came a second time
    /// after 10 ms of silence.
    pub timeouts: u32,
    /// Retransmissions in fast recovery, if the sender is of this machine.
    pub fast_retransmits: u32,
    /// Other retransmissions, which are probes, likewise.
    pub probes: u32,
    /// Segments with data that came a second time.
    pub repeats: u32,
    /// Packets that the queue of the device dropped: each segment of a train counts.
    pub drops: u32,
    /// Seconds of silence before timeouts.
    pub waited_s: f64,
    /// Whether it left by the device, or came in.
    pub leaves: bool,
    /// Whether the sender is of this machine, so that its TCP tells.
    pub is_told: bool,
    /// Whether it ended with a FIN or RST.
    pub closed: bool,
    /// The request that it answers, once requests are parts of their answers: see [`Observation::with_requests`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SeenRequest>,
}

/// A request on a connection that its sender opened.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenRequest {
    /// Payload: the mean of those on the connection.
    pub bytes: u64,
    /// When the connection opened, if this is its first request.
    pub opened_s: Option<f64>,
}

impl Flow {
    /// A flow of this machine that leaves by the device and loses nothing. It starts and ends at 0, on a connection that was
    /// open before.
    pub fn lossless(sender: impl Into<String>, receiver: impl Into<String>, bytes: u64) -> Self {
        Self {
            start_s: 0.0,
            opened_s: None,
            fct_s: 0.0,
            bytes,
            sender: sender.into(),
            receiver: receiver.into(),
            timeouts: 0,
            fast_retransmits: 0,
            probes: 0,
            repeats: 0,
            drops: 0,
            waited_s: 0.0,
            leaves: true,
            is_told: true,
            closed: true,
            request: None,
        }
    }
}

/// The result of an observation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// For how long.
    pub seconds: f64,
    /// The queue of the device, if it has one that can be read.
    pub queue: Option<Queue>,
    /// Rate of the link in bits per second.
    pub rate_bps: u64,
    /// The source of the rate.
    pub rate_from: String,
    /// Whether bursts could be told: the rate was known when the observation began.
    pub bursts_known: bool,
    /// Runs of windows of 100 us, or of the time that ten full packets take, above half the rate: of packets that left
    /// and that came in.
    pub bursts: [u64; 2],
    /// Packets that left and came in.
    pub packets: [u64; 2],
    /// Their bytes.
    pub packet_bytes: [u64; 2],
    /// Packets that the queue of the device dropped.
    pub drops: u64,
    /// Transfers.
    pub flows: u64,
    /// Those whose sender is on another machine, so that timeouts are inferred.
    pub inferred_flows: u64,
    /// Median completion time in seconds; 0 without flows.
    pub fct_p50_s: f64,
    /// The 99th percentile.
    pub fct_p99_s: f64,
    /// Timeouts of all flows.
    pub timeouts: u64,
    /// Retransmissions in fast recovery.
    pub fast_retransmits: u64,
    /// Probes.
    pub probes: u64,
    /// Timeouts after which all retransmitted data had arrived already, as D-SACKs show: no loss.
    pub needless_timeouts: u64,
    /// Retransmissions in fast recovery of data that had arrived already, likewise.
    pub needless_fast_retransmits: u64,
    /// Segments with data that came a second time.
    pub repeats: u64,
    /// SYNs that came again.
    pub syn_repeats: u64,
    /// SYN-ACKs that came again.
    pub syn_ack_repeats: u64,
    /// Resets.
    pub resets: u64,
    /// By number of flows: the milliseconds in which this was the largest number of flows to one receiver.
    pub degrees: Vec<u64>,
    /// The shortest round trip in microseconds, from handshakes and sockets.
    pub min_rtt_us: Option<f64>,
    /// Median of the smoothed round-trip times of sockets, in microseconds.
    pub srtt_us: Option<f64>,
    /// The 99th percentile of the queue in bytes as senders observe it, `(srtt - min rtt) * rate`, if no queue can be
    /// read.
    pub inferred_queue_bytes: Option<f64>,
    /// Payload of a full segment.
    pub mss: Option<u32>,
    /// The first window of most senders in segments: as sockets of this machine have it if they send
    /// most bytes, otherwise the bytes before the first ACK of flows that are larger.
    pub initial_window: Option<u32>,
    /// The smallest retransmission timeout of the sockets that sent most bytes, in milliseconds.
    pub min_rto_ms: Option<f64>,
    /// Whether the kernel of this machine has `net.ipv4.tcp_rto_min_us`.
    pub has_rto_min_us: bool,
    /// The congestion control of the sockets that sent most bytes.
    pub control: Option<String>,
    /// Whether the connections that sent most bytes use congestion marks, if sockets of this machine told.
    #[serde(default)]
    pub is_ecn_capable: Option<bool>,
    /// Share of all completion times that was spent in silence before timeouts.
    pub waited_share: f64,
    /// The cost of watching.
    pub cost: Cost,
    /// The verdict.
    pub judged: VerdictEvidence,
}

/// The queue of a device. Percentiles are exact to the width of a bin.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// As `tc` calls it.
    pub kind: String,
    /// Its size in bytes, if known.
    pub room_bytes: Option<u64>,
    /// Its size in packets, if it counts packets.
    #[serde(default)]
    pub room_packets: Option<u32>,
    /// Bytes that a token bucket lets through at once, if only its rate and its size are set besides.
    #[serde(default)]
    pub burst_bytes: Option<u64>,
    /// The mean over time.
    pub mean_bytes: f64,
    /// The median over time.
    pub p50_bytes: f64,
    /// The 99th percentile over time.
    pub p99_bytes: f64,
    /// The longest.
    pub max_bytes: u64,
    /// How long a byte waits in a queue of the 99th percentile, in microseconds.
    pub sojourn_p99_us: f64,
    /// Width of a bin in bytes.
    pub bin_bytes: u64,
    /// Seconds that the queue had a length in each bin; the last one is all above.
    pub histogram_s: Vec<f64>,
}

/// The cost of watching.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Nanoseconds of a processor for a packet, measured in the first second; none without packets.
    pub ns_per_packet: Option<f64>,
    /// Share of a processor: programs and the observer's own process.
    pub core_share: f64,
    /// Packets that were not examined, because there were too many.
    pub skipped: u64,
    /// Events and flows that did not fit.
    pub lost: u64,
}

impl Queue {
    /// Percentiles and the mean of a histogram of nanoseconds, of bins of `bin_bytes`, whose lengths times nanoseconds sum
    /// up to `area`.
    #[must_use]
    pub fn with_histogram(
        mut self,
        nanoseconds: &[u64],
        (bin_bytes, area): (u64, u64),
        rate_bps: u64,
    ) -> Self {
        let all: u64 = nanoseconds.iter().sum();
        let percentile = |share: f64| {
            let mut passed = 0.0;
            let bin = nanoseconds.iter().position(|time| {
                passed += real(*time);
                passed >= share * real(all)
            });
            // The middle of a bin; nothing above the longest queue.
            let middle = real(bin.unwrap_or(0) as u64 * bin_bytes) + real(bin_bytes) / 2.0;
            match bin {
                Some(0) | None => 0.0,
                _ => middle.min(real(self.max_bytes)),
            }
        };
        let (p50, p99) = (percentile(0.5), percentile(0.99));
        self.p50_bytes = p50;
        self.p99_bytes = p99;
        self.mean_bytes = if all == 0 {
            0.0
        } else {
            real(area) / real(all)
        };
        self.sojourn_p99_us = if rate_bps == 0 {
            0.0
        } else {
            p99 * 8e6 / real(rate_bps)
        };
        self.bin_bytes = bin_bytes;
        self.histogram_s = nanoseconds.iter().map(|time| real(*time) / 1e9).collect();
        self
    }
}

base::names! {
    /// The verdict: the first of these that holds.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ObservedVerdict {
        /// Many send to one at once, and lose packets or wait for timeouts then.
        Incast = "incast",
        /// Packets are lost, and not because many send to one at once. Needless repairs are no losses.
        LossWithoutIncast = "loss without incast",
        /// Short bursts fill half of the queue, or the link where no queue can be read, and nothing is lost.
        Microbursts = "microbursts without loss",
        /// Most flows end within three round trips: the window they begin with decides how long they take.
        SlowStartBound = "slow-start bound",
        /// None of these.
        #[default]
        Quiet = "quiet",
    }
}

/// A verdict with its evidence.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictEvidence {
    /// The verdict.
    pub verdict: ObservedVerdict,
    /// Milliseconds with many flows to one receiver.
    pub crowds: u64,
    /// Those of them that a drop or timeout of one of their flows followed.
    pub followed: u64,
    /// The most flows at once.
    pub most: u32,
    /// The receiver with most of these milliseconds.
    pub receiver: Option<String>,
    /// Timeouts, and those that followed such a millisecond.
    pub timeouts: u64,
    /// Timeouts that followed such a millisecond.
    pub timeouts_following: u64,
    /// Flows larger than a window of ten segments.
    pub long_flows: u64,
    /// Those of them that ended within three round trips.
    pub short_lived: u64,
}

#[cfg(test)]
impl Flow {
    /// One between two hosts, without any loss, whose connection opens with it.
    pub(crate) fn example(start_s: f64, fct_s: f64) -> Self {
        Self {
            start_s,
            opened_s: Some(start_s),
            fct_s,
            ..Self::lossless("10.0.0.1:5", "10.0.0.9:80", 10_000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_gives_percentiles_to_the_width_of_a_bin() {
        let queue = Queue {
            max_bytes: 2_900,
            ..Queue::default()
        };
        // Half of the time empty, 49 hundredths around 1500 bytes, and the rest in the third bin.
        let queue = queue.with_histogram(&[500, 490, 10, 0], (1_000, 800_000), 8_000_000);
        assert!((queue.p50_bytes - 0.0).abs() < 1e-9);
        assert!((queue.p99_bytes - 1_500.0).abs() < 1e-9);
        assert!((queue.mean_bytes - 800.0).abs() < 1e-9);
        // A byte takes 1 us.
        assert!((queue.sojourn_p99_us - 1_500.0).abs() < 1e-9);
    }

    #[test]
    fn an_observation_is_read_as_it_was_written() {
        let seen = Observation {
            control: Some("cubic".to_owned()),
            ..Observation::default()
        };
        let text = serde_json::to_string(&seen).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Observation>(&text).expect("an observation"),
            seen
        );
    }
}
