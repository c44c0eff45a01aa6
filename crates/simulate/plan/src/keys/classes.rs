//! Classes of flows by their size.

use base::{DataSize, Full, Payload, Quantity, QuantityError};

/// Upper bounds of the size classes in results; without bounds there are no classes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SizeClasses(Vec<DataSize>);

impl SizeClasses {
    /// The name of each class, with its sizes in bytes: above the first and up to the second.
    pub fn all(&self, mss: u64) -> Vec<(String, u64, u64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut classes = Vec::new();
        let mut above: Option<&DataSize> = None;
        for bound in &self.0 {
            let name = match above {
                None => format!("<={bound}"),
                Some(above) => format!("{above}-{bound}"),
            };
            let from = above.map_or(0, |above| above.in_bytes(mss));
            classes.push((name, from, bound.in_bytes(mss)));
            above = Some(bound);
        }
        if let Some(last) = above {
            classes.push((format!(">{last}"), last.in_bytes(mss), u64::MAX));
        }
        classes
    }
}

impl Quantity for SizeClasses {
    fn expected() -> String {
        format!(
            "\"off\", or sizes joined by +, the smallest first, as in \"100KB+10MB\" (pkt: {})",
            Payload::WORDS
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::default());
        }
        let error = || QuantityError::expected(&Self::expected(), text);
        let bounds = text
            .split('+')
            .map(|bound| DataSize::parse(bound.trim()).ok());
        let bounds: Vec<DataSize> = bounds.collect::<Option<_>>().ok_or_else(error)?;
        let ascending = bounds
            .windows(2)
            .all(|pair| pair[0].unit == pair[1].unit && pair[0].amount < pair[1].amount);
        if ascending && bounds[0].amount > 0 {
            Ok(Self(bounds))
        } else {
            Err(error())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_make_one_class_more() {
        let classes = SizeClasses::parse("100KB+10MB").unwrap().all(1460);
        assert_eq!(
            classes,
            [
                ("<=100KB".to_owned(), 0, 100_000),
                ("100KB-10MB".to_owned(), 100_000, 10_000_000),
                (">10MB".to_owned(), 10_000_000, u64::MAX),
            ]
        );
        assert!(SizeClasses::parse("off").unwrap().all(1460).is_empty());
    }

    #[test]
    fn bounds_that_do_not_ascend_are_refused() {
        for text in ["10MB+100KB", "", "1MB+1MB", "0B", "1MB,2MB"] {
            let error = SizeClasses::parse(text).unwrap_err();
            assert!(error.message.contains("100KB+10MB"), "{text}");
        }
    }
}
