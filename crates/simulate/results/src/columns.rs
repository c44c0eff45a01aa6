//! The columns of `flows.parquet` and `ports.parquet`, each declared once for writing and reading, and the leading
//! columns of every table.

use std::io::{self, Write};

use base::cast::real;
use base::setting::described;
use base::{Count, Quantity, Rate, SizeUnit, Span, WireSize};
use plan::{PointSpec, keys};
use scenario::Scenario;
use sim::metrics::{FlowFailure, FlowRecord, Measured, PortRecord};
use tables::{Cell, ColumnType, Field, ReadRow, TableWriter};

/// The leading columns of every table, which identify the point.
pub(super) struct Leading {
    fields: Vec<Field>,
}

impl Leading {
    /// A column for every setting that the scenario shows.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut fields = leading_fields();
        for (index, key) in scenario.set_keys().iter().enumerate() {
            let points = scenario.points().iter();
            let texts = points.map(|point| point.set[index].1.as_str());
            fields.push(setting_field(key, texts));
        }
        Self { fields }
    }

    /// The columns.
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Their cells in all rows of a point.
    pub(super) fn cells<'a>(&'a self, point: &'a PointSpec) -> impl Iterator<Item = Cell<'a>> {
        let keys = self.fields[LEADING..].iter().zip(&point.set);
        let keys = keys.map(|(field, (key, text))| setting_cell(field, key, text));
        // A seed beyond 63 bits wraps, because tables have signed numbers. Equal seeds stay equal.
        let first = [
            Cell::Int(index(point.index)),
            Cell::Text(&point.scheme),
            Cell::Int(point.seed.cast_signed()),
        ];
        first.into_iter().chain(keys)
    }
}

/// The column of a setting with these values: it has numbers if all values but words such as "off" are numbers.
pub(super) fn setting_field<'a>(key: &str, texts: impl Iterator<Item = &'a str> + Clone) -> Field {
    let help =
        "Value of the setting of this name; missing where it is a word among numbers, such as off.";
    let (kind, unit) = if texts.clone().all(|text| text.parse::<i64>().is_ok()) {
        (ColumnType::Int64, "")
    } else {
        unit_of(texts.clone(), key)
            .map_or((ColumnType::Text, ""), |unit| (ColumnType::Double, unit))
    };
    let mut texts = texts;
    let words = kind == ColumnType::Double && texts.any(|text| measured(text, key).is_none());
    Field {
        name: key.to_owned(),
        optional: words,
        ..field("", kind, unit, help)
    }
}

/// A value of a setting in its column.
pub(super) fn setting_cell<'a>(field: &Field, key: &str, text: &'a str) -> Cell<'a> {
    match field.kind {
        ColumnType::Int64 => Cell::Int(text.parse().expect("all values are whole numbers")),
        ColumnType::Double => {
            measured(text, key).map_or(Cell::Null, |(value, _)| Cell::Double(value))
        }
        _ => Cell::Text(text),
    }
}

/// The common unit of all values of a setting, if all but words such as "off" are numbers.
fn unit_of<'a>(texts: impl Iterator<Item = &'a str>, key: &str) -> Option<&'static str> {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut common = None;
    for text in texts {
        match measured(text, key) {
            Some((_, unit)) if *common.get_or_insert(unit) == unit => {}
            None if is_word(text) => {}
            _ => return None,
        }
    }
    common
}

/// The value of a setting as a number in the unit of results: microseconds, bit/s, bytes or packets.
fn measured(text: &str, key: &str) -> Option<(f64, &'static str)> {
    let name = key.rsplit('.').take(2).collect::<Vec<_>>();
    let name = [name.get(1).copied().unwrap_or_default(), name[0]].join(".");
    let counts = keys::key(&name).is_some_and(|key| (key.expected)().contains("whole number"));
    if let (true, Ok(Count(count))) = (counts, Count::parse(text)) {
        return Some((count.into(), ""));
    }
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some((number, ""));
    }
    if let Ok(span) = Span::parse(text) {
        return Some((real(span.as_ps()) / 1e6, "us"));
    }
    let rate = || Some((real(Rate::parse(text).ok()?.as_bps()), "bit/s"));
    let size = || {
        let size = WireSize::parse(text).ok()?;
        let unit = match size.unit {
            SizeUnit::Byte => "bytes",
            SizeUnit::Packet => "packets",
        };
        Some((real(size.amount), unit))
    };
    // "10G" is a rate or a size. The key tells which; this also holds for a key of a single link, which is not
    // declared.
    if key.ends_with("rate") {
        rate().or_else(size)
    } else {
        size().or_else(rate)
    }
}

/// The leading columns that every table has.
pub(super) fn leading_fields() -> Vec<Field> {
    vec![
        field(
            "point",
            ColumnType::Int32,
            "",
            "Number of the simulation within the sweep.",
        ),
        field("scheme", ColumnType::Text, "", "Scheme or variant."),
        field("seed", ColumnType::Int64, "", "Seed of the random streams."),
    ]
}

/// The columns of a row after the leading ones.
pub(super) trait Record: Sized {
    /// The columns.
    fn fields() -> Vec<Field>;
    /// Their names.
    fn names() -> Vec<String>;
    /// A cell for each column.
    fn cells(&self) -> impl Iterator<Item = Cell<'_>>;
    /// The record with these cells, in the order of the columns.
    fn read<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Self;
}

/// Declares a column for each field of a record, with its name, unit and description. The type of the field determines
/// the column's type and whether values may be missing.
macro_rules! columns {
    ($record:ident { $($name:ident: $unit:literal, $help:literal;)+ } $(then $parts:ident)?) => {
        impl Record for $record {
            fn fields() -> Vec<Field> {
                let fields = [$(field_of(
                    |record: &Self| &record.$name,
                    stringify!($name),
                    $unit,
                    const { described($help) },
                )),+];
                fields.into_iter()$(.chain($parts::fields()))?.collect()
            }

            fn names() -> Vec<String> {
                let names = [$(stringify!($name)),+].map(str::to_owned);
                names.into_iter()$(.chain($parts::names()))?.collect()
            }

            fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
                [$(self.$name.cell()),+].into_iter()$(.chain($parts::cells(self)))?
            }

            fn read<'a>(mut cells: impl Iterator<Item = Cell<'a>>) -> Self {
                Self {
                    $($name: Value::of(cells.next().unwrap_or(Cell::Null)),)+
                    $($parts: $parts::read(cells),)?
                }
            }
        }
    };
}

columns! {
    FlowRecord {
        flow: "", "Number of the flow within its simulation.";
        group: "", "Name of its group of flows; empty if the scenario has none.";
        connection: "", "Number of its connection, by which series name it; of flows with connections of their own in the order of flows.";
        round: "", "Number of its round within its simulation: all flows of an incast to one receiver, of a burst that starts at once, or of the requests that a client answers before its next round; missing where flows have no rounds.";
        waited_for: "", "Number of the flow whose end let this one start: of those that it waited for the one that was last, its delay included; missing for flows that wait for no other, as in workload.kind = \"collective\" or in the column after of a trace.";
        sender: "", "Sending host.";
        receiver: "", "Receiving host.";
        size_bytes: "bytes", "Payload; missing for a flow without end.";
        received_bytes: "bytes", "Payload that arrived in order.";
        start_us: "us", "Start at the application, on the clock of the simulation.";
        first_byte_us: "us", "First payload at the receiver, in order or not.";
        completion_us: "us", "Last byte in order at the receiver; missing if that did not happen.";
        fct_us: "us", "Flow completion time: from start to completion, the handshake included.";
        slowdown: "", "fct_us over the time that the flow would take alone in the network, which is fct_us / slowdown: its handshake and its request, if it has them, its bytes with their headers through the slowest link of its path, and the delays. Windows, timers and pauses of the application are no part of that time.";
        acknowledged_us: "us", "From start until the ACK of the last byte, and of the FIN behind it, was at the sender; missing for flows that others follow on their connection.";
        buffered_us: "us", "From start until the bytes of workload.first_write, or the whole flow if that is less, were in order at the receiver; missing without workload.first_write.";
        packets: "segments", "Segments with data or FIN sent by both ends, those sent again included.";
        retransmissions: "segments", "Segments sent again.";
        after_timeout: "segments", "Segments sent again after a timeout rather than in a fast recovery: losses that nothing else repaired, and what went with them.";
        timeouts: "events", "Retransmission timers that expired with data or a FIN outstanding.";
        tail_timeouts: "events", "Timeouts with everything sent and at most the last three segments unacknowledged: too few for duplicate ACKs to tell of a loss.";
        syn_timeouts: "events", "Timers of the handshake that expired: a SYN or SYN-ACK, or what answers it, was lost.";
        tail_probes: "events", "Probes of the last segments of a flight, sent by a timer because no ACK came.";
        window_probes: "events", "Probes of a closed window of the receiver, sent by the persist timer.";
        drops: "packets", "Packets of it that were dropped, in both directions.";
        late: "", "Whether it took longer than workload.deadline, complete or not.";
        failed: "", "Whether the connection gave up or was reset.";
        failure: "", "Why it failed: host_gone if the host at one end had disappeared, handshake or retries if nobody answered its SYN or acknowledged its data (tcp.syn_retries, tcp.retries), reset if the other end reset it; missing for a flow that did not fail.";
        pfc_victim: "", "Whether its connection waited for a pause although nothing waited at the port that it went on to: it paid for others; missing without switch.pfc.";
    }
    then breakdown
}

/// The columns for the parts of a completion time. They are empty if it was not broken down.
mod breakdown {
    use sim::breakdown::{Breakdown, Part};
    use sim::columns;
    use sim::metrics::FlowRecord;
    use tables::{Cell, ColumnType, Field};

    use super::{Value, field};

    pub(super) fn fields() -> impl Iterator<Item = Field> {
        let parts = names().zip(columns::PART_HELP);
        parts.map(|(name, help)| Field {
            optional: true,
            ..field(&name, ColumnType::Int64, "ps", help)
        })
    }

    pub(super) fn names() -> impl Iterator<Item = String> {
        let parts = Part::ALL.into_iter();
        parts.map(|part| format!("{}_ps", part.name()))
    }

    pub(super) fn cells(flow: &FlowRecord) -> impl Iterator<Item = Cell<'_>> {
        let breakdown = flow.breakdown.as_deref();
        Part::ALL.into_iter().map(move |part| {
            breakdown.map_or(Cell::Null, |all| Cell::Int(all.get(part).cast_signed()))
        })
    }

    pub(super) fn read<'a>(cells: impl Iterator<Item = Cell<'a>>) -> Option<Box<Breakdown>> {
        let mut parts = [0; 8];
        for (part, cell) in parts.iter_mut().zip(cells) {
            *part = Option::<u64>::of(cell)?;
        }
        Some(Box::new(Breakdown::of(parts)))
    }
}

columns! {
    PortRecord {
        port: "", "Number of the port.";
        tier: "", "Tier of the port: host, leaf up, leaf down, spine; of other networks alike.";
        from: "", "Node that the port belongs to.";
        to: "", "Node at the other end of its wire.";
        bottleneck: "", "Whether it is the bottleneck that the metrics describe.";
        packets: "packets", "Packets accepted.";
        bytes: "bytes", "Bytes accepted, headers included.";
        drops: "packets", "Packets dropped, those lost by bottleneck.loss, switch.loss or topology.faults included.";
        drops_pool: "packets", "Those of them for which the shared buffer of the switch was full.";
        drops_threshold: "packets", "Those whose queue held its share of that buffer.";
        drops_headroom: "packets", "Those of lossless packets, for which the headroom was full.";
        drops_fault: "packets", "Those lost by topology.faults: on the wire behind the port, while it waited for its link, or when it came to a link that was down.";
        marks: "packets", "Packets marked with congestion experienced (ECN).";
        threshold_crossings: "packets", "Arrivals that met a queue at or above the marking threshold, ECN-capable or not.";
        queue_mean_bytes: "bytes", "Mean queue, weighted by time, from first start to last completion; the packet in service is excluded.";
        queue_p50_bytes: "bytes", "Median queue, weighted by time.";
        queue_p95_bytes: "bytes", "95th percentile of the queue, weighted by time.";
        queue_p99_bytes: "bytes", "99th percentile of the queue, weighted by time.";
        queue_max_bytes: "bytes", "Longest queue.";
        pauses: "events", "How often the node behind the wire paused a priority here.";
        paused_us: "us", "For how long, all priorities together.";
        deadlock: "", "Place in a deadlock, from 1: the port is paused by what waits at the next one; 0 if it is in none.";
    }
}

/// A table with one row per flow or per port, for every point.
pub(super) struct Records<W: Write + Send> {
    leading: Leading,
    table: TableWriter<W>,
}

impl<W: Write + Send> Records<W> {
    pub(super) fn new(out: W, scenario: &Scenario, fields: Vec<Field>) -> io::Result<Self> {
        let leading = Leading::of(scenario);
        let creator = format!("tailwater {}", sim::VERSION);
        let all: Vec<Field> = leading.fields.iter().cloned().chain(fields).collect();
        Ok(Self {
            leading,
            table: TableWriter::new(out, &all, &creator)?,
        })
    }

    pub(super) fn row(&mut self, point: &PointSpec, record: &impl Record) -> io::Result<()> {
        self.table
            .row(self.leading.cells(point).chain(record.cells()))
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.table.finish()
    }
}

/// The point and the record of a row whose leading columns end before `first`.
pub(super) fn read<R: Record>(row: &ReadRow<'_>, first: usize) -> (u32, R) {
    let cells = (first..).map(|column| row.cell(column));
    (u32::of(row.cell(0)), R::read(cells))
}

/// Calls `each` with the cells of these columns for every record of every point, in order; the column `point` is the
/// number of the point. A column that the records lack is null.
pub(super) fn rows<'a, R: Record + 'a>(
    points: impl Iterator<Item = &'a [R]>,
    columns: &[&str],
    each: &mut dyn FnMut(&[Cell<'_>]),
) {
    let names = R::names();
    let place = |column: &&str| names.iter().position(|name| name == column);
    let places: Vec<Option<usize>> = columns.iter().map(place).collect();
    let mut chosen = Vec::with_capacity(columns.len());
    for (point, records) in (0..).zip(points) {
        for record in records {
            let cells: Vec<Cell<'_>> = record.cells().collect();
            let row = columns.iter().zip(&places);
            chosen.extend(row.map(|(column, place)| match place {
                Some(place) => cells[*place],
                None if *column == "point" => Cell::Int(point),
                None => Cell::Null,
            }));
            each(&chosen);
            chosen.clear();
        }
    }
}

/// A type of fields of records.
trait Value: Sized {
    const KIND: ColumnType;
    const OPTIONAL: bool = false;

    fn cell(&self) -> Cell<'_>;

    /// The value of a cell; `None` if the cell has another type.
    fn of(cell: Cell<'_>) -> Self;
}

impl Value for u32 {
    const KIND: ColumnType = ColumnType::Int32;

    fn cell(&self) -> Cell<'_> {
        Cell::Int((*self).into())
    }

    fn of(cell: Cell<'_>) -> Self {
        u64::of(cell).try_into().unwrap_or_default()
    }
}

impl Value for u64 {
    const KIND: ColumnType = ColumnType::Int64;

    /// Counts and bytes of a simulation stay far below 2^63.
    fn cell(&self) -> Cell<'_> {
        Cell::Int(self.cast_signed())
    }

    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Int(value) => value.cast_unsigned(),
            _ => 0,
        }
    }
}

impl Value for f64 {
    const KIND: ColumnType = ColumnType::Double;

    fn cell(&self) -> Cell<'_> {
        Cell::Double(*self)
    }

    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Double(value) => value,
            _ => Self::NAN,
        }
    }
}

impl Value for Measured {
    const KIND: ColumnType = ColumnType::Double;
    const OPTIONAL: bool = true;

    fn cell(&self) -> Cell<'_> {
        self.get().map_or(Cell::Null, Cell::Double)
    }

    fn of(cell: Cell<'_>) -> Self {
        let time = match cell {
            Cell::Double(time) => Some(time),
            _ => None,
        };
        time.into()
    }
}

impl Value for bool {
    const KIND: ColumnType = ColumnType::Bool;

    fn cell(&self) -> Cell<'_> {
        Cell::Bool(*self)
    }

    fn of(cell: Cell<'_>) -> Self {
        cell == Cell::Bool(true)
    }
}

impl Value for FlowFailure {
    const KIND: ColumnType = ColumnType::Text;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.name())
    }

    fn of(cell: Cell<'_>) -> Self {
        let known = Self::ALL.into_iter();
        let mut named = known.filter(|failure| cell == Cell::Text(failure.name()));
        named.next().unwrap_or(Self::Reset)
    }
}

impl Value for String {
    const KIND: ColumnType = ColumnType::Text;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }

    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Text(text) => text.to_owned(),
            _ => Self::new(),
        }
    }
}

impl<V: Value> Value for Option<V> {
    const KIND: ColumnType = V::KIND;
    const OPTIONAL: bool = true;

    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, V::cell)
    }

    fn of(cell: Cell<'_>) -> Self {
        (cell != Cell::Null).then(|| V::of(cell))
    }
}

fn index(index: usize) -> i64 {
    i64::try_from(index).expect("points have small numbers")
}

fn field(name: &str, kind: ColumnType, unit: &'static str, help: &'static str) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        optional: false,
        unit,
        help,
    }
}

fn field_of<R, V: Value>(
    _: fn(&R) -> &V,
    name: &str,
    unit: &'static str,
    help: &'static str,
) -> Field {
    Field {
        optional: V::OPTIONAL,
        ..field(name, V::KIND, unit, help)
    }
}

/// Leading columns that are not settings.
const LEADING: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units_are_numbers_in_the_units_of_results() {
        for (key, text, expected) in [
            ("link.delay", "40us", (40.0, "us")),
            ("tcp.min_rto", "1.5ms", (1500.0, "us")),
            ("link.rate", "10Gbit", (1e10, "bit/s")),
            ("link.rate", "25G", (25e9, "bit/s")),
            ("link.\"leaf 0 to spine 1\".rate", "25G", (25e9, "bit/s")),
            ("switch.buffer", "64K", (64e3, "bytes")),
            ("switch.buffer", "64KB", (64e3, "bytes")),
            ("switch.buffer", "80pkt", (80.0, "packets")),
            ("workload.flows", "2k", (2000.0, "")),
            ("group.a.workload.size", "2k", (2000.0, "bytes")),
            ("workload.load", "0.6", (0.6, "")),
        ] {
            assert_eq!(measured(text, key), Some(expected), "{text}");
        }
        assert_eq!(measured("pareto(1KB,2,3KB)", "workload.size"), None);
    }

    #[test]
    fn an_axis_is_a_column_of_numbers_if_its_values_have_one_unit() {
        let unit = |texts: &[&str]| unit_of(texts.iter().copied(), "switch.ecn_threshold");
        assert_eq!(unit(&["off", "20KB", "40KB"]), Some("bytes"));
        assert_eq!(unit(&["20pkt", "40KB"]), None);
        assert_eq!(unit(&["off"]), None);
        assert_eq!(unit(&["20KB", "other (thing)"]), None);
    }
}
