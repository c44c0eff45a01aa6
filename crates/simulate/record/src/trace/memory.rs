//! Series in memory, for programs that have no files.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use fabric::DropReason;

use super::file::micros;
use super::plan::TracePlan;
use super::read::SeriesRow;
use super::rows::{Block, Event, EventKind, Sink, Subject};

/// The rows that a [`Recorder`](super::Recorder) has recorded for a point. Clones share the rows.
#[derive(Clone, Debug)]
pub struct Series {
    point: u32,
    /// Names of the quantities, by block number.
    names: Vec<&'static str>,
    groups: Arc<Mutex<Vec<RowGroup>>>,
}

#[derive(Debug)]
struct RowGroup {
    blocks: Vec<Block>,
    events: Vec<Event>,
}

impl Series {
    /// An empty series of the point with this number.
    pub fn new(plan: &TracePlan, point: u32) -> Self {
        Self {
            point,
            names: plan.quantities.iter().map(|own| own.name).collect(),
            groups: Arc::default(),
        }
    }

    /// Calls `each` with every row, in the order of a series file.
    pub fn each(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        for group in groups.iter() {
            for block in &group.blocks {
                let name = self.names[block.quantity];
                for sample in &block.samples {
                    let about = |subject| (block.subject == subject).then_some(sample.id);
                    each(&SeriesRow {
                        point: self.point,
                        time_us: micros(sample.time),
                        port: about(Subject::Port),
                        flow: about(Subject::Flow),
                        host: about(Subject::Host),
                        event: None,
                        cause: None,
                        values: &[(name, sample.value)],
                    });
                }
            }
            for event in &group.events {
                each(&SeriesRow {
                    point: self.point,
                    time_us: micros(event.time),
                    port: event.port,
                    flow: Some(event.flow),
                    host: None,
                    event: Some(EventKind::NAMES[event.kind as usize]),
                    cause: event.cause.map(DropReason::name),
                    values: &[],
                });
            }
        }
    }

    pub(super) fn sink(&self) -> Box<dyn Sink> {
        Box::new(self.clone())
    }
}

impl Sink for Series {
    fn write(&mut self, blocks: &[Block], events: &[Event]) -> io::Result<()> {
        let group = RowGroup {
            blocks: blocks.to_vec(),
            events: events.to_vec(),
        };
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.push(group);
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}
