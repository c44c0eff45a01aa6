//! Flows one by one, as somebody observed them or another run had them: `workload.kind = "trace"`.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds: a number of any form, or a date |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts, or addresses or other names |
//! | `open_us` | optional: when the connection of the flow opens, if not with its first flow |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//! | `round` | optional: flows with the same number are awaited together |
//!
//! Other columns are passed over, and `workload.columns` may name other columns and units. Six decimals of a microsecond are picoseconds, the resolution of the simulator's
//! clock, so that a trace gives back exactly the flows that it was written from.

use std::sync::{Arc, OnceLock};

use base::{Quantity, QuantityError};
use tables::flows;
pub use tables::flows::{ColumnNames, FlowTrace, HostNames, Reading, TraceWindow, TracedFlow};

use crate::suggest;
pub(crate) use flows::is_path;

/// A trace that comes with the program.
#[derive(Debug)]
pub struct BuiltinTrace {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it holds.
    pub help: &'static str,
    text: &'static str,
}

/// The traces that come with the program.
pub const BUILTINS: &[BuiltinTrace] = &[BuiltinTrace {
    name: "rack",
    help: "300 flows of 21 hosts in 0.1 s: five reads from 20 servers each, in the group reads, beside 200 flows in the group others.",
    text: include_str!("../workloads/rack-trace.csv"),
}];

/// The value of `workload.trace`: the name of a trace that comes with the program, or the path of a file.
///
/// A file is read when all settings are known: others say how, and another value may take its place before.
#[derive(Clone, Debug)]
pub struct TraceChoice {
    source: TraceSource,
    content: Option<Arc<FlowTrace>>,
}

#[derive(Clone, Debug)]
enum TraceSource {
    Builtin(&'static BuiltinTrace),
    File(String),
}

impl TraceChoice {
    /// A trace that is known already, read from nowhere.
    pub fn known(trace: Arc<FlowTrace>) -> Self {
        Self {
            source: TraceSource::File(String::new()),
            content: Some(trace),
        }
    }

    /// Its flows.
    ///
    /// # Panics
    /// If `workload.kind` is none that has a trace.
    pub fn content(&self) -> &FlowTrace {
        self.content
            .as_ref()
            .expect("the settings of a trace have read it")
    }

    /// Reads them as `reading` says.
    pub(crate) fn read(&mut self, reading: &Reading) -> Result<(), String> {
        self.content = Some(match &self.source {
            TraceSource::File(path) => FlowTrace::open(path, reading)?,
            TraceSource::Builtin(builtin) => builtin.read(reading)?,
        });
        Ok(())
    }
}

impl BuiltinTrace {
    /// The trace.
    ///
    /// # Panics
    /// If its text is not correct; a test reads every one.
    pub fn trace(&self) -> Arc<FlowTrace> {
        static RACK: OnceLock<Arc<FlowTrace>> = OnceLock::new();
        let read = || Arc::new(self.of(&Reading::default()).expect("a correct trace"));
        Arc::clone(RACK.get_or_init(read))
    }

    /// The trace as `reading` takes it, which without further settings is the same for all.
    fn read(&self, reading: &Reading) -> Result<Arc<FlowTrace>, String> {
        if reading.window == TraceWindow::default() && reading.max_gap.is_none() {
            return Ok(self.trace());
        }
        let usual = Reading {
            columns: ColumnNames::default(),
            hosts: HostNames::default(),
            ..reading.clone()
        };
        self.of(&usual).map(Arc::new)
    }

    fn of(&self, reading: &Reading) -> Result<FlowTrace, String> {
        FlowTrace::of_csv(self.name, self.text.as_bytes(), reading)
    }
}

impl Quantity for TraceChoice {
    fn expected() -> String {
        let names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        format!(
            "the name of a trace ({}), or the path of a file that ends in .csv or .parquet",
            names.join(", ")
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == text) {
            return Ok(Self {
                source: TraceSource::Builtin(builtin),
                content: None,
            });
        }
        if is_path(text) {
            return Ok(Self {
                source: TraceSource::File(text.to_owned()),
                content: None,
            });
        }
        let names = BUILTINS.iter().map(|builtin| builtin.name);
        let nearest = suggest::did_you_mean(text, names);
        Err(QuantityError {
            message: format!(
                "there is no trace {text:?}; {nearest}expected {}",
                Self::expected()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overrides, Problems, Scenario, Source};

    #[test]
    fn traces_of_the_program_are_correct() {
        for builtin in BUILTINS {
            let trace = builtin.trace();
            assert!(trace.flows().len() > 100);
            assert!(builtin.help.starts_with(&trace.flows().len().to_string()));
        }
    }

    /// A folder with files, as CSV.
    fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("tailwater-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        folder
    }

    fn load(folder: &std::path::Path, workload: &str, sets: &[&str]) -> Result<Scenario, Problems> {
        let text = format!("schemes = \"newreno\"\n[workload]\nkind = \"trace\"\n{workload}");
        let name = folder.join("mine.toml").to_string_lossy().into_owned();
        let overrides = Overrides {
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        Scenario::load(Source::new(name, text), &overrides)
    }

    fn starts(scenario: &Scenario) -> Vec<u64> {
        let trace = scenario.points()[0].groups[0].keys.workload.trace.content();
        let flows = trace.flows().iter();
        flows.map(|flow| flow.start.as_ps() / 1_000_000).collect()
    }

    const COLLECTED: &str = "ts,bytes,src,dst\n1700000000.5,1000,10.0.0.1,10.0.0.2\n1700007200,5000,10.0.0.3,10.0.0.2\n";

    #[test]
    fn columns_are_a_table_or_a_text() {
        let folder = folder("columns", &[("flows.csv", COLLECTED)]);
        let table = "trace = \"flows.csv\"\n[workload.columns]\nstart = \"ts in s\"\nsize = \"bytes\"\nsender = \"src\"\n\
                     receiver = \"dst\"\n";
        let from_table = load(&folder, table, &[]).unwrap();
        assert_eq!(starts(&from_table), [10_000, 7_199_510_000]);
        let set = "workload.columns=start=ts in s+size=bytes+sender=src+receiver=dst";
        let from_text = load(&folder, "trace = \"flows.csv\"\n", &[set]).unwrap();
        assert_eq!(starts(&from_text), starts(&from_table));
        let one = load(&folder, table, &["workload.columns.size=octets"])
            .err()
            .unwrap();
        let remedy = one.0[0].remedy().unwrap();
        assert!(
            remedy.contains("as in workload.columns=\"size=NAME\""),
            "{remedy}"
        );
        // What is written out reads back, and says who is who.
        let resolved = from_table.resolved();
        assert!(resolved.contains("host 2 is 10.0.0.3"), "{resolved}");
        let again = Source::new(folder.join("again.toml").to_string_lossy(), resolved);
        assert_eq!(
            starts(&Scenario::load(again, &Overrides::default()).unwrap()),
            starts(&from_table)
        );
        assert_eq!(from_table.notes().len(), 2);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_window_and_shorter_gaps_are_settings_that_can_be_swept() {
        let folder = folder("windows", &[("flows.csv", COLLECTED)]);
        let columns = "trace = \"flows.csv\"\ncolumns = \"start=ts in s+size=bytes+sender=src+receiver=dst\"\n";
        let part = load(
            &folder,
            columns,
            &["workload.window=1h..", "workload.start=2ms"],
        )
        .unwrap();
        assert_eq!(starts(&part), [3_599_502_000]);
        let short = load(&folder, columns, &["workload.max_gap=1s,2s"]).unwrap();
        assert_eq!(short.points().len(), 2);
        assert_eq!(starts(&short), [10_000, 1_010_000]);
        let wrong = load(&folder, columns, &["workload.window=3h.."])
            .err()
            .unwrap();
        assert!(
            wrong.0[0]
                .to_string()
                .contains("no flow starts in workload.window"),
            "{}",
            wrong.0[0]
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_argument_replaces_the_trace_of_the_file_before_that_is_read() {
        let good = "start_us,size_bytes,sender,receiver\n7,1,0,1\n";
        let folder = folder("replaced", &[("good.csv", good), ("bad.csv", "nonsense\n")]);
        let good = format!(
            "workload.trace={}",
            folder.join("good.csv").to_string_lossy()
        );
        for own in ["bad.csv", "missing.csv"] {
            let own = format!("trace = \"{own}\"\n");
            assert_eq!(starts(&load(&folder, &own, &[&good]).unwrap()), [7]);
            let refused = load(&folder, &own, &[]).err().unwrap();
            assert!(
                refused.0[0]
                    .to_string()
                    .starts_with("wrong value for workload.trace"),
                "{}",
                refused.0[0]
            );
            // The place is that of the value.
            assert!(refused.0[0].spot().is_some());
        }
        // A trace that nothing uses is not read either.
        let unused = load(
            &folder,
            "trace = \"missing.csv\"\n",
            &["workload.kind=incast"],
        );
        assert!(unused.is_ok());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
