//! A scenario from the command line, for any new question to the kernel.

use std::collections::BTreeMap;

use base::{DataSize, Quantity, Rate, Span};
use clap::{Args, ValueEnum};

use crate::list::{Extras, Lose, Lost, MSS, OracleScenario, OracleTraffic, PACKET, PageTable, Rig};
use crate::simulate::setting_of;

/// Asks the kernel and the simulator about one scenario, and prints both beside each other: senders answer requests of
/// one receiver, behind a port of a switch. Writes no file.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Question {
    /// Senders, each with one persistent connection
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=200))]
    senders: u32,
    /// Full segments of 1448 bytes in each answer
    #[arg(long, value_name = "N", conflicts_with = "size", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    segments: Option<u64>,
    /// Size of each answer, as in 64KiB [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = parse::<DataSize>)]
    size: Option<DataSize>,
    /// Congestion control
    #[arg(long, value_enum, default_value_t = CongestionControl::Cubic)]
    cc: CongestionControl,
    /// Requests of each connection, one after the other
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Delay of both directions together; the time of packets on links comes on top
    #[arg(long, value_name = "TIME", default_value = "80us", value_parser = parse::<Span>)]
    rtt: Span,
    /// Rate of the port towards the receiver
    #[arg(long, value_name = "RATE", default_value = "1Gbps", value_parser = parse::<Rate>)]
    rate: Rate,
    /// Rate of the links of hosts [default: that of the port]
    #[arg(long, value_name = "RATE", value_parser = parse::<Rate>)]
    access: Option<Rate>,
    /// Longest random time that a packet waits behind its host's link, in order; at least 2us, or 0s for none
    /// [default: the time of a packet at the port]
    #[arg(long, value_name = "TIME", value_parser = parse::<Span>)]
    jitter: Option<Span>,
    /// Room of the port in packets, the packet in service included
    #[arg(long, value_name = "PACKETS", default_value_t = 80, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    buffer: u64,
    /// Queue in packets from which on the port marks (K of DCTCP); 0 marks nothing [default: 20 with dctcp, else 0]
    #[arg(long, value_name = "PACKETS")]
    threshold: Option<u64>,
    /// Pause between the last answer and the next requests
    #[arg(long, value_name = "TIME", value_parser = parse::<Span>)]
    think: Option<Span>,
    /// Lower bound of the retransmission timeout (`tcp_rto_min_us`)
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse::<Span>)]
    min_rto: Span,
    /// The same at the receiver, if it has another
    #[arg(long, value_name = "TIME", value_parser = parse::<Span>)]
    receiver_min_rto: Option<Span>,
    /// Lower bound of the retransmission timeout in the route of senders
    #[arg(long, value_name = "TIME", value_parser = parse::<Span>)]
    route_min_rto: Option<Span>,
    /// A sysctl below net.ipv4 for all hosts, once or several, as in `tcp_sack=0`
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    sysctl: Vec<(String, String)>,
    /// Bytes of a request
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    request: Option<u64>,
    /// Writes that make a request
    #[arg(long, value_name = "N", requires = "request", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pieces: Option<u64>,
    /// The receiver does not set `TCP_NODELAY`
    #[arg(long)]
    nagle: bool,
    /// How long after its requests the receiver begins to read
    #[arg(long, value_name = "TIME", value_parser = parse::<Span>)]
    read_late: Option<Span>,
    /// Each answer loses this segment, by its number from 1 on
    #[arg(long, value_name = "N", requires = "segments", value_parser = clap::value_parser!(u8).range(1..))]
    lose: Option<u8>,
    /// Copies of it that are lost
    #[arg(long, value_name = "N", default_value_t = 1, requires = "lose", value_parser = clap::value_parser!(u8).range(1..=15))]
    copies: u8,
    /// Packets of hosts wait in a queue that TCP's small queues see; without jitter
    #[arg(long)]
    own_queue: bool,
    /// Answers of the kernel (the first 20 have a boot each) and ten seeds of the simulator for each
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub boots: u32,
    /// Boots at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub jobs: usize,
    /// Change a setting of the simulator, once or several
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// The congestion controls that the kernel is built with, by its names.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
enum CongestionControl {
    Reno,
    Cubic,
    Dctcp,
}

impl Question {
    /// The chosen scenario, or the mistake in it.
    pub fn scenario(&self) -> Result<OracleScenario, String> {
        let (name, size) = match (self.segments, self.size) {
            (Some(segments), _) => (format!("{segments}s"), segments * MSS),
            (None, Some(size)) => (size.to_string(), size.in_bytes(MSS)),
            (None, None) => ("64k".to_owned(), 64 * 1024),
        };
        if size == 0 || size > MOST_BYTES {
            return Err(format!(
                "--size: an answer has 1 byte to {MOST_BYTES} bytes"
            ));
        }
        let cc = match self.cc {
            CongestionControl::Reno => "reno",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Dctcp => "dctcp",
        };
        let rig = self.rig()?;
        let threshold = match self.threshold {
            None if cc == "dctcp" => 20,
            threshold => threshold.unwrap_or(0),
        };
        if threshold >= self.buffer {
            let buffer = self.buffer;
            return Err(format!(
                "--threshold: {threshold} is not below --buffer, {buffer} packets"
            ));
        }
        let kind = OracleTraffic::Incast {
            senders: self.senders,
            size,
            rounds: self.rounds,
            // About four packets at the port, as in the scenarios of the page.
            jitter: if self.senders == 1 {
                1
            } else {
                4 * packet_ns(rig.rate)
            },
        };
        Ok(OracleScenario {
            name: format!("asked-{}x{name}-{cc}", self.senders),
            rig,
            cc,
            buffer: self.buffer * PACKET,
            threshold: threshold * PACKET,
            min_rto_us: microseconds("--min-rto", self.min_rto)?,
            look: 5 * packet_ns(rig.rate),
            kind,
            extras: self.extras()?,
            answers: self.boots,
            exact: false,
            section: PageTable::Settings,
        })
    }

    /// Behaviour of the kernel for which the simulator has no setting.
    pub fn unknown_here(&self) -> Vec<&str> {
        let unknown = self.sysctl.iter();
        let unknown = unknown.filter(|(key, value)| setting_of(key, value).is_none());
        unknown.map(|(key, _)| &**key).collect()
    }

    fn rig(&self) -> Result<Rig, String> {
        let rate = self.rate.as_bps();
        let access = self.access.unwrap_or(self.rate).as_bps();
        if rate.min(access) < SLOWEST {
            return Err("--rate, --access: the lab's links have 1Mbps or more".to_owned());
        }
        let usual = if self.own_queue || access > rate {
            0
        } else {
            packet_ns(rate).next_multiple_of(1000).max(LEAST_JITTER)
        };
        let jitter = self.jitter.map_or(usual, nanoseconds);
        if jitter > 0 && (jitter < LEAST_JITTER || self.own_queue) {
            return Err(if self.own_queue {
                "--jitter: netem makes it, which hides packets from small queues; leave --own-queue out, or set 0s".to_owned()
            } else {
                "--jitter: 0s, or at least 2us".to_owned()
            });
        }
        // Half a round trip, in whole microseconds as tc has them. A packet's time at the port is part of it here.
        let delay = nanoseconds(self.rtt) / 2 / 1000 * 1000;
        if delay / 2 < packet_ns(rate) / 4 {
            return Err("--rtt: must be at least the time of a packet at the port".to_owned());
        }
        Ok(Rig {
            rate,
            access,
            delay,
            jitter,
            hosts: self.senders,
        })
    }

    fn extras(&self) -> Result<Extras, String> {
        let request = self.request.unwrap_or(1);
        if let Some(pieces) = self.pieces
            && !request.is_multiple_of(pieces)
        {
            return Err(format!(
                "--pieces: {pieces} writes of equal length do not make --request {request}"
            ));
        }
        if let (Some(lose), Some(segments)) = (self.lose, self.segments)
            && (u64::from(lose) > segments || segments > 255)
        {
            return Err(format!(
                "--lose: the answer has {segments} segments, of which one is chosen; at most 255 can be told apart"
            ));
        }
        let lose = self.lose.map(|segment| Lose {
            what: Lost::Segment,
            segment,
            copies: self.copies,
        });
        let route = self.route_min_rto.map(nanoseconds);
        if route.is_some_and(|time| time == 0 || !time.is_multiple_of(1_000_000)) {
            return Err("--route-min-rto: whole milliseconds, as ip has them".to_owned());
        }
        let in_us =
            |flag, time: Option<Span>| time.map(|time| microseconds(flag, time)).transpose();
        Ok(Extras {
            think: self.think.map(nanoseconds),
            request: self.request,
            pieces: self.pieces,
            nodelay: self.nagle.then_some(false),
            read_late: self.read_late.map(nanoseconds),
            receiver_min_rto_us: in_us("--receiver-min-rto", self.receiver_min_rto)?,
            route_min_rto_us: in_us("--route-min-rto", self.route_min_rto)?,
            sysctl: self.sysctl.iter().cloned().collect::<BTreeMap<_, _>>(),
            own_queue: self.own_queue,
            lose,
        })
    }
}

/// A value with its unit.
fn parse<T: Quantity>(text: &str) -> Result<T, String> {
    T::parse(text).map_err(|error| error.to_string())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let error = || "expected NAME=VALUE, as in tcp_sack=0".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(error)?;
    let is_name = |part: &str| {
        let mut letters = part.chars();
        !part.is_empty() && letters.all(|one| one.is_ascii_alphanumeric() || one == '_')
    };
    // `net.ipv4.` may stand before it, as sysctl has it.
    let name = name.trim().trim_start_matches("net.ipv4.");
    if !is_name(name) || value.trim().is_empty() {
        return Err(error());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

fn nanoseconds(time: Span) -> u64 {
    time.as_ps() / 1000
}

fn microseconds(flag: &str, time: Span) -> Result<u64, String> {
    match nanoseconds(time) / 1000 {
        0 => Err(format!("{flag}: at least 1us")),
        time => Ok(time),
    }
}

/// Time of a full packet at a port of this rate.
fn packet_ns(rate: u64) -> u64 {
    PACKET * 8 * 1_000_000_000 / rate
}

/// In bit/s.
const SLOWEST: u64 = 1_000_000;
/// The least that tc can make, in ns.
const LEAST_JITTER: u64 = 2_000;
/// Payload of an answer: the guest has 1 GB of memory for all.
const MOST_BYTES: u64 = 16 << 20;
const EXAMPLES: &str = "\
Examples:
  cargo xtask oracle linux ask --senders 32 --segments 12 --cc dctcp
  cargo xtask oracle linux ask --senders 1 --size 1MB --rtt 100ms --think 0.5s --sysctl tcp_slow_start_after_idle=1
  cargo xtask oracle linux ask --sysctl tcp_sack=0 --boots 20";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;

    /// A command line that consists of a question.
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        question: Question,
    }

    fn asked(line: &str) -> Result<OracleScenario, String> {
        let words = std::iter::once("ask").chain(line.split_whitespace());
        let matches = Line::command()
            .try_get_matches_from(words)
            .map_err(|error| error.to_string())?;
        let line = Line::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        line.question.scenario()
    }

    #[test]
    fn without_options_it_is_the_incast_of_the_page() {
        let ours = asked("").unwrap();
        let all = crate::list::all();
        let listed = all.iter().find(|one| one.name == "incast-16x64k-cubic");
        let listed = listed.unwrap();
        // The page's requests wait for up to 50 us, four packets take 48.4 us; its packets wait for 12 us, one takes 12.1.
        let Rig { jitter, hosts, .. } = ours.rig;
        assert_eq!((jitter, hosts), (13_000, 16));
        assert_eq!(
            Rig {
                jitter: 12_000,
                hosts: 64,
                ..ours.rig
            },
            listed.rig
        );
        assert_eq!(
            (ours.look, ours.threshold, ours.min_rto_us),
            (listed.look, 0, 200_000)
        );
        assert_eq!(ours.round_bytes(), listed.round_bytes());
    }

    #[test]
    fn options_become_the_scenario() {
        let ours = asked(
            "--senders 32 --segments 12 --cc dctcp --rtt 1ms --think 0.3s --sysctl net.ipv4.tcp_sack=0 \
             --receiver-min-rto 5ms --lose 12 --copies 2",
        )
        .unwrap();
        assert_eq!(
            (ours.name.as_str(), ours.round_bytes()),
            ("asked-32x12s-dctcp", 32 * 12 * 1448)
        );
        assert_eq!((ours.rig.delay, ours.threshold), (500_000, 20 * PACKET));
        let extras = ours.extras;
        assert_eq!(extras.sysctl["tcp_sack"], "0");
        assert_eq!(
            (extras.think, extras.receiver_min_rto_us),
            (Some(300_000_000), Some(5_000))
        );
        let lose = extras.lose.unwrap().setting(&ours.kind);
        assert_eq!(lose, "segment 12 of 12 x2");
    }

    #[test]
    fn what_makes_no_scenario_is_refused_with_its_option() {
        for (line, said) in [
            ("--senders 0", "--senders"),
            ("--segments 12 --size 64KiB", "--size"),
            ("--segments 12 --lose 13", "--lose"),
            ("--lose 3", "--segments"),
            ("--threshold 80", "--threshold"),
            ("--rtt 1us", "--rtt"),
            ("--rtt 1", "--rtt"),
            ("--jitter 1us", "--jitter"),
            ("--own-queue --jitter 12us", "--own-queue"),
            ("--min-rto 0s", "--min-rto"),
            ("--route-min-rto 500us", "--route-min-rto"),
            ("--request 100 --pieces 3", "--pieces"),
            ("--sysctl tcp_sack", "NAME=VALUE"),
            ("--sysctl ../x=1", "NAME=VALUE"),
            ("--size 1GB", "--size"),
            ("--cc bbr", "reno, cubic, dctcp"),
        ] {
            let error = asked(line).expect_err(line);
            assert!(error.contains(said), "{line}: {error}");
        }
    }

    #[test]
    fn the_simulator_knows_some_sysctls_and_tells_which_it_does_not() {
        let line = Line::command().get_matches_from([
            "ask",
            "--sysctl",
            "tcp_sack=0",
            "--sysctl",
            "tcp_autocorking=0",
        ]);
        let line = Line::from_arg_matches(&line).unwrap();
        assert_eq!(line.question.unknown_here(), ["tcp_autocorking"]);
    }
}
