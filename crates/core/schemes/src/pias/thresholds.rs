//! After how many bytes flows sink: the published table, or sizes.

use base::cast::low_8;
use base::{DataSize, Fraction, Full, Payload, Quantity, QuantityError};

/// Demotion thresholds of a flow, ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thresholds(Vec<DataSize>);

impl Thresholds {
    /// The priorities that they separate.
    pub fn priorities(&self) -> u8 {
        low_8(self.0.len() as u64) + 1
    }

    /// In bytes of payload, for segments of `mss`.
    pub fn in_bytes(&self, mss: u16) -> Vec<u64> {
        let sizes = self.0.iter();
        sizes.map(|size| size.in_bytes(u64::from(mss))).collect()
    }
}

impl Quantity for Thresholds {
    fn expected() -> String {
        format!(
            "a workload of the published table ({}) and a load from 0 to 0.9, as in \"websearch 0.5\", or up to {MOST} ascending sizes, as in \"100KiB 1MB\" (pkt: {})",
            WORKLOADS.join(", "),
            Payload::WORDS
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::expected(&Self::expected(), text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if let [workload, load] = words[..]
            && WORKLOADS.contains(&workload)
        {
            let load = Fraction::parse(load).map_err(|_| error())?;
            return row(workload, load.0).ok_or_else(error);
        }
        let sizes: Result<Vec<DataSize>, _> =
            words.iter().map(|word| DataSize::parse(word)).collect();
        let sizes = sizes.map_err(|_| error())?;
        let ascends =
            |pair: &[DataSize]| pair[0].unit == pair[1].unit && pair[0].amount < pair[1].amount;
        if sizes.is_empty() || sizes.len() > MOST || !sizes.windows(2).all(ascends) {
            return Err(error());
        }
        Ok(Self(sizes))
    }
}

/// The row of the least load in the table that is not below `load`: the table begins at 0.5.
fn row(workload: &str, load: f64) -> Option<Thresholds> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let loads = rows.filter_map(|line| {
        let mut fields = line.split(',');
        let ours = fields.next() == Some(workload);
        let load: f64 = fields.next()?.parse().ok()?;
        let packets: Result<Vec<u64>, _> = fields.map(str::parse).collect();
        ours.then_some((load, packets.ok()?))
    });
    let enough = loads.filter(|(of, _)| *of >= load);
    let (_, packets) = enough.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let bytes = packets
        .into_iter()
        .map(|packets| DataSize::bytes(packets * PACKET));
    Some(Thresholds(bytes.collect()))
}

const TABLE: &str = include_str!("../../data/pias-thresholds.csv");
const WORKLOADS: [&str; 2] = ["websearch", "datamining"];
/// Priorities are code points (RFC 2474 §3), of which there are 64.
const MOST: usize = 63;
/// Payload of the packets that the table counts.
const PACKET: u64 = 1460;

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u64> {
        Thresholds::parse(text).expect(text).in_bytes(1000)
    }

    #[test]
    fn a_row_is_named_by_workload_and_load() {
        let websearch = [1059, 1412, 1643, 1869, 2008, 2115, 2184].map(|packets| packets * 1460);
        assert_eq!(bytes("websearch 0.5"), websearch);
        let datamining = [745, 1083, 1391, 13_689, 14_936, 21_149, 27_245];
        assert_eq!(
            bytes("datamining 0.8"),
            datamining.map(|packets| packets * 1460)
        );
    }

    #[test]
    fn a_load_between_rows_takes_the_next_one() {
        for load in ["0.3", "0.4", "0.45"] {
            assert_eq!(bytes(&format!("websearch {load}")), bytes("websearch 0.5"));
        }
        assert_eq!(bytes("websearch 0.75"), bytes("websearch 0.8"));
        assert!(Thresholds::parse("websearch 0.95").is_err());
    }

    #[test]
    fn sizes_ascend() {
        assert_eq!(bytes("100KiB"), [102_400]);
        assert_eq!(bytes("10pkt 20pkt"), [10_000, 20_000]);
        for wrong in [
            "",
            "20KB 10KB",
            "10KB 10KB",
            "websearch",
            "cache 0.5",
            "10pkt 1MB",
        ] {
            assert!(Thresholds::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
