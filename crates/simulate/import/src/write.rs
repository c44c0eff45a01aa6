//! The trace that flows make.

use std::io;
use std::path::Path;

use tables::flows::exact;
use tables::{Cell, ColumnType, Field, TableWriter};

use crate::{Imported, Wait};
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
    /// The format for the ending of `path`.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Writes `imported` as a trace whose first flow starts at `begin` picoseconds; the file names `creator` as its maker.
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
    waits: bool,
}

impl<'a> Rows<'a> {
    fn of(imported: &'a Imported, begin: u64) -> Self {
        let flows = &imported.flows;
        // Connections of a single flow need no number.
        let mut numbers: Vec<u64> = flows.iter().filter_map(|flow| flow.connection).collect();
        numbers.sort_unstable();
        Self {
            imported,
            first: (flows.iter().filter(|flow| flow.wait.is_none()))
                .map(|flow| flow.start)
                .min()
                .unwrap_or(0),
            waits: imported.waits(),
            begin: begin.into(),
            opens: flows.iter().any(|flow| flow.open.is_some()),
            shares: numbers.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }

    /// A time of the file on the clock of the simulation; a time before the first start becomes the first start.
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
        if self.waits {
            names.extend(["id", "after", "delay_us"]);
        }
        writer.write_record(&names)?;
        for (number, flow) in self.imported.flows.iter().enumerate() {
            let name = |host: crate::HostIndex| self.imported.hosts[host.0 as usize].clone();
            let mut row = vec![
                flow.wait
                    .as_ref()
                    .map_or_else(|| micros(self.at(flow.start)), |_| String::new()),
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
            if self.waits {
                let wait = flow.wait.as_deref();
                let delay = wait.filter(|_| flow.start > 0).map(|_| micros(flow.start));
                let after = wait.map_or(String::new(), after);
                row.extend([number.to_string(), after, delay.unwrap_or_default()]);
            }
            writer.write_record(&row)?;
        }
        writer.flush()
    }

    /// The columns of a table.
    fn fields(&self) -> Vec<Field> {
        let field = |name: &str, kind, unit, help| Field {
            name: name.to_owned(),
            kind,
            optional: ["open_us", "after", "delay_us"].contains(&name)
                || (self.waits && name == "start_us"),
            unit,
            help,
        };
        let mut fields = vec![
            field(
                "start_us",
                ColumnType::Double,
                "us",
                "Start on the clock of the simulation.",
            ),
            field("size_bytes", ColumnType::Int64, "B", "Payload."),
            field("sender", ColumnType::Text, "", "Host that sends."),
            field("receiver", ColumnType::Text, "", "Host that receives."),
        ];
        fields.extend(self.opens.then(|| {
            field(
                "open_us",
                ColumnType::Double,
                "us",
                "When its connection opens.",
            )
        }));
        fields.extend(self.shares.then(|| {
            field(
                "connection",
                ColumnType::Int64,
                "",
                "Connection that it is on.",
            )
        }));
        if self.waits {
            fields.extend([
                field(
                    "id",
                    ColumnType::Int64,
                    "",
                    "Name of the flow, by which others wait for it.",
                ),
                field(
                    "after",
                    ColumnType::Text,
                    "",
                    "Flows that must be done before it starts.",
                ),
                field(
                    "delay_us",
                    ColumnType::Double,
                    "us",
                    "Time from their end to its start.",
                ),
            ]);
        }
        fields
    }

    fn parquet<W: io::Write + Send>(&self, creator: &str, out: W) -> io::Result<()> {
        let fields = self.fields();
        let mut table = TableWriter::new(out, &fields, creator)?;
        for (number, flow) in (0_i64..).zip(&self.imported.flows) {
            let after = flow.wait.as_deref().map(after);
            let name = |host: crate::HostIndex| Cell::Text(&self.imported.hosts[host.0 as usize]);
            let mut row = vec![
                match flow.wait {
                    None => Cell::Double(as_micros(self.at(flow.start))),
                    Some(_) => Cell::Null,
                },
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
            if self.waits {
                let delay = after
                    .as_ref()
                    .map_or(Cell::Null, |_| Cell::Double(as_micros(flow.start)));
                row.extend([
                    Cell::Int(number),
                    after.as_deref().map_or(Cell::Null, Cell::Text),
                    delay,
                ]);
            }
            table.row(row)?;
        }
        table.finish().map(drop)
    }
}

/// The flows that a flow waits for, in the form of a trace's column `after`.
fn after(wait: &Wait) -> String {
    let one = |(flow, delay): &(u32, u128)| match delay {
        0 => flow.to_string(),
        delay => format!("{flow}@{}", micros(*delay)),
    };
    let list: Vec<String> = wait.on.iter().map(one).collect();
    let list = list.join("+");
    if (wait.needs as usize) < wait.on.len() {
        format!("{} of {list}", wait.needs)
    } else {
        list
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
    use std::sync::Arc;

    use tables::flows::{FlowTrace, TraceFileSettings};

    use super::*;
    use crate::{Content, ImportOptions};

    #[test]
    fn what_flows_wait_for_is_written_and_read() {
        let text = "Nodes 4\n0->1 start 0 size 9 send_done_trigger 1\n1->2 start 5000000 size 9 recv_done_trigger 1\n\
                    2->3 trigger 1 size 7\ntrigger id 1 oneshot\n";
        for (trace, ending) in written(text, "waits") {
            let wait = trace.wait(&trace.flows()[2]).expect("it waits");
            let on: Vec<u32> = wait.on.iter().map(|(row, _)| *row).collect();
            assert_eq!((wait.needs, on), (1, vec![0, 1]), "{ending}");
            assert_eq!(trace.flows()[1].start.as_ps(), 10_005_000_000, "{ending}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_a_trace() {
        let text = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
            2023-11-14 22:13:20.125,0.010,TCP,10.0.0.2,80,10.0.0.1,4000,2,2104,1\n\
            2023-11-14 22:13:25.125,0.010,TCP,10.0.0.3,80,10.0.0.1,4000,1,1052,1\n";
        for (trace, ending) in written(text, "import") {
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

    /// The flows of `text`, written as a trace in both formats and read again, with the ending of each.
    fn written(text: &str, name: &str) -> [(Arc<FlowTrace>, &'static str); 2] {
        let Content::Flows(imported) =
            crate::import(text.as_bytes(), &ImportOptions::default()).unwrap()
        else {
            panic!("flows")
        };
        [(Out::Csv, "csv"), (Out::Parquet, "parquet")].map(|(format, ending)| {
            let mut bytes = Vec::new();
            write(&imported, 10_000_000_000, format, "test", &mut bytes).unwrap();
            let path = std::env::temp_dir()
                .join(format!("tailwater-{name}-{}.{ending}", std::process::id()));
            std::fs::write(&path, &bytes).unwrap();
            let trace =
                FlowTrace::open(&path.to_string_lossy(), &TraceFileSettings::default()).unwrap();
            std::fs::remove_file(path).unwrap();
            (trace, ending)
        })
    }
}
