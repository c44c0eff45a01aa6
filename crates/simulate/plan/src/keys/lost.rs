//! Segments that are lost by choice.

use base::{FlowId, Quantity, QuantityError, Span, Time};
use fabric::{ChosenLoss, ChosenSegment};

/// Chosen segments that are lost, and times in which all packets are lost. The numbers in [`ChosenLoss::only`] are
/// numbers of flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostSegments(pub Vec<ChosenLoss>);

impl LostSegments {
    /// The highest flow number in it.
    pub fn last_flow(&self) -> Option<u32> {
        let flows = self.0.iter().filter_map(|one| one.only);
        flows.map(|flow| flow.0).max()
    }

    /// The same with numbers of connections; `connection` returns the connection that carries a flow.
    pub fn on_connections(&self, connection: impl Fn(u32) -> u32) -> Vec<ChosenLoss> {
        let own = |one: &ChosenLoss| ChosenLoss {
            only: one.only.map(|flow| FlowId(connection(flow.0))),
            ..*one
        };
        self.0.iter().map(own).collect()
    }
}

impl Quantity for LostSegments {
    fn expected() -> String {
        "\"off\", or what is lost, joined by +: \"syn\", \"syn-ack\", \"ack\", \"segment 5\", \"segment 5 of 12\", \"segments \
         14 26-28\" or \"from 10ms to 12ms\", each with \"of flow 1\" behind it if only that flow loses it, and with \"x2\" if \
         two copies of it are lost"
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::default());
        }
        let parts: Option<Vec<Vec<ChosenLoss>>> = text.split('+').map(chosen).collect();
        let all = parts.map(|parts| parts.concat());
        let all = all.filter(|all| all.len() <= MOST);
        let error = || QuantityError::expected(&Self::expected(), text);
        all.map(Self).ok_or_else(error)
    }
}

/// Parses segments with their copies, or a time.
fn chosen(text: &str) -> Option<Vec<ChosenLoss>> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut copies = None;
    if let Some(count) = words.last()?.strip_prefix('x') {
        copies = Some(count.parse().ok().filter(|copies| *copies > 0)?);
        words.pop();
    }
    let mut only = None;
    if let [.., "of", "flow", flow] = words[..] {
        only = Some(FlowId(flow.parse().ok()?));
        words.truncate(words.len() - 3);
    }
    let segments = match words[..] {
        ["syn"] => vec![ChosenSegment::Syn],
        ["syn-ack"] => vec![ChosenSegment::SynAck],
        ["ack"] => vec![ChosenSegment::Ack],
        ["segment", count, "of", all] => {
            let (number, of) = (number(count)?, number(all)?);
            vec![(number <= of).then_some(ChosenSegment::Data { number, of })?]
        }
        ["segment", count] => data(count)?,
        ["segments", ref counts @ ..] if !counts.is_empty() => {
            // A comma may replace a space.
            let counts = counts.iter().flat_map(|count| count.split(','));
            let counts = counts.filter(|count| !count.is_empty()).map(data);
            counts.collect::<Option<Vec<_>>>()?.concat()
        }
        // All copies are lost in it.
        ["from", from, "to", until] if copies.is_none() => {
            let [from, until] =
                [from, until].map(|time| Some(Time::ZERO + Span::parse(time).ok()?));
            let (from, until) = (from?, until?);
            vec![(from < until).then_some(ChosenSegment::Between(from, until))?]
        }
        _ => return None,
    };
    let with_copies = |segment| ChosenLoss {
        segment,
        only,
        copies: copies.unwrap_or(1),
    };
    Some(segments.into_iter().map(with_copies).collect())
}

/// A segment by its number, or several as `14-20`.
fn data(text: &str) -> Option<Vec<ChosenSegment>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    let segment = |number| ChosenSegment::Data { number, of: 0 };
    let fits = first <= last && last - first < MOST as u64;
    fits.then(|| (first..=last).map(segment).collect())
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number > 0)
}

/// The most segments. Every packet is compared with all of them; for more, use a share.
const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_read_with_their_copies() {
        let read = |text: &str| LostSegments::parse(text).map(|lost| lost.0);
        let of = |segment, copies| ChosenLoss {
            segment,
            only: None,
            copies,
        };
        assert_eq!(read("off"), Ok(Vec::new()));
        assert_eq!(
            read("syn x2 + ack"),
            Ok(vec![of(ChosenSegment::Syn, 2), of(ChosenSegment::Ack, 1)])
        );
        let fifth = |of| ChosenSegment::Data { number: 5, of };
        assert_eq!(
            read("segment 5+segment 5 of 12 x3"),
            Ok(vec![of(fifth(0), 1), of(fifth(12), 3)])
        );
    }

    #[test]
    fn segments_by_number_flow_and_time_are_read() {
        let read = |text: &str| LostSegments::parse(text).map(|lost| lost.0);
        let data = |number, only| ChosenLoss {
            segment: ChosenSegment::Data { number, of: 0 },
            only,
            copies: 1,
        };
        let second = Some(FlowId(1));
        let expected = [14, 26, 28].map(|number| data(number, second));
        for text in [
            "segments 14 26 28 of flow 1",
            "segments 14, 26, 28 of flow 1",
            "segment 14 of flow 1 + segments 26,28 of flow 1",
        ] {
            assert_eq!(read(text), Ok(expected.to_vec()), "{text}");
        }
        // A whole flight.
        let flight: Vec<_> = (11..=20).map(|number| data(number, None)).collect();
        assert_eq!(read("segments 11-20"), Ok(flight));
        let twice = ChosenLoss {
            copies: 2,
            ..data(3, second)
        };
        assert_eq!(read("segment 3 of flow 1 x2"), Ok(vec![twice]));
        let [from, until] = [10, 12].map(|ms| Time::ZERO + Span::from_millis(ms));
        let cut = ChosenLoss {
            segment: ChosenSegment::Between(from, until),
            only: None,
            copies: 1,
        };
        assert_eq!(read("from 10ms to 12ms"), Ok(vec![cut]));
        assert_eq!(
            LostSegments(vec![data(1, Some(FlowId(4))), cut]).last_flow(),
            Some(4)
        );
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        for text in [
            "",
            "fin",
            "segment",
            "segment 0",
            "segment 13 of 12",
            "syn x0",
            "syn 2",
            "x2",
            "segments",
            "segments 5-3",
            "segments 1-90000",
            "segment 5 of flow",
            "from 2ms to 1ms",
            "from 1ms to 2ms x2",
            "from 1 to 2",
        ] {
            let error = LostSegments::parse(text).expect_err(text);
            assert!(error.message.contains("\"segment 5 of 12\""), "{error}");
        }
    }
}
