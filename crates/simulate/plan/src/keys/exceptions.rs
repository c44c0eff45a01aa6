//! Links and hosts that differ from all others.

use base::{
    Fraction, OrAuto, OrUnlimited, Quantity, QuantityError, Rate, Span, WireSize, setting::Key,
    setting::Settings,
};

use super::LostSegments;

base::settings! {
    /// What may differ at one link, or at the link of one host.
    pub struct LinkException in "exception" {
        /// Rate of the link in both directions, unless down_rate says otherwise; "auto" is that of all such links.
        pub rate: OrAuto<Rate> = "auto",
        /// Rate of the link of a host towards the host; "auto" is rate. Links between switches have none.
        pub down_rate: OrAuto<Rate> = "auto",
        /// Propagation delay of the link, one way; "auto" is that of all such links.
        pub delay: OrAuto<Span> = "auto",
        /// Room of the queue in front of the link: of a link between switches at the end that its name begins with, of a host's link at the switch. "auto" is switch.buffer.
        pub buffer: OrAuto<OrUnlimited<WireSize>> = "auto",
        /// Share of the packets arriving at that queue that is lost at random, whatever they carry.
        pub loss: Fraction = "0",
        /// Segments that are lost there, as in bottleneck.lose.
        pub lose: LostSegments = "off",
        /// Whether the link is down: routes avoid it. The link of a host is never down, since it has no other.
        pub down: bool = "false",
    }
}

/// All exceptions, in order. If two set the same value of a link, the later one counts.
#[derive(Clone, Debug, Default)]
pub struct Exceptions(pub Vec<Exception>);

/// The settings of one exception, and its place.
#[derive(Clone, Debug)]
pub struct Exception {
    /// Where.
    pub place: ExceptionPlace,
    /// What.
    pub own: LinkException,
}

/// The links with an exception.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExceptionPlace {
    /// A link from one node to another, by the name of its port in results.
    Link(String),
    /// The links of hosts, from the first number to the last.
    Hosts(u32, u32),
}

impl ExceptionPlace {
    /// Reads the name of a table below `[link]` or `[host]`.
    pub fn of_table(table: &str, name: &str) -> Option<Self> {
        if table == "link" {
            let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
            return (words.contains(" to ") && !words.contains([':', ';', ',']))
                .then_some(Self::Link(words));
        }
        let (first, last) = name
            .split_once("..")
            .or_else(|| name.split_once('-'))
            .unwrap_or((name, name));
        let (first, last) = (u32::parse(first).ok()?, u32::parse(last).ok()?);
        (first <= last).then_some(Self::Hosts(first, last))
    }

    fn parse(text: &str) -> Option<Self> {
        let hosts = text.strip_prefix("hosts ").or(text.strip_prefix("host "));
        match hosts.filter(|_| !text.contains(" to ")) {
            Some(numbers) => Self::of_table("host", numbers),
            None => Self::of_table("link", text),
        }
    }

    /// The name as it is written in the text of exceptions.
    pub fn words(&self) -> String {
        match self {
            Self::Link(name) => name.clone(),
            Self::Hosts(one, last) if one == last => format!("host {one}"),
            Self::Hosts(first, last) => format!("hosts {first}-{last}"),
        }
    }
}

impl Exceptions {
    /// The setting of an exception called `field`, from [`LinkException::KEYS`], whose names include the table.
    pub fn key(field: &str) -> Option<&'static Key> {
        let mut keys = LinkException::KEYS.iter();
        keys.find(|key| {
            key.name
                .split_once('.')
                .is_some_and(|(_, own)| own == field)
        })
    }

    /// Every such name.
    pub fn fields() -> impl Iterator<Item = &'static str> {
        let keys = LinkException::KEYS.iter();
        keys.filter_map(|key| key.name.split_once('.').map(|(_, own)| own))
    }
}

impl Quantity for Exceptions {
    fn expected() -> String {
        "\"none\", or links and hosts with what differs there, as in \"leaf 0 to spine 1: rate 10Gbps, delay 5us; hosts 0-3: \
         rate 100Mbps; leaf 0 to spine 0: down true\""
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "none" {
            return Ok(Self::default());
        }
        text.split(';')
            .map(|part| exception(part, text))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn exception(part: &str, text: &str) -> Result<Exception, QuantityError> {
    let error = || QuantityError::expected(&Exceptions::expected(), text);
    let (name, fields) = part.split_once(':').ok_or_else(error)?;
    let place = ExceptionPlace::parse(name.trim()).ok_or_else(error)?;
    let mut given = Vec::new();
    for field in fields.split(',') {
        let (name, value) = field.trim().split_once(' ').ok_or_else(error)?;
        if Exceptions::key(name).is_none() {
            let all: Vec<_> = Exceptions::fields().collect();
            return Err(QuantityError {
                message: format!("{name:?} is none of {}", all.join(", ")),
            });
        }
        given.push((name, value.trim()));
    }
    let value = |key: &str| {
        let own = given
            .iter()
            .find(|(name, _)| key.ends_with(&format!(".{name}")));
        own.map_or_else(
            || LinkException::default_text(key).to_owned(),
            |(_, text)| (*text).to_owned(),
        )
    };
    let own = LinkException::read(&value).map_err(|wrong| QuantityError {
        message: format!("{}: {}", place.words(), wrong.error.message),
    })?;
    Ok(Exception { place, own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_name_links_and_hosts() {
        let text = "leaf 0 to spine 1: rate 10Gbps, delay 5us; hosts 0-3: down_rate 100Mbps; host 7: lose from 1ms to 2ms";
        let all = Exceptions::parse(text).unwrap().0;
        let places: Vec<_> = all.iter().map(|one| one.place.words()).collect();
        assert_eq!(places, ["leaf 0 to spine 1", "hosts 0-3", "host 7"]);
        assert_eq!(all[0].own.rate.0, Some(Rate::from_bps(10_000_000_000)));
        assert_eq!(all[0].own.delay.0, Some(Span::from_micros(5)));
        assert_eq!(all[1].own.down_rate.0, Some(Rate::from_bps(100_000_000)));
        assert_eq!(all[2].own.lose.0.len(), 1);
        assert!(Exceptions::parse("none").unwrap().0.is_empty());
        let link = Exceptions::parse("host 3 to leaf 0: loss 0.5").unwrap().0;
        assert_eq!(
            link[0].place,
            ExceptionPlace::Link("host 3 to leaf 0".into())
        );
    }

    #[test]
    fn what_is_no_exception_is_refused() {
        for (text, expected) in [
            ("", "links and hosts with what differs"),
            ("leaf 0: rate 1Gbps", "links and hosts with what differs"),
            ("hosts 3-1: rate 1Gbps", "links and hosts with what differs"),
            (
                "host 1: rat 1Gbps",
                "\"rat\" is none of rate, down_rate, delay",
            ),
            ("host 1: rate fast", "host 1: expected \"auto\" or a rate"),
        ] {
            let message = Exceptions::parse(text).unwrap_err().message;
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
