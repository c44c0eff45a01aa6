//! Segments that are lost by choice.

use base::{Quantity, QuantityError};
use fabric::{Chosen, Segment};

/// Segments that every connection loses; without any nothing is lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LostSegments(pub Vec<Chosen>);

impl Quantity for LostSegments {
    fn expected() -> String {
        "\"off\", or segments joined by +: \"syn\", \"syn-ack\", \"ack\", \"segment 5\" or \"segment 5 of 12\", each with \"x2\" \
         behind it if two copies are lost"
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::default());
        }
        let chosen: Option<Vec<Chosen>> = text.split('+').map(chosen).collect();
        let error = || QuantityError::expected(&Self::expected(), text);
        chosen.map(Self).ok_or_else(error)
    }
}

/// One segment, with its copies.
fn chosen(text: &str) -> Option<Chosen> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let copies = match words.last()?.strip_prefix('x') {
        Some(copies) => {
            words.pop();
            copies.parse().ok().filter(|copies| *copies > 0)?
        }
        None => 1,
    };
    let number = |text: &str| text.parse().ok().filter(|number: &u64| *number > 0);
    let segment = match words[..] {
        ["syn"] => Segment::Syn,
        ["syn-ack"] => Segment::SynAck,
        ["ack"] => Segment::Ack,
        ["segment", count] => Segment::Data {
            number: number(count)?,
            of: 0,
        },
        ["segment", count, "of", all] => {
            let (number, of) = (number(count)?, number(all)?);
            (number <= of).then_some(Segment::Data { number, of })?
        }
        _ => return None,
    };
    Some(Chosen { segment, copies })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_read_with_their_copies() {
        let read = |text: &str| LostSegments::parse(text).map(|lost| lost.0);
        let of = |segment, copies| Chosen { segment, copies };
        assert_eq!(read("off"), Ok(Vec::new()));
        assert_eq!(
            read("syn x2 + ack"),
            Ok(vec![of(Segment::Syn, 2), of(Segment::Ack, 1)])
        );
        let fifth = |of| Segment::Data { number: 5, of };
        assert_eq!(
            read("segment 5+segment 5 of 12 x3"),
            Ok(vec![of(fifth(0), 1), of(fifth(12), 3)])
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
        ] {
            let error = LostSegments::parse(text).expect_err(text);
            assert!(error.message.contains("\"segment 5 of 12\""), "{error}");
        }
    }
}
