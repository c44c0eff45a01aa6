//! A series file of observations from outside the simulator.

use base::cast::whole;
use std::fs::File;
use std::io;

use fabric::PortId;
use plan::PointSpec;
use plan::series;

use super::file::SeriesFile;
use super::plan::TracePlan;
use super::recorder::{Meter, Rows, counted};
use super::rows::{Event, EventKind, Sample, Subject};

/// Writes the rows of a point from reported observations.
///
/// Rows of one port or flow must come in the order of time, as in any series file. Observations that the [`TracePlan`]
/// of the point does not record are ignored.
pub struct ObservedSeries {
    rows: Rows,
    /// The block of queues, if they are recorded.
    queue: Option<usize>,
    throughput: Option<Meter>,
    /// Whether each flow is recorded.
    flows: Vec<bool>,
    events: bool,
}

impl ObservedSeries {
    /// A series file of `point` in `file`, which is empty.
    pub fn new(plan: &TracePlan, point: &PointSpec, file: File) -> io::Result<Self> {
        let file = SeriesFile::new(point.index, &plan.quantities, file)?;
        let mut rows = Rows::new(Box::new(file));
        let place = |name| {
            let mut quantities = plan.quantities.iter();
            quantities.position(|quantity| quantity.name == name)
        };
        let queue = place(series::QUEUE).map(|place| rows.add(place, Subject::Port));
        let throughput = place(series::THROUGHPUT).map(|place| {
            let block = rows.add(place, Subject::Flow);
            let window = point.keys.trace.window;
            Meter::new(block, plan.interval, window, counted(&plan.flows))
        });
        Ok(Self {
            queue,
            throughput,
            flows: plan.flows.clone(),
            events: plan.events,
            rows,
        })
    }

    /// From this time on, this many bytes wait at `port`.
    pub fn queue(&mut self, port: PortId, time_us: f64, bytes: f64) {
        if let Some(block) = self.queue {
            let sample = Sample {
                time: picoseconds(time_us),
                id: port.0,
                value: bytes,
            };
            self.rows.push(block, sample);
        }
    }

    /// The application has read this many more bytes of a flow at this time.
    pub fn arrived(&mut self, flow: u32, time_us: f64, bytes: u64) {
        if let Some(meter) = &mut self.throughput
            && self.flows.get(flow as usize) == Some(&true)
        {
            meter.add(&mut self.rows, flow, picoseconds(time_us), bytes);
        }
    }

    /// Records an event of a flow.
    pub fn event(&mut self, kind: EventKind, flow: u32, time_us: f64) {
        if self.events {
            self.rows.event(Event {
                time: picoseconds(time_us),
                kind,
                flow,
                port: None,
                cause: None,
            });
        }
    }

    /// Writes the remaining rows and ends the file. Fails if writing failed now or before.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(meter) = self.throughput {
            meter.finish(&mut self.rows);
        }
        self.rows.finish()
    }
}

fn picoseconds(time_us: f64) -> u64 {
    whole((time_us * 1e6).round())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trace::read;
    use scenario::{Overrides, Scenario, Source};

    #[test]
    fn what_is_told_is_read_back() {
        let path = std::env::temp_dir().join(format!("tailwater-told-{}", std::process::id()));
        let rows = |series: &str| {
            let overrides = Overrides {
                sets: vec![
                    format!("trace.series={series}"),
                    "trace.interval=change".to_owned(),
                    "trace.window=100us".to_owned(),
                ],
                ..Overrides::default()
            };
            let source = Source::builtin("incast").unwrap();
            let scenario = Scenario::load(source, &overrides).unwrap();
            let point = &scenario.points()[0];
            let plan = TracePlan::of(point).unwrap();
            let mut told = ObservedSeries::new(&plan, point, File::create(&path).unwrap()).unwrap();
            told.queue(PortId(3), 1.5, 700.0);
            told.event(EventKind::Timeout, 2, 7.25);
            // In three windows of 100 us; nothing arrives in the second.
            for (time_us, bytes) in [(110.0, 1000), (190.0, 250), (300.0, 125)] {
                told.arrived(1, time_us, bytes);
            }
            told.arrived(u32::MAX, 400.0, 1);
            told.finish().unwrap();
            let mut rows = Vec::new();
            read(&path, &mut |row| {
                let value = row.values.first().map(|(_, value)| *value);
                let event = row.event.map(str::to_owned);
                rows.push((row.time_us, row.port, row.flow, event, value));
            })
            .unwrap();
            fs::remove_file(&path).unwrap();
            rows
        };
        let queue = (1.5, Some(3), None, None, Some(700.0));
        let timeout = (7.25, None, Some(2), Some("timeout".to_owned()), None);
        assert_eq!(rows("queue,events"), [queue.clone(), timeout]);
        assert_eq!(rows("queue"), [queue], "events are not recorded");
        let window = |time_us, bps| (time_us, None, Some(1), None, Some(bps));
        let windows = [window(100.0, 1e8), window(200.0, 0.0), window(300.0, 1e7)];
        assert_eq!(rows("throughput"), windows, "of flows of the plan");
    }
}
