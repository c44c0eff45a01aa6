//! Attributes of nodes and links in a file, under the names that various programs write.

use base::cast::{real, whole};
use base::{Quantity, Rate, Span};
use fabric::Layer;

use super::error::Error;

/// Names and values of the attributes of a node or link.
#[derive(Debug, Default)]
pub(super) struct Attributes(pub(super) Vec<(String, String)>);

/// A position: latitude and longitude in degrees.
pub(super) type Coordinates = (f64, f64);

impl Attributes {
    /// The first of `names` that is present and not empty, in upper or lower case.
    pub(super) fn get(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names.iter().find_map(|name| {
            let mut all = self.0.iter();
            let found =
                all.find(|(key, text)| key.eq_ignore_ascii_case(name) && !text.trim().is_empty());
            found.map(|(_, text)| (*name, text.trim()))
        })
    }

    /// The rate in bit/s, from any of the attributes that files use for it.
    pub(super) fn capacity(&self, place: &str) -> Result<Option<u64>, Error> {
        let wrong = |name: &str, text: &str, without: &str, expected: &str| {
            Error::new(
                place,
                format!("{name} is {text:?}, which is no rate{without}"),
                format!("give {expected}, or leave it out"),
            )
        };
        let bits = |name: &'static str, text: &str, unit: f64| {
            let number = text.parse::<f64>().ok().map(|number| number * unit);
            let rate = || Rate::parse(text).ok().map(Rate::as_bps);
            number.and_then(whole_rate).or_else(rate).ok_or_else(|| {
                wrong(
                    name,
                    text,
                    "",
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
                    without(text),
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
                return Err(Error::new(
                    place,
                    format!("LinkSpeed is {text:?} and LinkSpeedUnits {units:?}"),
                    "give K, M, G or T as LinkSpeedUnits, or leave LinkSpeed out",
                ));
            }
        };
        bits(name, text, unit).map(Some)
    }

    /// The one-way delay, from any of the attributes that files use for a delay or a length.
    pub(super) fn delay(&self, place: &str) -> Result<Option<Span>, Error> {
        let wrong = |name: &str, text: &str, without: &str, expected: &str| {
            Error::new(
                place,
                format!("{name} is {text:?}, which is no delay{without}"),
                format!("give {expected}, or leave it out"),
            )
        };
        for (names, unit, picoseconds) in [
            (["delay_ms", "latency_ms"], "milliseconds", 1e9),
            (["delay_us", "latency_us"], "microseconds", 1e6),
        ] {
            let Some((name, text)) = self.get(&names) else {
                continue;
            };
            let number = text.parse::<f64>().ok();
            let span = number.and_then(|number| whole_span(number * picoseconds));
            let span = span.or_else(|| Span::parse(text).ok());
            return span.map(Some).ok_or_else(|| {
                let expected = format!("a number of {unit} of at least 0 and below a minute");
                wrong(name, text, "", &expected)
            });
        }
        let Some((name, text)) = self.get(&["delay", "latency"]) else {
            return self.length(place);
        };
        Span::parse(text).map(Some).map_err(|_| {
            wrong(
                name,
                text,
                without(text),
                "a time with its unit, as in \"5ms\", or a number as delay_ms or delay_us",
            )
        })
    }

    /// The time of light in a fibre of the given length. A number without a unit is in kilometres, as `TopoHub` writes
    /// `dist`.
    fn length(&self, place: &str) -> Result<Option<Span>, Error> {
        for (names, metres) in [
            (&["length_km", "distance_km", "dist_km"][..], 1e3),
            (&["length_m", "distance_m", "dist_m"], 1.0),
            (&["length", "distance", "dist"], 1e3),
        ] {
            let Some((name, text)) = self.get(names) else {
                continue;
            };
            let (number, unit) = match LENGTHS.iter().find(|(unit, _)| text.ends_with(unit)) {
                Some((unit, own)) => (text[..text.len() - unit.len()].trim_end(), *own),
                None => (text, metres),
            };
            let known = number.parse::<f64>().ok().map(|number| number * unit);
            let known = known.filter(|metres| (0.0..=LONGEST).contains(metres));
            return known.map(flight_of).map(Some).ok_or_else(|| {
                Error::new(
                    place,
                    format!("{name} is {text:?}, which is no length of a link"),
                    "give kilometres from 0 to 100000, or a unit, as in \"300 m\", or leave it out",
                )
            });
        }
        Ok(None)
    }

    /// Its weight in millionths. The meaning is known only to the writer of the file. Text that is no number, and
    /// numbers below 0, are ignored.
    pub(super) fn weight(&self) -> Option<u64> {
        let (_, text) = self.get(&["weight"])?;
        let number = text.parse::<f64>().ok();
        let known = number.filter(|number| (0.0..=1e9).contains(number));
        known.map(|number| whole((number * 1e6).round()))
    }

    /// The kind of switch; a plain one if the file says nothing.
    pub(super) fn layer(&self, place: &str) -> Result<Layer, Error> {
        let Some((_, text)) = self.get(&["layer"]) else {
            return Ok(Layer::Switch);
        };
        // NetworkX numbers the columns of a drawing in this attribute.
        if text.parse::<f64>().is_ok() {
            return Ok(Layer::Switch);
        }
        let mut layers = Layer::ALL.into_iter();
        layers
            .find(|layer| layer.to_string() == text)
            .ok_or_else(|| {
                let names = Layer::ALL.map(|layer| layer.to_string()).join(", ");
                let remedy = format!("a layer is one of {names}, or is left out");
                Error::new(place, format!("layer is {text:?}"), remedy)
            })
    }

    /// Its position, if the file gives latitude and longitude.
    pub(super) fn coordinates(&self, place: &str) -> Result<Option<Coordinates>, Error> {
        let degrees = |names: &[&'static str], most: f64| {
            let Some((name, text)) = self.get(names) else {
                return Ok(None);
            };
            let number = text.parse::<f64>().ok();
            let degrees = number.filter(|number| (-most..=most).contains(number));
            degrees.map(Some).ok_or_else(|| {
                Error::new(
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

    /// Its position in `pos`, or in `x` and `y`, from left to right and from bottom to top. The unit is degrees on a
    /// map and arbitrary in a drawing. Anything but a pair of numbers is ignored.
    pub(super) fn position(&self) -> Option<Coordinates> {
        let pair: Vec<f64> = if let Some((_, text)) = self.get(&["pos", "position"]) {
            let bare = text.trim_matches(|c| matches!(c, '[' | ']' | '(' | ')'));
            let parts = bare.split(',').map(|part| part.trim().parse().ok());
            parts.collect::<Option<_>>()?
        } else {
            let (x, y) = (self.get(&["x"])?.1, self.get(&["y"])?.1);
            vec![x.parse().ok()?, y.parse().ok()?]
        };
        let [x, y] = pair[..] else { return None };
        (x.is_finite() && y.is_finite()).then_some((y, x))
    }
}

/// Why a number of at least 0 is refused where a unit is needed.
fn without(text: &str) -> &'static str {
    let number = text.parse::<f64>();
    number.map_or(
        "",
        |number| if number >= 0.0 { " without a unit" } else { "" },
    )
}

/// Whether positions are degrees of latitude and longitude: all are valid degrees, and at least one is more than one
/// degree from the origin, unlike in layouts of drawings.
pub(super) fn are_degrees(positions: &[Option<Coordinates>]) -> bool {
    let mut known = positions.iter().flatten();
    let on_globe = |(y, x): &Coordinates| y.abs() <= 90.0 && x.abs() <= 180.0;
    let is_far = |(y, x): &Coordinates| y.abs() > 1.0 || x.abs() > 1.0;
    known.clone().all(on_globe) && known.any(is_far)
}

/// The time of light in fibre between two positions, along a great circle (the haversine formula).
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
    flight_of(metres)
}

/// The time of light in a fibre of this length, which is at most [`LONGEST`].
fn flight_of(metres: f64) -> Span {
    whole_span(metres / IN_FIBRE * 1e12).expect("a tenth of a million km is half a second")
}

/// The delay of a fibre whose length in kilometres is this many millionths.
pub(super) fn flight_of_weight(millionths: u64) -> Option<Span> {
    let metres = real(millionths) / 1e3;
    (metres <= LONGEST).then(|| flight_of(metres))
}

fn whole_rate(bits: f64) -> Option<u64> {
    let bits = bits.round();
    (1.0..=8e12).contains(&bits).then_some(whole(bits))
}

fn whole_span(picoseconds: f64) -> Option<Span> {
    let rounded = picoseconds.round();
    (0.0..60e12)
        .contains(&rounded)
        .then(|| Span::from_ps(whole(rounded)))
}

/// Mean radius of the earth in metres (IUGG).
const EARTH_RADIUS: f64 = 6_371_008.8;
/// Two thirds of the speed of light, in metres per second: the refractive index of fibre is about 1.5.
const IN_FIBRE: f64 = 299_792_458.0 * 2.0 / 3.0;
/// Cables have at most 45,000 km (2Africa). A longer length must be in another unit.
const LONGEST: f64 = 100e6;
/// Units of lengths in metres. If several match, the first counts.
const LENGTHS: [(&str, f64); 3] = [("km", 1e3), ("mi", 1609.344), ("m", 1.0)];
