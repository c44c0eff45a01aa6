//! Probes that write files while a simulation runs: [`trace`] for series, [`pcap`] for packets, and [`perfetto`] for a
//! viewer of both.
//!
//! ```
//! use std::fs::{self, File};
//!
//! use record::Recording;
//! use record::trace::{self, Recorder, TracePlan};
//! use scenario::{Overrides, Scenario, Source};
//! use sim::run::Limits;
//!
//! let overrides = Overrides {
//!     sets: vec!["workload.senders=10".to_owned()],
//!     trace: Some("queue".to_owned()),
//!     ..Overrides::default()
//! };
//! let source = Source::builtin("incast").expect("a scenario that comes with the program");
//! let scenario = Scenario::load(source, &overrides).expect("settings that exist");
//! let point = &scenario.points()[0];
//!
//! let name = format!("tailwater-series-{}.parquet", std::process::id());
//! let path = std::env::temp_dir().join(name);
//! let plan = TracePlan::of(point).expect("the point records the queue");
//! let recording = Recording {
//!     series: Some(Recorder::new(&plan, point, File::create(&path)?)?),
//!     ..Recording::default()
//! };
//! let outcome = recording.simulate(Limits::NONE, point)?;
//! let outcome = outcome.expect("a simulation that balances its books");
//!
//! let mut rows = 0;
//! trace::read(&path, &mut |_| rows += 1)?;
//! assert!(rows > 0 && outcome.metrics.flows_completed == 10);
//! fs::remove_file(&path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod pcap;
pub mod perfetto;
pub mod theatre;
pub mod trace;

use std::io;
use std::path::PathBuf;

use plan::PointSpec;
use sim::divided;
use sim::error::RunError;
use sim::metrics::Outcome;
use sim::probe::Probe;
use sim::run::{Limits, Watching};

use pcap::Capture;
use perfetto::Perfetto;
use theatre::Theatre;
use trace::Recorder;

/// The files that a simulation writes while it runs.
#[derive(Default)]
pub struct Recording {
    /// Series.
    pub series: Option<Recorder>,
    /// Packets.
    pub packets: Option<Capture>,
    /// A trace for Perfetto.
    pub perfetto: Option<Perfetto>,
    /// The scene for a page to play, and its file, which is only made if something was dropped.
    pub theatre: Option<(Theatre, PathBuf)>,
    /// Whether completion times are broken down. No file is written for this.
    pub breakdown: bool,
}

impl Recording {
    /// Simulates a point within `limits` and writes its files.
    ///
    /// An error of a file is returned first, since it is the reason why the simulation stopped.
    ///
    /// # Panics
    /// See [`sim::run::run`].
    pub fn simulate(
        self,
        limits: Limits<'_>,
        point: &PointSpec,
    ) -> io::Result<Result<Outcome, RunError>> {
        let (theatre, scene) = self.theatre.unzip();
        let mut probes = ((self.series, theatre), (self.packets, self.perfetto));
        let probe: Option<&mut dyn Probe> = match &mut probes {
            ((None, None), (None, None)) => None,
            // Only series can be recorded in parts.
            ((Some(series), None), (None, None)) => Some(series),
            probes => Some(probes),
        };
        let watching = Watching {
            probe,
            breakdown: self.breakdown,
        };
        let outcome = divided::watch(limits, point, watching);
        let ((series, theatre), (packets, perfetto)) = probes;
        packets.map_or(Ok(()), Capture::finish)?;
        perfetto.map_or(Ok(()), Perfetto::finish)?;
        series.map_or(Ok(()), Recorder::finish)?;
        if let Some((theatre, scene)) = theatre.zip(scene) {
            theatre.finish(&scene)?;
        }
        Ok(outcome)
    }
}
