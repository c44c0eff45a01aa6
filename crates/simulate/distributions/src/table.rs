//! Measured distributions of flow sizes.

use base::cast::real;
use base::{DataSize, Quantity, QuantityError, SizeUnit};

/// A distribution given by cumulative shares.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Sizes in `unit`, ascending, with the share of flows up to each; the last share is 1.
    rows: Vec<(f64, f64)>,
    /// The unit: bytes, or segments of payload, whose size a scenario sets.
    unit: SizeUnit,
    /// Whether sizes between two rows occur, with uniform probability.
    interpolated: bool,
}

/// A distribution with a name.
#[derive(Debug)]
pub struct Named {
    /// Its name in scenarios.
    pub name: &'static str,
    /// A description with the source of the numbers.
    pub help: &'static str,
    text: &'static str,
    /// Bytes of one unit of the sizes.
    unit: u32,
    interpolated: bool,
}

/// Every distribution that has a name.
pub const NAMED: &[Named] = &[
    Named {
        name: "websearch",
        help: "Web search (DCTCP paper): sizes in bytes as published with the traffic generator of HKUST-SING.",
        text: include_str!("../data/websearch-bytes.csv"),
        unit: 1,
        interpolated: true,
    },
    Named {
        name: "websearch-packets",
        help: "Web search in packets of 1460 bytes, as used in the ns-2 runs of PIAS; another distribution than websearch.",
        text: include_str!("../data/websearch-packets.csv"),
        unit: 1460,
        interpolated: true,
    },
    Named {
        name: "datamining",
        help: "Data mining (VL2 paper): sizes in bytes as published with the traffic generator of HKUST-SING.",
        text: include_str!("../data/datamining-bytes.csv"),
        unit: 1,
        interpolated: true,
    },
    Named {
        name: "datamining-packets",
        help: "Data mining in packets of 1460 bytes, as used in the ns-2 runs of PIAS; another distribution than datamining.",
        text: include_str!("../data/datamining-packets.csv"),
        unit: 1460,
        interpolated: true,
    },
    Named {
        name: "hadoop",
        help: "Hadoop (Facebook, as used in the HPCC paper): sizes in bytes as published with the traffic generator of HPCC.",
        text: include_str!("../data/hadoop-bytes.csv"),
        unit: 1,
        interpolated: true,
    },
    Named {
        name: "internet",
        help: "Flows of the Internet (Allman 2013) as used in the RC3 paper: eleven sizes.",
        text: include_str!("../data/rc3-internet2.csv"),
        unit: 1460,
        interpolated: false,
    },
];

/// The distribution called `name`.
pub(super) fn named(name: &str) -> Option<Table> {
    let named = NAMED.iter().find(|named| named.name == name)?;
    Some(Table::read(named))
}

/// The names, quoted and separated by commas.
pub(super) fn names() -> String {
    let names: Vec<_> = NAMED
        .iter()
        .map(|named| format!("{:?}", named.name))
        .collect();
    names.join(", ")
}

impl Named {
    /// Its mean in bytes.
    pub fn mean(&self) -> f64 {
        Table::read(self).mean(1)
    }

    /// Its sizes in bytes, with the share of flows up to each.
    pub fn rows(&self) -> Vec<(f64, f64)> {
        Table::read(self).rows
    }
}

impl Table {
    /// The size in bytes that a share `share` of all flows does not exceed, if a segment has `mss` bytes. O(rows).
    pub(super) fn quantile(&self, share: f64, mss: u64) -> f64 {
        self.row_at(share) * self.unit_bytes(mss)
    }

    /// The mean in bytes. All flows in the share of the first row have its size.
    pub(super) fn mean(&self, mss: u64) -> f64 {
        let (first, atom) = self.rows[0];
        let rows = self.rows.windows(2).map(|pair| {
            let (least, size) = (pair[0].0, pair[1].0);
            let middle = if self.interpolated {
                f64::midpoint(least, size)
            } else {
                size
            };
            middle * (pair[1].1 - pair[0].1)
        });
        (first * atom + rows.sum::<f64>()) * self.unit_bytes(mss)
    }

    fn unit_bytes(&self, mss: u64) -> f64 {
        match self.unit {
            SizeUnit::Byte => 1.0,
            SizeUnit::Packet => real(mss),
        }
    }

    fn row_at(&self, share: f64) -> f64 {
        let above = self.rows.iter().position(|(_, upto)| share < *upto);
        let above = above.unwrap_or(self.rows.len() - 1);
        let (size, upto) = self.rows[above];
        match above.checked_sub(1).map(|below| self.rows[below]) {
            Some((least, from)) if self.interpolated => {
                least + (size - least) * ((share - from) / (upto - from)).min(1.0)
            }
            _ => size,
        }
    }

    /// Reads rows of the form `10KB 0.5`.
    pub(super) fn parse(rows: &[&str]) -> Result<Self, QuantityError> {
        let error = |row: &str| {
            QuantityError::expected(
                "a size and the share of flows up to it, as in 10KB 0.5",
                row,
            )
        };
        let mut table = Self {
            rows: Vec::new(),
            unit: SizeUnit::Byte,
            interpolated: true,
        };
        for row in rows {
            let (size, share) = row
                .split_once(char::is_whitespace)
                .ok_or_else(|| error(row))?;
            let size = DataSize::parse(size).map_err(|_| error(row))?;
            if table.rows.is_empty() {
                table.unit = size.unit;
            } else if table.unit != size.unit {
                return Err(QuantityError {
                    message: format!(
                        "sizes are in the same kind of unit, bytes or pkt; found {row:?}"
                    ),
                });
            }
            let share: f64 = share.trim().parse().map_err(|_| error(row))?;
            let (last_size, last_share) = table.rows.last().copied().unwrap_or((0.0, 0.0));
            let size = f64::from(u32::try_from(size.amount).map_err(|_| error(row))?);
            if size < last_size || share < last_share || share > 1.0 {
                return Err(QuantityError {
                    message: format!("sizes and shares ascend, and shares end at 1; found {row:?}"),
                });
            }
            table.rows.push((size, share));
        }
        let ends_at_one = table
            .rows
            .last()
            .is_some_and(|(_, share)| *share > 0.999_999);
        if !ends_at_one {
            return Err(QuantityError {
                message: "the share of the last size is 1: all flows are up to it".into(),
            });
        }
        Ok(table)
    }

    /// Reads a file of the repository: notes, a header line, and then lines with the size first and the share last.
    fn read(named: &Named) -> Self {
        let lines = named.text.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &str| {
            let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok());
            let size = number(line.split(',').next()).expect("a size comes first");
            let share = number(line.rsplit(',').next()).expect("a share comes last");
            (size * f64::from(named.unit), share)
        };
        Self {
            rows: lines.skip(1).map(row).collect(),
            unit: SizeUnit::Byte,
            interpolated: named.interpolated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_distributions_have_their_published_means() {
        let mean = |name: &str| named(name).unwrap().mean(1460);
        let near = |name: &str, bytes: f64| {
            assert!(
                (mean(name) / bytes - 1.0).abs() < 1e-4,
                "{name}: {}",
                mean(name)
            );
        };
        near("websearch", 1_711_250.0);
        near("websearch-packets", 1141.0 * 1460.0);
        near("datamining", 12_658_199.0);
        near("datamining-packets", 5116.6 * 1460.0);
        near("internet", 269_334.0);
    }

    #[test]
    fn quantiles_lie_between_rows_or_on_them() {
        let websearch = named("websearch").unwrap();
        assert!((websearch.quantile(0.35, 1460) - 40_000.0).abs() < 1e-6);
        let internet = named("internet").unwrap();
        assert!((internet.quantile(0.65, 1460) - 4380.0).abs() < 1e-9);
        assert!((internet.quantile(0.0, 1460) - 1460.0).abs() < 1e-9);
    }

    #[test]
    fn rows_of_ones_own_are_checked() {
        let table = Table::parse(&["10KB 0.5", "1MB 1"]).unwrap();
        assert!((table.mean(1460) - (5_000.0 + 252_500.0)).abs() < 1e-6);
        let wrong = |rows: &[&str]| Table::parse(rows).unwrap_err().message;
        assert!(wrong(&["10KB 0.5"]).contains("the last size is 1"));
        assert!(wrong(&["10KB 0.5", "5KB 1"]).contains("ascend"));
        assert!(wrong(&["10KB"]).contains("as in 10KB 0.5"));
        assert!(wrong(&["1pkt 0.5", "1MB 1"]).contains("the same kind of unit"));
    }

    #[test]
    fn packets_of_rows_are_segments_of_the_scenario() {
        let table = Table::parse(&["10pkt 0.5", "30pkt 1"]).unwrap();
        assert!((table.mean(1000) - 15_000.0).abs() < 1e-9);
        assert!((table.quantile(1.0, 1446) - 43_380.0).abs() < 1e-9);
    }
}
