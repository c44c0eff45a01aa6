//! Faults of links, switches and hosts while a simulation runs.

use base::{Fraction, Quantity, QuantityError, Rate, Span, Time};
use fabric::{GilbertElliott, NoiseKind};

/// All faults. An empty list is a network without faults.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Faults(pub Vec<Fault>);

/// A fault and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// Where.
    pub place: FaultPlace,
    /// What.
    pub kind: FaultKind,
}

/// The place of a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultPlace {
    /// The link whose queue results describe.
    Bottleneck,
    /// Hosts from the first number to the last, or their links.
    Hosts(u32, u32),
    /// A link by the name of its port in results, or a switch.
    Named(String),
}

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultKind {
    /// A link is down.
    Down(Times),
    /// A link goes down and up again and again; it begins with down.
    Flap {
        /// How long it is down each time, and how long it is up.
        lengths: [Span; 2],
        /// Whether these are means of exponential times.
        random: bool,
        /// When it flaps. At the end the link is up.
        times: Times,
    },
    /// A link has another rate.
    Rate(Rate, Times),
    /// A link has another delay.
    Delay(Span, Times),
    /// A link loses or damages packets.
    Noise(NoiseKind, Times),
    /// A switch restarts at this time, and forwards again after this span.
    Restart(Time, Span),
    /// A host disappears at this time, for good.
    Gone(Time),
    /// The applications of a host do not read.
    StopsReading(Times),
}

/// The begin and the end: [`Time::NEVER`] means for good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// The beginning.
    pub from: Time,
    /// The end (exclusive).
    pub until: Time,
}

impl FaultPlace {
    /// The times as words in a text of faults.
    pub fn words(&self) -> String {
        match self {
            Self::Bottleneck => "bottleneck".to_owned(),
            Self::Named(name) => name.clone(),
            Self::Hosts(one, last) if one == last => format!("host {one}"),
            Self::Hosts(first, last) => format!("hosts {first}-{last}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["bottleneck"] => Some(Self::Bottleneck),
            ["host" | "hosts", numbers] => {
                let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
                let (first, last) = (u32::parse(first).ok()?, u32::parse(last).ok()?);
                (first <= last).then_some(Self::Hosts(first, last))
            }
            [] => None,
            _ => Some(Self::Named(words.join(" "))),
        }
    }
}

impl FaultKind {
    /// Whether the fault has a random part.
    pub const fn is_random(&self) -> bool {
        matches!(self, Self::Noise(..) | Self::Flap { random: true, .. })
    }

    /// Whether the fault changes ports at its times.
    pub const fn changes_ports(&self) -> bool {
        !matches!(
            self,
            Self::Noise(..) | Self::StopsReading(_) | Self::Gone(_)
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (what, times) = split_times(text)?;
        let span = |text: &str| Span::parse(text).ok();
        let kind = match what[..] {
            ["down"] => Self::Down(times?),
            ["stops", "reading"] => Self::StopsReading(times?),
            ["rate", rate] => Self::Rate(Rate::parse(rate).ok()?, times?),
            ["delay", delay] => Self::Delay(span(delay)?, times?),
            ["corrupt", share] => Self::Noise(
                NoiseKind::Corruption(Fraction::parse(share).ok()?.0),
                times.unwrap_or(Times::ALWAYS),
            ),
            ["gilbert-elliott", ref numbers @ ..] => Self::Noise(
                NoiseKind::GilbertElliott(model(numbers)?),
                times.unwrap_or(Times::ALWAYS),
            ),
            ["flap", "at", "random", "down", down, "up", up] => {
                Self::flap([down, up], true, times?)?
            }
            ["flap", "down", down, "up", up] => Self::flap([down, up], false, times?)?,
            ["restart", "at", at, "for", takes] if times.is_none() => {
                Self::Restart(Time::ZERO + span(at)?, span(takes)?)
            }
            ["gone", "at", at] if times.is_none() => Self::Gone(Time::ZERO + span(at)?),
            _ => return None,
        };
        Some(kind)
    }

    /// A flapping link: its times must end, and both states must have a length.
    fn flap(lengths: [&str; 2], random: bool, times: Times) -> Option<Self> {
        let [down, up] = lengths.map(|text| Span::parse(text).ok());
        let lengths = [down?, up?];
        let period = lengths[0] + lengths[1];
        let bounded = times.until != Time::NEVER
            && !lengths.contains(&Span::ZERO)
            && times.until.since(times.from) < period * MOST_FLAPS;
        bounded.then_some(Self::Flap {
            lengths,
            random,
            times,
        })
    }
}

impl Times {
    /// From the start, for good.
    const ALWAYS: Self = Self {
        from: Time::ZERO,
        until: Time::NEVER,
    };
}

/// Splits the text of a fault into its words and its times, if it has times.
fn split_times(text: &str) -> Option<(Vec<&str>, Option<Times>)> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let Some(place) = words.iter().position(|word| *word == "from") else {
        return Some((words, None));
    };
    let time = |text: &str| Some(Time::ZERO + Span::parse(text).ok()?);
    let times = match words[place..] {
        [_, from] => Times {
            from: time(from)?,
            until: Time::NEVER,
        },
        [_, from, "to", until] => Times {
            from: time(from)?,
            until: time(until)?,
        },
        _ => return None,
    };
    words.truncate(place);
    (times.from < times.until).then_some((words, Some(times)))
}

/// The numbers of a loss model, each after its name.
fn model(words: &[&str]) -> Option<GilbertElliott> {
    let (pairs, rest) = words.as_chunks::<2>();
    let number = |name: &str, usual: Option<f64>| {
        let own = pairs.iter().find(|[other, _]| *other == name);
        match own {
            Some([_, text]) => Some(Fraction::parse(text).ok()?.0),
            None => usual,
        }
    };
    let names = ["p", "r", "good", "bad"];
    if !rest.is_empty() || pairs.iter().any(|[name, _]| !names.contains(name)) {
        return None;
    }
    let model = GilbertElliott {
        worsens: number("p", None)?,
        recovers: number("r", None)?,
        good: number("good", Some(0.0))?,
        bad: number("bad", Some(1.0))?,
    };
    (model.recovers > 0.0).then_some(model)
}

impl Quantity for Faults {
    fn expected() -> String {
        "\"none\", or places with what goes wrong there, as in \"leaf 0 to spine 1: down from 10ms to 20ms; switch 0: restart at \
         20ms for 5ms; host 3: gone at 50ms\""
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "none" {
            return Ok(Self::default());
        }
        let mut all = Vec::new();
        for part in text.split([';', '\n']).map(str::trim) {
            if part.is_empty() {
                continue;
            }
            let wrong = |message: String| QuantityError { message };
            let Some((name, faults)) = part.split_once(':') else {
                return Err(QuantityError::expected(&Self::expected(), text));
            };
            let place = FaultPlace::parse(name).ok_or_else(|| {
                wrong(format!(
                    "{name:?} is no place of a fault: name a link or switch as results do, a host as in \"host 3\" or \"hosts \
                     0-3\", or \"bottleneck\""
                ))
            })?;
            for fault in faults.split('+').map(str::trim) {
                let kind = FaultKind::parse(fault).ok_or_else(|| {
                    wrong(format!("{}: {fault:?} is no fault; {FORMS}", place.words()))
                })?;
                let place = place.clone();
                all.push(Fault { place, kind });
            }
        }
        if all.is_empty() {
            return Err(QuantityError::expected(&Self::expected(), text));
        }
        Ok(Self(all))
    }
}

/// Every form of a fault, for messages.
const FORMS: &str = "there are \"down from 10ms to 20ms\", \"flap down 2ms up 3ms from 10ms to 50ms\" (\"flap at random\" draws \
                     the times), \"rate 1Gbps from 10ms to 20ms\", \"delay 1ms from 10ms to 20ms\", \"corrupt 0.001\", \
                     \"gilbert-elliott p 0.01 r 0.25 good 0 bad 1\", \"restart at 20ms for 5ms\", \"gone at 50ms\" and \"stops \
                     reading from 10ms to 50ms\"; \"to\" may be left out except for flap, both times for corrupt and \
                     gilbert-elliott";
/// All changes of a flapping link are planned in advance: two for each of these.
const MOST_FLAPS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn times(from: u64, until: u64) -> Times {
        Times {
            from: ms(from),
            until: ms(until),
        }
    }

    #[test]
    fn faults_name_their_place_and_their_times() {
        let text = "leaf 0  to spine 1: down from 10ms to 20ms + corrupt 0.01; bottleneck: rate 1Gbps from 5ms\nhosts 0-3: gone \
                    at 50ms; leaf 0: restart at 20ms for 5ms; host 7: stops reading from 1ms to 2ms;";
        let all = Faults::parse(text).unwrap().0;
        let places: Vec<_> = all.iter().map(|one| one.place.words()).collect();
        let link = "leaf 0 to spine 1";
        assert_eq!(
            places,
            [link, link, "bottleneck", "hosts 0-3", "leaf 0", "host 7"]
        );
        let kinds: Vec<_> = all.iter().map(|one| one.kind).collect();
        let for_good = Times {
            from: ms(5),
            until: Time::NEVER,
        };
        assert_eq!(
            kinds,
            [
                FaultKind::Down(times(10, 20)),
                FaultKind::Noise(NoiseKind::Corruption(0.01), Times::ALWAYS),
                FaultKind::Rate(Rate::from_bps(1_000_000_000), for_good),
                FaultKind::Gone(ms(50)),
                FaultKind::Restart(ms(20), Span::from_millis(5)),
                FaultKind::StopsReading(times(1, 2)),
            ]
        );
        assert_eq!(Faults::parse("none"), Ok(Faults::default()));
    }

    #[test]
    fn models_of_losses_and_flapping_links_are_read() {
        let kind = |text: &str| Faults::parse(&format!("bottleneck: {text}")).unwrap().0[0].kind;
        let model = GilbertElliott {
            worsens: 0.01,
            recovers: 0.25,
            good: 0.0,
            bad: 0.5,
        };
        assert_eq!(
            kind("gilbert-elliott p 0.01 r 0.25 bad 0.5 from 1ms to 9ms"),
            FaultKind::Noise(NoiseKind::GilbertElliott(model), times(1, 9))
        );
        let flap = |random| FaultKind::Flap {
            lengths: [2, 3].map(Span::from_millis),
            random,
            times: times(10, 50),
        };
        assert_eq!(kind("flap down 2ms up 3ms from 10ms to 50ms"), flap(false));
        assert_eq!(
            kind("flap at random down 2ms up 3ms from 10ms to 50ms"),
            flap(true)
        );
        assert!(flap(true).is_random() && !flap(false).is_random());
    }

    #[test]
    fn what_is_no_fault_is_refused_with_what_there_is() {
        for (text, expected) in [
            ("", "places with what goes wrong there"),
            ("down from 1ms", "places with what goes wrong there"),
            ("host x: gone at 1ms", "\"host x\" is no place of a fault"),
            ("hosts 3-1: gone at 1ms", "is no place of a fault"),
            (
                "host 3: gone",
                "host 3: \"gone\" is no fault; there are \"down",
            ),
            ("host 3: down", "is no fault"),
            ("host 3: down from 2ms to 1ms", "is no fault"),
            ("host 3: gone at 1ms from 2ms", "is no fault"),
            ("bottleneck: corrupt 2", "is no fault"),
            ("bottleneck: gilbert-elliott p 0.1", "is no fault"),
            ("bottleneck: gilbert-elliott p 0.1 r 0", "is no fault"),
            ("bottleneck: gilbert-elliott p 0.1 r 0.1 k 1", "is no fault"),
            ("bottleneck: flap down 2ms up 3ms from 1ms", "is no fault"),
            (
                "bottleneck: flap down 0ms up 3ms from 1ms to 9ms",
                "is no fault",
            ),
            (
                "bottleneck: flap down 1ps up 1ps from 1ms to 9ms",
                "is no fault",
            ),
        ] {
            let message = Faults::parse(text).unwrap_err().message;
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
