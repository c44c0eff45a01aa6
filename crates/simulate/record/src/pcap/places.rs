//! Where to capture.

use std::fmt::{self, Write};

use base::{HostId, Quantity};
use fabric::PortId;
use plan::workload::Plan;
use scenario::{Argument, Problem, Problems, Scenario, Source};

/// Places in a network, and the number of bytes to keep of each packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturePoints {
    list: Vec<CapturePoint>,
    snap: usize,
}

/// A port, and so a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapturePoint {
    /// The port in front of the bottleneck.
    Bottleneck,
    /// The port of a host.
    Host(u32),
    /// Any port, by its number in the results.
    Port(u32),
}

impl CapturePoints {
    /// Reads places separated by commas: `bottleneck,host:3,port:1`.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        let source = Source::of_argument(Argument::Captures, text);
        let mut list: Vec<CapturePoint> = Vec::new();
        let mut problems = Vec::new();
        let mut begin = 0;
        for part in text.split(',') {
            let range = begin..begin + part.len();
            begin = range.end + 1;
            match CapturePoint::parse(part.trim()) {
                Some(place) if list.contains(&place) => {}
                Some(place) => list.push(place),
                None => problems.push(
                    Problem::new(format!("there is no place {:?} to capture at", part.trim()))
                        .at(&source, range, "unknown place")
                        .help("places are bottleneck, host:N and port:N, separated by commas"),
                ),
            }
        }
        Problems::unless(problems, Self { list, snap: WHOLE })
    }

    /// Keeps at most this many bytes of each packet; its length on the wire stays known.
    #[must_use]
    pub const fn with_snap(mut self, bytes: usize) -> Self {
        self.snap = bytes;
        self
    }

    /// Fails with a list of the places that the network of some point of `scenario` lacks.
    pub fn check(&self, scenario: &Scenario) -> Result<(), Problems> {
        let mut problems = Vec::new();
        for place in &self.list {
            let lacks = |point: &&plan::PointSpec| place.port(&Plan::of(point)).is_none();
            let Some(point) = scenario.points().iter().find(lacks) else {
                continue;
            };
            let topology = Plan::of(point).topology;
            let mut help = format!(
                "hosts are numbered from 0 to {}, ports from 0 to {}",
                topology.hosts().len() - 1,
                2 * topology.links().len() - 1
            );
            for (key, value) in &point.set {
                write!(help, "; with {key} = {value}").expect("writing to a string succeeds");
            }
            let message = format!(
                "there is no {} in this network",
                place.name().replace('-', " ")
            );
            problems.push(Problem::new(message).help(help));
        }
        Problems::unless(problems, ())
    }

    pub(super) fn list(&self) -> &[CapturePoint] {
        &self.list
    }

    pub(super) const fn snap(&self) -> usize {
        self.snap
    }
}

impl fmt::Display for CapturePoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.list.iter().map(|place| place.name()).collect();
        f.write_str(&names.join(", "))?;
        match self.snap {
            WHOLE => Ok(()),
            bytes => write!(f, ", {bytes} bytes of each packet"),
        }
    }
}

impl CapturePoint {
    fn parse(text: &str) -> Option<Self> {
        if text == "bottleneck" {
            return Some(Self::Bottleneck);
        }
        let (what, number) = text.split_once(':')?;
        let number = u32::parse(number).ok()?;
        match what {
            "host" => Some(Self::Host(number)),
            "port" => Some(Self::Port(number)),
            _ => None,
        }
    }

    /// Its name in files.
    pub(super) fn name(self) -> String {
        match self {
            Self::Bottleneck => "bottleneck".into(),
            Self::Host(number) => format!("host-{number}"),
            Self::Port(number) => format!("port-{number}"),
        }
    }

    /// Its port, if the network has it.
    pub(super) fn port(self, plan: &Plan) -> Option<PortId> {
        let topology = &plan.topology;
        match self {
            Self::Bottleneck => Some(plan.bottleneck),
            Self::Host(host) if (host as usize) < topology.hosts().len() => {
                Some(topology.host_port(HostId(host)))
            }
            Self::Port(port) if (port as usize) < 2 * topology.links().len() => Some(PortId(port)),
            Self::Host(_) | Self::Port(_) => None,
        }
    }
}

/// More than any packet has.
const WHOLE: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_words_with_numbers() {
        let places = CapturePoints::parse("bottleneck, host:3,port:0,host:3").unwrap();
        let expected = [
            CapturePoint::Bottleneck,
            CapturePoint::Host(3),
            CapturePoint::Port(0),
        ];
        assert_eq!(places.list(), expected);
        for wrong in ["", "host", "host:", "hosts:1", "port:-1", "bottleneck,"] {
            assert!(CapturePoints::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_place_outside_the_network_is_refused_with_what_there_is() {
        let scenario = Scenario::builtin("incast");
        let senders = scenario.points()[0].keys.workload.senders.0;
        let check = |text: String| CapturePoints::parse(&text).unwrap().check(&scenario);
        assert!(check(format!("host:{senders},port:{}", 2 * senders + 1)).is_ok());
        let error = check(format!("host:{}", senders + 1)).unwrap_err();
        assert!(error.to_string().contains("there is no host"), "{error}");
        assert!(check(format!("port:{}", 2 * senders + 2)).is_err());
    }
}
