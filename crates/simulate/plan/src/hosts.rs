//! Hosts named by rack and number.

use base::{Quantity, QuantityError};

/// A set of hosts: `"0:0-19+1:3"` are hosts 0 to 19 of rack 0 and host 3 of rack 1, `"2"` all of rack 2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSet(pub(crate) Vec<RackRange>);

/// Hosts of neighbouring racks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RackRange {
    /// First and last rack.
    pub(crate) racks: (u32, u32),
    /// First and last host in each rack; `None`: all.
    pub(crate) hosts: Option<(u32, u32)>,
}

impl Quantity for HostSet {
    fn expected() -> String {
        "hosts as RACK:HOST or ranges of both, joined by +, as in \"0:0-19+1:3\", or whole racks, as in \"2\" or \
         \"0-3\""
            .into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::expected(&Self::expected(), text);
        let part = |text: &str| {
            let (racks, hosts) = match text.split_once(':') {
                Some((racks, hosts)) => (racks, Some(range(hosts)?)),
                None => (text, None),
            };
            Some(RackRange {
                racks: range(racks)?,
                hosts,
            })
        };
        let parts: Option<Vec<RackRange>> = text.split('+').map(part).collect();
        parts.map(Self).ok_or_else(error)
    }
}

/// Reads `3` or `0-19`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (u32::parse(first).ok()?, u32::parse(last).ok()?);
    let small = last <= MAX_NUMBER;
    (first <= last && small).then_some((first, last))
}

/// The limit for numbers of racks and hosts; a higher number is a typing error.
const MAX_NUMBER: u32 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_racks_and_ranges() {
        let part = |racks, hosts| RackRange { racks, hosts };
        let set = |text| HostSet::parse(text).map(|set| set.0);
        assert_eq!(set("2"), Ok(vec![part((2, 2), None)]));
        assert_eq!(
            set("0:0-19+1-3:4"),
            Ok(vec![
                part((0, 0), Some((0, 19))),
                part((1, 3), Some((4, 4)))
            ])
        );
        assert!(set("0:9-1").is_err());
        assert!(set("").is_err());
        assert!(set("a:1").is_err());
    }
}
