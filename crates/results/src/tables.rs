//! The columns of `flows.parquet` and `ports.parquet`, and rows in both directions.

use std::io::{self, Write};

use scenario::{PointSpec, Scenario};
use sim::metrics::{FlowRecord, PortRecord};

use super::table::{Cell, Field, Kind, Row, TableWriter};

/// The columns with which rows of every table begin: which point it is.
pub(super) struct Leading {
    fields: Vec<Field>,
}

impl Leading {
    /// A column for every setting that the scenario shows.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut fields = leading_fields();
        for (index, key) in scenario.set_keys().iter().enumerate() {
            let points = scenario.points().iter();
            let whole = points
                .map(|point| &point.set[index].1)
                .all(|text| text.parse::<i64>().is_ok());
            let kind = if whole { Kind::Int64 } else { Kind::Text };
            let help = "Value of the setting of this name, with an underscore for its dot.";
            fields.push(Field {
                name: key.replace('.', "_"),
                ..field("", kind, "", help)
            });
        }
        Self { fields }
    }

    fn cells<'a>(&'a self, point: &'a PointSpec) -> impl Iterator<Item = Cell<'a>> {
        let keys = self.fields[LEADING..].iter().zip(&point.set);
        let keys = keys.map(|(field, (_, text))| match field.kind {
            Kind::Int64 => Cell::Int(text.parse().expect("all values are whole numbers")),
            _ => Cell::Text(text),
        });
        // A seed beyond 63 bits wraps: tables have signed numbers, and equal seeds stay equal.
        let first = [
            Cell::Int(index(point.index)),
            Cell::Text(&point.scheme),
            Cell::Int(point.seed.cast_signed()),
        ];
        first.into_iter().chain(keys)
    }
}

/// The leading columns that every table has.
pub(super) fn leading_fields() -> Vec<Field> {
    vec![
        field(
            "point",
            Kind::Int32,
            "",
            "Number of the simulation within the sweep.",
        ),
        field("scheme", Kind::Text, "", "Scheme or variant."),
        field("seed", Kind::Int64, "", "Seed of the random streams."),
    ]
}

/// The columns of a flow behind the leading ones.
pub(super) fn flow_fields() -> Vec<Field> {
    let optional = |field: Field| Field {
        optional: true,
        ..field
    };
    vec![
        field(
            "flow",
            Kind::Int32,
            "",
            "Number of the flow within its simulation.",
        ),
        field(
            "group",
            Kind::Text,
            "",
            "Name of its group of flows; empty if the scenario has none.",
        ),
        field(
            "connection",
            Kind::Int32,
            "",
            "Number of its connection, by which series name it; of flows with connections of their own in the order of flows.",
        ),
        field("sender", Kind::Int32, "", "Sending host."),
        field("receiver", Kind::Int32, "", "Receiving host."),
        optional(field(
            "size_bytes",
            Kind::Int64,
            "bytes",
            "Payload; missing for a flow without end.",
        )),
        field(
            "received_bytes",
            Kind::Int64,
            "bytes",
            "Payload that arrived in order.",
        ),
        field(
            "start_us",
            Kind::Double,
            "us",
            "Start at the application, on the clock of the simulation.",
        ),
        optional(field(
            "first_byte_us",
            Kind::Double,
            "us",
            "First payload at the receiver, in order or not.",
        )),
        optional(field(
            "completion_us",
            Kind::Double,
            "us",
            "Last byte in order at the receiver; missing if that did not happen.",
        )),
        optional(field(
            "fct_us",
            Kind::Double,
            "us",
            "Flow completion time: from start to completion, the handshake included.",
        )),
        optional(field(
            "buffered_us",
            Kind::Double,
            "us",
            "From start until the bytes of workload.first_write, or the whole flow if that is less, were in order at the receiver; missing without workload.first_write.",
        )),
    ]
    .into_iter()
    .chain(flow_counts())
    .collect()
}

/// What happened to a flow.
fn flow_counts() -> Vec<Field> {
    vec![
        field(
            "packets",
            Kind::Int64,
            "segments",
            "Segments with data or FIN sent by both ends, those sent again included.",
        ),
        field(
            "retransmissions",
            Kind::Int64,
            "segments",
            "Segments sent again.",
        ),
        field(
            "after_timeout",
            Kind::Int64,
            "segments",
            "Segments sent again after a timeout rather than in a fast recovery: losses that nothing else repaired, and what went with them.",
        ),
        field(
            "timeouts",
            Kind::Int64,
            "events",
            "Retransmission timers that expired with data or a FIN outstanding.",
        ),
        field(
            "tail_timeouts",
            Kind::Int64,
            "events",
            "Timeouts with everything sent and at most the last three segments unacknowledged: too few for duplicate ACKs to tell of a loss.",
        ),
        field(
            "syn_timeouts",
            Kind::Int64,
            "events",
            "Timers of the handshake that expired: a SYN or SYN-ACK, or what answers it, was lost.",
        ),
        field(
            "drops",
            Kind::Int64,
            "packets",
            "Packets of it that were dropped, in both directions.",
        ),
        field(
            "late",
            Kind::Bool,
            "",
            "Whether it took longer than workload.deadline, complete or not.",
        ),
        field(
            "failed",
            Kind::Bool,
            "",
            "Whether the connection gave up or was reset.",
        ),
    ]
}

/// The columns of a port behind the leading ones.
pub(super) fn port_fields() -> Vec<Field> {
    vec![
        field("port", Kind::Int32, "", "Number of the port."),
        field("from", Kind::Text, "", "Node that the port belongs to."),
        field("to", Kind::Text, "", "Node at the other end of its wire."),
        field(
            "bottleneck",
            Kind::Bool,
            "",
            "Whether it is the bottleneck that the metrics describe.",
        ),
        field("packets", Kind::Int64, "packets", "Packets accepted."),
        field(
            "bytes",
            Kind::Int64,
            "bytes",
            "Bytes accepted, headers included.",
        ),
        field(
            "drops",
            Kind::Int64,
            "packets",
            "Packets dropped, those lost by bottleneck.loss or switch.loss included.",
        ),
        field(
            "marks",
            Kind::Int64,
            "packets",
            "Packets marked with congestion experienced (ECN).",
        ),
        field(
            "threshold_crossings",
            Kind::Int64,
            "packets",
            "Arrivals that met a queue at or above the marking threshold, ECN-capable or not.",
        ),
        field(
            "queue_mean_bytes",
            Kind::Double,
            "bytes",
            "Mean queue, weighted by time, from first start to last completion; the packet in service is excluded.",
        ),
        field(
            "queue_p50_bytes",
            Kind::Int64,
            "bytes",
            "Median queue, weighted by time.",
        ),
        field(
            "queue_p95_bytes",
            Kind::Int64,
            "bytes",
            "95th percentile of the queue, weighted by time.",
        ),
        field(
            "queue_p99_bytes",
            Kind::Int64,
            "bytes",
            "99th percentile of the queue, weighted by time.",
        ),
        field("queue_max_bytes", Kind::Int64, "bytes", "Longest queue."),
    ]
}

/// A table of one row per flow or per port of every point.
pub(super) struct Records<W: Write + Send> {
    leading: Leading,
    table: TableWriter<W>,
}

impl<W: Write + Send> Records<W> {
    pub(super) fn new(out: W, scenario: &Scenario, fields: Vec<Field>) -> io::Result<Self> {
        let leading = Leading::of(scenario);
        let all: Vec<Field> = leading.fields.iter().cloned().chain(fields).collect();
        Ok(Self {
            leading,
            table: TableWriter::new(out, &all)?,
        })
    }

    pub(super) fn flow(&mut self, point: &PointSpec, flow: &FlowRecord) -> io::Result<()> {
        let cells = [
            Cell::Int(flow.flow.into()),
            Cell::Text(&flow.group),
            Cell::Int(flow.connection.into()),
            Cell::Int(flow.sender.into()),
            Cell::Int(flow.receiver.into()),
            flow.size_bytes.map_or(Cell::Null, count),
            count(flow.received_bytes),
            Cell::Double(flow.start_us),
            flow.first_byte_us.map_or(Cell::Null, Cell::Double),
            flow.completion_us.map_or(Cell::Null, Cell::Double),
            flow.fct_us.map_or(Cell::Null, Cell::Double),
            flow.buffered_us.map_or(Cell::Null, Cell::Double),
            count(flow.packets),
            count(flow.retransmissions),
            count(flow.after_timeout),
            count(flow.timeouts),
            count(flow.tail_timeouts),
            count(flow.syn_timeouts),
            count(flow.drops),
            Cell::Bool(flow.late),
            Cell::Bool(flow.failed),
        ];
        self.table.row(self.leading.cells(point).chain(cells))
    }

    pub(super) fn port(&mut self, point: &PointSpec, port: &PortRecord) -> io::Result<()> {
        let cells = [
            Cell::Int(port.port.into()),
            Cell::Text(&port.from),
            Cell::Text(&port.to),
            Cell::Bool(port.bottleneck),
            count(port.packets),
            count(port.bytes),
            count(port.drops),
            count(port.marks),
            count(port.threshold_crossings),
            Cell::Double(port.queue_mean_bytes),
            count(port.queue_p50_bytes),
            count(port.queue_p95_bytes),
            count(port.queue_p99_bytes),
            count(port.queue_max_bytes),
        ];
        self.table.row(self.leading.cells(point).chain(cells))
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.table.finish()
    }
}

/// Point and flow of a row of which the leading columns end before `first`.
pub(super) fn read_flow(row: &Row<'_>, first: usize) -> (u32, FlowRecord) {
    let cells = Cells { row, first };
    let flow = FlowRecord {
        flow: cells.small(0),
        group: cells.text(1),
        connection: cells.small(2),
        sender: cells.small(3),
        receiver: cells.small(4),
        size_bytes: cells.whole(5),
        received_bytes: cells.whole(6).unwrap_or_default(),
        start_us: cells.real(7).unwrap_or(f64::NAN),
        first_byte_us: cells.real(8),
        completion_us: cells.real(9),
        fct_us: cells.real(10),
        buffered_us: cells.real(11),
        packets: cells.whole(12).unwrap_or_default(),
        retransmissions: cells.whole(13).unwrap_or_default(),
        after_timeout: cells.whole(14).unwrap_or_default(),
        timeouts: cells.whole(15).unwrap_or_default(),
        tail_timeouts: cells.whole(16).unwrap_or_default(),
        syn_timeouts: cells.whole(17).unwrap_or_default(),
        drops: cells.whole(18).unwrap_or_default(),
        late: cells.flag(19),
        failed: cells.flag(20),
    };
    (cells.point(), flow)
}

/// Point and port of a row of which the leading columns end before `first`.
pub(super) fn read_port(row: &Row<'_>, first: usize) -> (u32, PortRecord) {
    let cells = Cells { row, first };
    let port = PortRecord {
        port: cells.small(0),
        from: cells.text(1),
        to: cells.text(2),
        bottleneck: cells.flag(3),
        packets: cells.whole(4).unwrap_or_default(),
        bytes: cells.whole(5).unwrap_or_default(),
        drops: cells.whole(6).unwrap_or_default(),
        marks: cells.whole(7).unwrap_or_default(),
        threshold_crossings: cells.whole(8).unwrap_or_default(),
        queue_mean_bytes: cells.real(9).unwrap_or(f64::NAN),
        queue_p50_bytes: cells.whole(10).unwrap_or_default(),
        queue_p95_bytes: cells.whole(11).unwrap_or_default(),
        queue_p99_bytes: cells.whole(12).unwrap_or_default(),
        queue_max_bytes: cells.whole(13).unwrap_or_default(),
    };
    (cells.point(), port)
}

struct Cells<'a> {
    row: &'a Row<'a>,
    first: usize,
}

impl Cells<'_> {
    fn point(&self) -> u32 {
        match self.row.cell(0) {
            Cell::Int(value) => u32::try_from(value).unwrap_or_default(),
            _ => 0,
        }
    }

    fn small(&self, column: usize) -> u32 {
        let value = self.whole(column);
        value
            .and_then(|value| value.try_into().ok())
            .unwrap_or_default()
    }

    fn whole(&self, column: usize) -> Option<u64> {
        match self.row.cell(self.first + column) {
            Cell::Int(value) => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    fn real(&self, column: usize) -> Option<f64> {
        match self.row.cell(self.first + column) {
            Cell::Double(value) => Some(value),
            _ => None,
        }
    }

    fn flag(&self, column: usize) -> bool {
        self.row.cell(self.first + column) == Cell::Bool(true)
    }

    fn text(&self, column: usize) -> String {
        match self.row.cell(self.first + column) {
            Cell::Text(text) => text.to_owned(),
            _ => String::new(),
        }
    }
}

/// Counts and bytes of a simulation stay far below 2^63.
fn count(value: u64) -> Cell<'static> {
    Cell::Int(value.cast_signed())
}

fn index(index: usize) -> i64 {
    i64::try_from(index).expect("points have small numbers")
}

fn field(name: &str, kind: Kind, unit: &'static str, help: &'static str) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        optional: false,
        unit,
        help,
    }
}

/// Leading columns that are not settings.
const LEADING: usize = 3;
