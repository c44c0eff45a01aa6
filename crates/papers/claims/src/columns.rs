//! The names in measures: metrics, columns of tables, series, events and equations.

use std::sync::LazyLock;

use plan::series;
use record::trace::EventKind;
use results::{ColumnType, Field};
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};

use super::leaf::listed;
use super::model;

/// Functions that read a name from a list.
macro_rules! names {
    ($($name:ident: $what:literal in $known:expr;)*) => {$(
        #[doc = concat!("Reads the name of a ", $what, ".")]
        pub(super) fn $name<'de, D>(from: D) -> Result<&'static str, D::Error>
        where
            D: Deserializer<'de>,
        {
            listed(from, $what, $known)
        }
    )*};
}

names! {
    metric: "metric" in sim::columns::METRICS.iter().map(|column| column.name);
    flow_column: "column of flows" in flow_columns().iter().map(|field| &*field.name).chain(DERIVED);
    port_column: "column of ports" in port_columns().iter().map(|field| &*field.name);
    quantity: "quantity of series" in series::all().iter().map(|quantity| quantity.name);
    event: "event" in EventKind::NAMES.into_iter();
    equation: "equation" in model::MODELS.iter().map(|model| model.name);
}

/// Reads the optional name of a quantity.
pub(super) fn other_quantity<'de, D>(from: D) -> Result<Option<&'static str>, D::Error>
where
    D: Deserializer<'de>,
{
    if !from.is_human_readable() {
        let name = Option::<String>::deserialize(from)?;
        let name = name.map(|name| quantity(name.into_deserializer()));
        return name.transpose();
    }
    quantity(from).map(Some)
}

/// Reads names of events.
pub(super) fn events<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<&'static str>, D::Error> {
    let names = Vec::<String>::deserialize(from)?.into_iter();
    names.map(|name| event(name.into_deserializer())).collect()
}

/// The numeric columns of flows, without their throughput.
pub(super) fn flow_columns() -> &'static [Field] {
    static COLUMNS: LazyLock<Vec<Field>> = LazyLock::new(|| numbers(results::flow_fields()));
    &COLUMNS
}

/// The numeric columns of ports.
pub(super) fn port_columns() -> &'static [Field] {
    static COLUMNS: LazyLock<Vec<Field>> = LazyLock::new(|| numbers(results::port_fields()));
    &COLUMNS
}

fn numbers(fields: Vec<Field>) -> Vec<Field> {
    let fields = fields.into_iter();
    fields
        .filter(|field| field.kind != ColumnType::Text)
        .collect()
}

/// The unit of a column.
pub(super) fn unit_of(fields: &[Field], name: &str) -> &'static str {
    let found = fields.iter().find(|field| field.name == name);
    found.map_or("", |field| field.unit)
}

/// Columns of flows that are computed from others.
pub(super) const DERIVED: [&str; 3] = [THROUGHPUT, GOODPUT, SEGMENTS];
/// A flow's size over its completion time.
pub(super) const THROUGHPUT: &str = "throughput_bps";
/// The arrived bytes of a flow over the time it ran, also for flows that have not completed or have no end.
pub(super) const GOODPUT: &str = "goodput_bps";
/// Number of segments of a flow's payload; the last may be short.
pub(super) const SEGMENTS: &str = "segments";
