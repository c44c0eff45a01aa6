//! What a file says about a node or a link, under the names that its writers use.

use base::{Quantity, Rate, Span};
use fabric::Layer;

use super::draft::Fault;

/// Names and texts of what is said about a node or link.
#[derive(Debug, Default)]
pub(super) struct Attributes(pub(super) Vec<(String, String)>);

/// Where a node is: latitude and longitude in degrees.
pub(super) type Coordinates = (f64, f64);

impl Attributes {
    /// The first of `names` that is there and not empty, whatever its case.
    pub(super) fn get(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names.iter().find_map(|name| {
            let mut all = self.0.iter();
            let found =
                all.find(|(key, text)| key.eq_ignore_ascii_case(name) && !text.trim().is_empty());
            found.map(|(_, text)| (*name, text.trim()))
        })
    }

    /// Bits per second, in one of the ways in which files say it.
    pub(super) fn capacity(&self, place: &str) -> Result<Option<u64>, Fault> {
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
    pub(super) fn delay(&self, place: &str) -> Result<Option<Span>, Fault> {
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
    pub(super) fn layer(&self, place: &str) -> Result<Layer, Fault> {
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

    pub(super) fn coordinates(&self, place: &str) -> Result<Option<Coordinates>, Fault> {
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
pub(super) fn flight(a: Coordinates, b: Coordinates) -> Span {
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

/// Mean radius of the earth in metres (IUGG).
const EARTH_RADIUS: f64 = 6_371_008.8;
/// Two thirds of the speed of light, in metres per second: the refractive index of fibre is about 1.5.
const IN_FIBRE: f64 = 299_792_458.0 * 2.0 / 3.0;
