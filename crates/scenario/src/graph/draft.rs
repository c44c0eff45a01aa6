//! What a file says, whatever its format, and the graph that this makes.

use std::collections::BTreeMap;

use base::{Quantity, Rate, Span};
use fabric::Layer;

use super::{Graph, GraphLink, GraphNode};

/// What is wrong with a file, where, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The place in the file; empty if it is the file itself.
    place: String,
    cause: String,
    remedy: String,
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<DraftNode>,
    pub(super) links: Vec<DraftLink>,
}

#[derive(Debug)]
pub(super) struct DraftNode {
    /// In words, for messages: "line 12: node \"a\"".
    pub(super) place: String,
    pub(super) id: String,
    pub(super) attributes: Attributes,
}

#[derive(Debug)]
pub(super) struct DraftLink {
    /// In words, for messages.
    pub(super) place: String,
    pub(super) source: String,
    pub(super) target: String,
    /// Whether it leads from source to target only.
    pub(super) directed: bool,
    pub(super) attributes: Attributes,
}

/// Names and texts of what is said about a node or link.
#[derive(Debug, Default)]
pub(super) struct Attributes(pub(super) Vec<(String, String)>);

/// All links that lead from one node to another.
#[derive(Clone, Copy, Default)]
struct Way {
    links: u32,
    /// Bits per second of all together; `None` if one of them does not say.
    capacity: Option<u64>,
    /// The shortest that is known.
    delay: Option<Span>,
}

/// All links between two nodes.
struct Bundle {
    /// The place of the first one.
    place: String,
    a: u32,
    b: u32,
    /// From `a` to `b` and back.
    ways: [Way; 2],
}

/// Where a node is: latitude and longitude in degrees.
type Coordinates = (f64, f64);

impl Fault {
    pub(super) fn new(
        place: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn of_file(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new("", cause, remedy)
    }

    pub(super) fn at_line(
        line: usize,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(format!("line {line}"), cause, remedy)
    }

    /// One sentence without a full stop.
    pub(super) fn in_file(&self, path: &str) -> String {
        let Self {
            place,
            cause,
            remedy,
        } = self;
        let separator = if place.is_empty() { "" } else { ", " };
        format!("{path}{separator}{place}: {cause}; {remedy}")
    }
}

impl Draft {
    /// The graph that it describes.
    ///
    /// Parallel links are one link with the capacities of all together and the shortest of their delays;
    /// if one of them has no capacity, it has none. Links from a node to itself carry nothing and are left
    /// out. A directed link alone stands for both directions; two that lead back and forth are one link.
    pub(super) fn graph(self) -> Result<Graph, Fault> {
        if self.nodes.is_empty() {
            return Err(Fault::of_file(
                "there are no nodes in it",
                "a network has at least one",
            ));
        }
        if self.nodes.len() > MAX_NODES {
            return Err(Fault::of_file(
                format!("there are {} nodes in it", self.nodes.len()),
                format!("a network has at most {MAX_NODES}: join those that lie together"),
            ));
        }
        let numbers = self.numbers()?;
        let mut places = Vec::new();
        for node in &self.nodes {
            places.push(node.attributes.coordinates(&node.place)?);
        }
        let mut links = Vec::new();
        for bundle in self.bundles(&numbers)? {
            let mut link = bundle.link()?;
            if let (None, Some(a), Some(b)) =
                (link.delay, places[link.a as usize], places[link.b as usize])
            {
                link.delay = Some(flight(a, b));
            }
            links.push(link);
        }
        let mut nodes = Vec::new();
        for node in &self.nodes {
            let label = node.attributes.get(&["label", "name"]);
            nodes.push(GraphNode {
                id: node.id.clone(),
                label: label.map(|(_, text)| text.to_owned()),
                layer: node.attributes.layer(&node.place)?,
            });
        }
        let graph = Graph::new(nodes, links);
        match graph.unreached() {
            None => Ok(graph),
            Some(node) => Err(Fault::new(
                self.nodes[node as usize].place.clone(),
                format!("no links lead to it from node {:?}", self.nodes[0].id),
                "every host reaches every other: add a link, or leave out what is not connected",
            )),
        }
    }

    /// The numbers of nodes by their names.
    fn numbers(&self) -> Result<BTreeMap<&str, u32>, Fault> {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (number, node) in (0..).zip(&self.nodes) {
            if let Some(first) = numbers.insert(node.id.as_str(), number) {
                return Err(Fault::new(
                    node.place.clone(),
                    format!(
                        "there is another node of this name ({})",
                        self.nodes[first as usize].place
                    ),
                    "give every node an id of its own",
                ));
            }
        }
        Ok(numbers)
    }

    /// Links by the nodes that they join, in the order in which these first come.
    fn bundles(&self, numbers: &BTreeMap<&str, u32>) -> Result<Vec<Bundle>, Fault> {
        let mut bundles: Vec<Bundle> = Vec::new();
        let mut known = BTreeMap::new();
        for link in &self.links {
            let end = |id: &str| {
                numbers.get(id).copied().ok_or_else(|| {
                    Fault::new(
                        link.place.clone(),
                        format!("there is no node {id:?} for it to join"),
                        "add the node, or correct or remove the link",
                    )
                })
            };
            let (a, b) = (end(&link.source)?, end(&link.target)?);
            let capacity = link.attributes.capacity(&link.place)?;
            let delay = link.attributes.delay(&link.place)?;
            if a == b {
                continue;
            }
            let place = *known.entry((a.min(b), a.max(b))).or_insert(bundles.len());
            if place == bundles.len() {
                bundles.push(Bundle {
                    place: link.place.clone(),
                    a,
                    b,
                    ways: [Way::default(); 2],
                });
            }
            let bundle = &mut bundles[place];
            let there = usize::from(bundle.a != a);
            bundle.ways[there].add(capacity, delay);
            if !link.directed {
                bundle.ways[1 - there].add(capacity, delay);
            }
        }
        Ok(bundles)
    }
}

impl Way {
    fn add(&mut self, capacity: Option<u64>, delay: Option<Span>) {
        self.capacity = match (self.links, self.capacity, capacity) {
            (0, _, own) => own,
            (_, Some(sum), Some(own)) => Some(sum.saturating_add(own)),
            _ => None,
        };
        self.delay = self.delay.into_iter().chain(delay).min();
        self.links += 1;
    }
}

impl Bundle {
    fn link(&self) -> Result<GraphLink, Fault> {
        let [there, back] = self.ways;
        let way = if there.links > 0 { there } else { back };
        let differ = there.capacity != back.capacity || there.delay != back.delay;
        if there.links > 0 && back.links > 0 && differ {
            return Err(Fault::new(
                self.place.clone(),
                "the link back has another capacity or delay",
                "links between switches are the same in both directions: make the two equal, or leave one \
                 of them out",
            ));
        }
        let capacity = way.capacity.map(|bits| {
            if bits > MAX_RATE {
                return Err(Fault::new(
                    self.place.clone(),
                    format!("its links together have {bits} bit/s"),
                    format!("a link has at most {MAX_RATE} bit/s"),
                ));
            }
            Ok(Rate::from_bps(bits))
        });
        Ok(GraphLink {
            a: self.a,
            b: self.b,
            capacity: capacity.transpose()?,
            delay: way.delay,
        })
    }
}

impl Attributes {
    /// The first of `names` that is there and not empty, whatever its case.
    fn get(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names.iter().find_map(|name| {
            let mut all = self.0.iter();
            let found =
                all.find(|(key, text)| key.eq_ignore_ascii_case(name) && !text.trim().is_empty());
            found.map(|(_, text)| (*name, text.trim()))
        })
    }

    /// Bits per second, in one of the ways in which files say it.
    fn capacity(&self, place: &str) -> Result<Option<u64>, Fault> {
        let wrong = |name: &str, text: &str, expected: &str| {
            Fault::new(
                place,
                format!("{name} is {text:?}, which is no rate"),
                format!("give {expected}, or leave it out"),
            )
        };
        let bits = |name: &'static str, text: &str, unit: f64| {
            let number = text.parse::<f64>().ok().map(|number| number * unit);
            number.and_then(whole_rate).ok_or_else(|| {
                wrong(
                    name,
                    text,
                    "a number above 0 that makes at most 8000 Gbit/s",
                )
            })
        };
        if let Some((name, text)) = self.get(&["LinkSpeedRaw", "capacity_bps", "bandwidth_bps"]) {
            return bits(name, text, 1.0).map(Some);
        }
        if let Some((name, text)) = self.get(&["capacity_mbps", "bandwidth_mbps"]) {
            return bits(name, text, 1e6).map(Some);
        }
        if let Some((name, text)) = self.get(&["capacity", "bandwidth"]) {
            let rate = Rate::parse(text).map_err(|_| {
                wrong(
                    name,
                    text,
                    "a rate with its unit, as in \"10Gbps\", or a number as capacity_mbps",
                )
            })?;
            return Ok(Some(rate.as_bps()));
        }
        let Some((name, text)) = self.get(&["LinkSpeed"]) else {
            return Ok(None);
        };
        let units = self.get(&["LinkSpeedUnits"]).map_or("", |(_, units)| units);
        let unit = match units
            .chars()
            .next()
            .map(|letter| letter.to_ascii_uppercase())
        {
            Some('K') => 1e3,
            Some('M') => 1e6,
            Some('G') => 1e9,
            Some('T') => 1e12,
            _ => {
                return Err(Fault::new(
                    place,
                    format!("LinkSpeed is {text:?} and LinkSpeedUnits {units:?}"),
                    "give K, M, G or T as LinkSpeedUnits, or leave LinkSpeed out",
                ));
            }
        };
        bits(name, text, unit).map(Some)
    }

    /// One way, in one of the ways in which files say it.
    fn delay(&self, place: &str) -> Result<Option<Span>, Fault> {
        let wrong = |name: &str, text: &str, expected: &str| {
            Fault::new(
                place,
                format!("{name} is {text:?}, which is no delay"),
                format!("give {expected}, or leave it out"),
            )
        };
        if let Some((name, text)) = self.get(&["delay_ms", "latency_ms"]) {
            let number = text.parse::<f64>().ok();
            let span = number.and_then(|number| whole_span(number * 1e9));
            return span.map(Some).ok_or_else(|| {
                wrong(
                    name,
                    text,
                    "a number of milliseconds of at least 0 and below a minute",
                )
            });
        }
        let Some((name, text)) = self.get(&["delay", "latency"]) else {
            return Ok(None);
        };
        Span::parse(text).map(Some).map_err(|_| {
            wrong(
                name,
                text,
                "a time with its unit, as in \"5ms\", or a number as delay_ms",
            )
        })
    }

    /// What kind of switch it is; a plain one if nothing is said.
    fn layer(&self, place: &str) -> Result<Layer, Fault> {
        let Some((_, text)) = self.get(&["layer"]) else {
            return Ok(Layer::Switch);
        };
        let mut layers = Layer::ALL.into_iter();
        layers
            .find(|layer| layer.to_string() == text)
            .ok_or_else(|| {
                let names = Layer::ALL.map(|layer| layer.to_string()).join(", ");
                let remedy = format!("a layer is one of {names}, or is left out");
                Fault::new(place, format!("layer is {text:?}"), remedy)
            })
    }

    fn coordinates(&self, place: &str) -> Result<Option<Coordinates>, Fault> {
        let degrees = |names: &[&'static str], most: f64| {
            let Some((name, text)) = self.get(names) else {
                return Ok(None);
            };
            let number = text.parse::<f64>().ok();
            let degrees = number.filter(|number| (-most..=most).contains(number));
            degrees.map(Some).ok_or_else(|| {
                Fault::new(
                    place,
                    format!("{name} is {text:?}"),
                    format!("give degrees from -{most} to {most}, or leave it out"),
                )
            })
        };
        let latitude = degrees(&["Latitude", "lat"], 90.0)?;
        let longitude = degrees(&["Longitude", "lon", "lng"], 180.0)?;
        Ok(latitude.zip(longitude))
    }
}

/// How long light takes between two places in fibre, along a great circle (the haversine formula).
fn flight(a: Coordinates, b: Coordinates) -> Span {
    let [(phi_a, lambda_a), (phi_b, lambda_b)] =
        [a, b].map(|(latitude, longitude)| (latitude.to_radians(), longitude.to_radians()));
    let half_chord = |from: f64, to: f64| {
        let sine = libm::sin((to - from) / 2.0);
        sine * sine
    };
    let squared = half_chord(phi_a, phi_b)
        + libm::cos(phi_a) * libm::cos(phi_b) * half_chord(lambda_a, lambda_b);
    let metres = 2.0 * EARTH_RADIUS * libm::asin(libm::sqrt(squared.min(1.0)));
    whole_span(metres / IN_FIBRE * 1e12).expect("half the earth is a tenth of a second")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to lie within the range"
)]
fn whole_rate(bits: f64) -> Option<u64> {
    let bits = bits.round();
    (1.0..=8e12).contains(&bits).then_some(bits as u64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to lie within the range"
)]
fn whole_span(picoseconds: f64) -> Option<Span> {
    let whole = picoseconds.round();
    (0.0..60e12)
        .contains(&whole)
        .then(|| Span::from_ps(whole as u64))
}

/// Every node has a route to every other: beyond it they fill gigabytes. The largest network of the Internet
/// Topology Zoo has 754.
const MAX_NODES: usize = 10_000;
/// Above it a byte lasts less than a picosecond.
const MAX_RATE: u64 = 8_000_000_000_000;
/// Mean radius of the earth in metres (IUGG).
const EARTH_RADIUS: f64 = 6_371_008.8;
/// Two thirds of the speed of light, in metres per second: the refractive index of fibre is about 1.5.
const IN_FIBRE: f64 = 299_792_458.0 * 2.0 / 3.0;
