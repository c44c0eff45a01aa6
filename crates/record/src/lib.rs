//! Probes that write files while a simulation runs: [`trace`] series, [`pcap`] packets.

pub mod guard;
pub mod pcap;
pub mod trace;

use std::io;

use scenario::PointSpec;
use sim::error::RunError;
use sim::metrics::Outcome;
use sim::run::{self, Limits};

use pcap::Capture;
use trace::Recorder;

/// What a simulation writes while it runs, if anything.
#[derive(Default)]
pub struct Recording {
    /// Series.
    pub series: Option<Recorder>,
    /// Packets.
    pub packets: Option<Capture>,
}

impl Recording {
    /// Simulates a point within `limits` and writes what there is to write.
    ///
    /// The result of the files comes first, since one that failed is why a simulation was stopped.
    ///
    /// # Panics
    /// As [`run::run`] does.
    pub fn simulate(
        self,
        limits: Limits<'_>,
        point: &PointSpec,
    ) -> io::Result<Result<Outcome, RunError>> {
        let mut probes = (self.series, self.packets);
        let outcome = match &mut probes {
            (None, None) => run::within(limits, point),
            probes => run::observe_within(limits, point, probes),
        };
        let (series, packets) = probes;
        packets.map_or(Ok(()), Capture::finish)?;
        series.map_or(Ok(()), Recorder::finish)?;
        Ok(outcome)
    }
}
