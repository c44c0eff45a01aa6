//! Finds the limits of this machine: the fastest rate, the smallest bucket, and the time of a round trip.

use std::collections::BTreeSet;
use std::io;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use base::{HostId, Quantity, Rate, Time};
use machine::interrupt;
use machine::netlink::round_trip_us;
use plan::workload::{Dependencies, Plan, PlannedConnection, PlannedFlow};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::EmulateError;
use crate::lan::{self, Lan, Running, Speed};
use crate::lateness;
use crate::measure;
use crate::paths::{links_between, on_the_way};
use crate::testbed::Testbed;
use crate::traffic::{PORT, Work};
use crate::twin::Calibration;
use crate::validity::MOST_LATE;

/// How fast the links of the bed are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateChoice {
    /// The scenario's rate, or the fastest that the machine sustains if that is less.
    Auto,
    /// The scenario's rate, or an error.
    AsIs,
    /// The fastest link has this rate.
    Fixed(Rate),
}

impl FromStr for RateChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "asis" => Ok(Self::AsIs),
            rate => {
                let wrong =
                    |_| format!("expected auto, asis or a rate as in 200Mbps; found {text:?}");
                Rate::parse(rate).map(Self::Fixed).map_err(wrong)
            }
        }
    }
}

/// Makes the network of `bed` with links of the speed in `choice`, and measures its round trip and how late its packets
/// are.
pub(crate) fn network(
    bed: &Testbed,
    plan: &Plan,
    choice: RateChoice,
) -> Result<(Lan, Calibration), EmulateError> {
    let (lan, speed) = at_speed(bed, plan, choice)?;
    let (rtt_us, links) = round_trip(bed, &lan, plan)?;
    let network = Running {
        bed,
        lan: &lan,
        speed,
    };
    let lateness_us = lateness::longest_us(network, || held(network, plan))?;
    let found = Calibration {
        speed,
        rtt_us,
        links,
        lateness_us,
        spread_us: 0.0,
    };
    Ok((lan, found))
}

/// Makes the network of `bed` with links of the speed in `choice`.
pub(crate) fn at_speed(
    bed: &Testbed,
    plan: &Plan,
    choice: RateChoice,
) -> Result<(Lan, Speed), EmulateError> {
    let lan = Lan::up(bed, planned(bed))?;
    let speed = speed(bed, &lan, plan, choice)?;
    Ok((lan, speed))
}

/// The speed of a bed before measurements.
fn planned(bed: &Testbed) -> Speed {
    let planned = bed.fastest().as_bps();
    Speed {
        real: planned,
        planned,
        burst: 1,
    }
}

/// Finds the speed of a bed by trying: half a second of long flows at each rate and bucket.
fn speed(bed: &Testbed, lan: &Lan, plan: &Plan, choice: RateChoice) -> Result<Speed, EmulateError> {
    let planned = bed.fastest();
    let rates: Vec<Rate> = match choice {
        RateChoice::AsIs => vec![planned],
        RateChoice::Fixed(rate) => vec![rate.min(planned)],
        RateChoice::Auto => {
            let slower = LADDER.iter().map(|mbps| Rate::from_bps(mbps * 1_000_000));
            let slower = slower.filter(|rate| *rate < planned);
            let first = Some(planned).filter(|rate| rate.as_bps() <= FASTEST);
            first.into_iter().chain(slower).collect()
        }
    };
    let mut last = None;
    for rate in &rates {
        for burst in BURSTS {
            let speed = Speed {
                real: rate.as_bps(),
                planned: planned.as_bps(),
                burst,
            };
            lan.set_speed(bed, speed)?;
            last = held(Running { bed, lan, speed }, plan)?;
            if last.is_some_and(|share| share >= HOLDS) {
                let slower = choice == RateChoice::Auto && Some(rate) != rates.last();
                if slower && !starts_on_time(bed, lan, speed, plan)? {
                    break;
                }
                return Ok(speed);
            }
        }
    }
    let rate = rates.last().copied().unwrap_or(planned);
    Err(too_fast(rate, last))
}

/// The error that the machine does not sustain `rate`, with the share that it does sustain, if known.
fn too_fast(rate: Rate, share: Option<f64>) -> EmulateError {
    let held = match share {
        Some(share) => format!("this machine sustains {:.1} % of {rate}", share * 100.0),
        None => format!("this machine does not sustain {rate}"),
    };
    EmulateError::Machine(format!("{held}; leave out --rate, or give a lower one"))
}

/// Whether the flows of the plan start on time. Each keeps a core busy for a while; on slower links this matters less.
fn starts_on_time(bed: &Testbed, lan: &Lan, speed: Speed, plan: &Plan) -> io::Result<bool> {
    let work = Work {
        barriers: &plan.barriers,
        ..trial(&plan.connections, &plan.flows, &plan.dependencies)
    };
    let late = measure::run(Running { bed, lan, speed }, &work)?
        .facts()
        .late_share();
    Ok(late.is_none_or(|share| share <= LATE))
}

/// The share of the watched port's rate that a few long flows get through this port.
fn held(network: Running<'_>, plan: &Plan) -> io::Result<Option<f64>> {
    let Running { bed, speed, .. } = network;
    let pairs = (plan.connections.iter()).map(|one| (one.sender, one.receiver));
    let pairs: BTreeSet<(HostId, HostId)> = pairs.collect();
    let passes = |pair: &(HostId, HostId)| {
        on_the_way(&bed.topology, &BTreeSet::from([*pair])).contains(&bed.watched)
    };
    // Takes pairs that are far apart, because neighbouring pairs share more than this port.
    let step = pairs.len().div_ceil(FLOWS);
    let pairs: Vec<_> = pairs
        .into_iter()
        .step_by(step.max(1))
        .filter(passes)
        .collect();
    let rate = speed.of(bed.watched_rate().as_bps());
    let size = rate / 8 / 2 / pairs.len().max(1) as u64;
    let connections = pairs.iter().map(|(sender, receiver)| PlannedConnection {
        group: 0,
        sender: *sender,
        receiver: *receiver,
        open: Time::NEVER,
        messages: 1,
        request: 0,
        heir_of: None,
    });
    let flows = (0..).take(pairs.len()).map(|connection| PlannedFlow {
        group: 0,
        connection,
        size: Some(size),
        first_write: None,
        start: Time::ZERO,
        stop: Time::NEVER,
        awaited_by: None,
        round: None,
    });
    let (connections, flows) = (connections.collect::<Vec<_>>(), flows.collect::<Vec<_>>());
    let dependencies = Dependencies::default();
    let work = trial(&connections, &flows, &dependencies);
    Ok(measure::run(network, &work)?.rate_share())
}

/// These flows with Reno, in a network without laws.
const fn trial<'a>(
    connections: &'a [PlannedConnection],
    flows: &'a [PlannedFlow],
    dependencies: &'a Dependencies,
) -> Work<'a> {
    Work {
        connections,
        flows,
        barriers: &[],
        dependencies,
        control: "reno",
        nodelay: true,
        laws: &[],
        tos: &[],
        limit: TRIAL,
        capture: None,
        over_time: false,
    }
}

/// The least of the kernel's smoothed round-trip times while single bytes are sent one way, and the number of links on
/// that way. Receivers that delay ACKs only answer the first of these bytes at once.
fn round_trip(bed: &Testbed, lan: &Lan, plan: &Plan) -> io::Result<(f64, u32)> {
    let first = plan.connections.first();
    let first = first.ok_or_else(|| io::Error::other("the plan has no flows"))?;
    let to = std::net::SocketAddrV4::new(lan::host_address(first.receiver), PORT);
    let tcp = || Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP));
    let listener = lan.host(bed, first.receiver).within(|| {
        let listener = tcp()?;
        listener.set_reuse_address(true)?;
        listener.bind(&to.into())?;
        listener.listen(1)?;
        Ok(listener)
    })?;
    let samples = lan.host(bed, first.sender).within(|| {
        let socket = tcp()?;
        socket.set_tcp_nodelay(true)?;
        socket.connect_timeout(&to.into(), Duration::from_secs(5))?;
        let mut samples = Vec::new();
        for _ in 0..PROBES {
            interrupt::check()?;
            socket.send(&[0])?;
            thread::sleep(Duration::from_millis(1));
            samples.extend(round_trip_us()?.filter(|rtt| *rtt > 0));
        }
        Ok(samples)
    })?;
    drop(listener);
    let least = samples.into_iter().min();
    let least = least.ok_or_else(|| io::Error::other("the kernel reports no round-trip time"))?;
    let links = links_between(&bed.topology, first.sender, first.receiver);
    Ok((f64::from(least), links))
}

/// Rates in Mbit/s to try if the scenario's rate is too fast.
const LADDER: [u64; 5] = [200, 100, 50, 20, 10];

/// A faster link is too fast for a core that opens a connection in some 30 us.
const FASTEST: u64 = 200_000_000;

/// Buckets in packets. A bucket of one packet acts as a link; a larger one makes up for late timers.
const BURSTS: [u32; 3] = [1, 2, 4];

/// The share of a rate from which it counts as sustained: a little above the share below which a run is invalid.
const HOLDS: f64 = 0.975;

/// The lateness over the median completion time up to which flows are on time: half of the lateness that makes a run
/// invalid.
const LATE: f64 = MOST_LATE / 2.0;

/// The longest duration of a test.
const TRIAL: Duration = Duration::from_secs(3);

/// Long flows of a test.
const FLOWS: usize = 4;

/// Number of bytes for measuring round trips.
const PROBES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_words_or_numbers() {
        assert_eq!("auto".parse(), Ok(RateChoice::Auto));
        let fixed = RateChoice::Fixed(Rate::from_bps(200_000_000));
        assert_eq!("200Mbps".parse(), Ok(fixed));
        assert!("fast".parse::<RateChoice>().is_err());
    }
}
