//! The trace that flows make.

use std::io;
use std::path::Path;

use tables::flows::exact;
use tables::{Cell, Field, Kind as Column, TableWriter};

use crate::Imported;
use base::cast::wide;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Comma-separated values.
    Csv,
    /// Parquet.
    Parquet,
}

impl Out {
    /// How the ending of `path` says.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Writes `imported` as a trace whose first flow starts at `begin` picoseconds; the file says that `creator` has
/// made it.
///
/// # Errors
/// If `out` cannot be written.
pub fn write<W: io::Write + Send>(
    imported: &Imported,
    begin: u64,
    as_what: Out,
    creator: &str,
    out: W,
) -> io::Result<()> {
    let rows = Rows::of(imported, begin);
    match as_what {
        Out::Csv => rows.csv(out),
        Out::Parquet => rows.parquet(creator, out),
    }
}

/// Flows as rows of a trace.
struct Rows<'a> {
    imported: &'a Imported,
    first: u128,
    begin: u128,
    opens: bool,
    shares: bool,
}

impl<'a> Rows<'a> {
    fn of(imported: &'a Imported, begin: u64) -> Self {
        let flows = &imported.flows;
        // Connections of a single flow need no number.
        let mut numbers: Vec<u64> = flows.iter().filter_map(|flow| flow.connection).collect();
        numbers.sort_unstable();
        Self {
            imported,
            first: flows.iter().map(|flow| flow.start).min().unwrap_or(0),
            begin: begin.into(),
            opens: flows.iter().any(|flow| flow.open.is_some()),
            shares: numbers.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }

    /// A time of the file on the clock of the simulation; what lies before its beginning is put there.
    fn at(&self, time: u128) -> u128 {
        (time + self.begin).saturating_sub(self.first)
    }

    fn csv<W: io::Write>(&self, mut out: W) -> io::Result<()> {
        if self.imported.dated {
            let begin = micros(self.begin);
            writeln!(out, "# {begin} us is {}", exact::written(self.first))?;
        }
        let mut writer = csv::Writer::from_writer(out);
        let mut names = vec!["start_us", "size_bytes", "sender", "receiver"];
        names.extend(self.opens.then_some("open_us"));
        names.extend(self.shares.then_some("connection"));
        writer.write_record(&names)?;
        for flow in &self.imported.flows {
            let name = |host: crate::Host| self.imported.hosts[host.0 as usize].clone();
            let mut row = vec![
                micros(self.at(flow.start)),
                flow.size.to_string(),
                name(flow.sender),
                name(flow.receiver),
            ];
            row.extend(self.opens.then(|| {
                flow.open
                    .map_or(String::new(), |open| micros(self.at(open)))
            }));
            row.extend(self.shares.then(|| {
                flow.connection
                    .map_or(String::new(), |number| number.to_string())
            }));
            writer.write_record(&row)?;
        }
        writer.flush()
    }

    fn parquet<W: io::Write + Send>(&self, creator: &str, out: W) -> io::Result<()> {
        let field = |name: &str, kind, unit, help| Field {
            name: name.to_owned(),
            kind,
            optional: name == "open_us",
            unit,
            help,
        };
        let mut fields = vec![
            field(
                "start_us",
                Column::Double,
                "us",
                "Start on the clock of the simulation.",
            ),
            field("size_bytes", Column::Int64, "B", "Payload."),
            field("sender", Column::Text, "", "Host that sends."),
            field("receiver", Column::Text, "", "Host that receives."),
        ];
        fields.extend(self.opens.then(|| {
            field(
                "open_us",
                Column::Double,
                "us",
                "When its connection opens.",
            )
        }));
        fields.extend(
            self.shares
                .then(|| field("connection", Column::Int64, "", "Connection that it is on.")),
        );
        let mut table = TableWriter::new(out, &fields, creator)?;
        for flow in &self.imported.flows {
            let name = |host: crate::Host| Cell::Text(&self.imported.hosts[host.0 as usize]);
            let mut row = vec![
                Cell::Double(as_micros(self.at(flow.start))),
                Cell::Int(i64::try_from(flow.size).unwrap_or(i64::MAX)),
                name(flow.sender),
                name(flow.receiver),
            ];
            row.extend(self.opens.then(|| {
                flow.open
                    .map_or(Cell::Null, |open| Cell::Double(as_micros(self.at(open))))
            }));
            row.extend(self.shares.then(|| {
                let number = flow
                    .connection
                    .and_then(|number| i64::try_from(number).ok());
                Cell::Int(number.unwrap_or(i64::MAX))
            }));
            table.row(row)?;
        }
        table.finish().map(drop)
    }
}

/// Microseconds with six decimals, which are picoseconds.
fn micros(ps: u128) -> String {
    format!("{}.{:06}", ps / 1_000_000, ps % 1_000_000)
}

fn as_micros(ps: u128) -> f64 {
    wide(ps) / 1e6
}

#[cfg(test)]
mod tests {
    use tables::flows::{FlowTrace, Reading};

    use super::*;

    #[test]
    fn what_is_written_is_read_as_a_trace() {
        let text = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
            2023-11-14 22:13:20.125,0.010,TCP,10.0.0.2,80,10.0.0.1,4000,2,2104,1\n\
            2023-11-14 22:13:25.125,0.010,TCP,10.0.0.3,80,10.0.0.1,4000,1,1052,1\n";
        let imported = crate::import(text.as_bytes(), None, None).unwrap();
        for (as_what, ending) in [(Out::Csv, "csv"), (Out::Parquet, "parquet")] {
            let mut bytes = Vec::new();
            write(&imported, 10_000_000_000, as_what, "test", &mut bytes).unwrap();
            let path = std::env::temp_dir()
                .join(format!("tailwater-import-{}.{ending}", std::process::id()));
            std::fs::write(&path, &bytes).unwrap();
            let trace = FlowTrace::open(&path.to_string_lossy(), &Reading::default()).unwrap();
            std::fs::remove_file(path).unwrap();
            let flows: Vec<_> = trace
                .flows()
                .iter()
                .map(|flow| (flow.start.as_ps(), flow.size))
                .collect();
            assert_eq!(
                flows,
                [(10_000_000_000, 2000), (5_010_000_000_000, 1000)],
                "{ending}"
            );
            let hosts: Vec<&str> = trace
                .hosts()
                .iter()
                .map(|(_, name)| name.as_str())
                .collect();
            assert_eq!(hosts, ["10.0.0.2", "10.0.0.1", "10.0.0.3"], "{ending}");
        }
    }
}
