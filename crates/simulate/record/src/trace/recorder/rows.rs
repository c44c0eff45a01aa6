//! Rows on their way to the file.

use std::io;

use crate::trace::rows::{Block, Event, GROUP, Sample, Sink, Subject};

/// Rows of a row group that is not full yet. A full group is written at once. If that fails, the first failure is kept
/// and later rows are dropped.
pub(in crate::trace) struct Rows {
    blocks: Vec<Block>,
    events: Vec<Event>,
    pending: usize,
    /// `None` if rows are only kept until another recorder writes them.
    sink: Option<Box<dyn Sink>>,
    failure: Option<io::Error>,
}

impl Rows {
    pub(in crate::trace) fn new(sink: Box<dyn Sink>) -> Self {
        Self {
            blocks: Vec::new(),
            events: Vec::new(),
            pending: 0,
            sink: Some(sink),
            failure: None,
        }
    }

    /// Has no place for rows: the recorded data is handed over before it becomes rows.
    pub(in crate::trace) const fn detached() -> Self {
        Self {
            blocks: Vec::new(),
            events: Vec::new(),
            pending: 0,
            sink: None,
            failure: None,
        }
    }

    /// Adds a block for samples of a quantity, and returns its number.
    pub(in crate::trace) fn add(&mut self, quantity: usize, subject: Subject) -> usize {
        self.blocks.push(Block {
            quantity,
            subject,
            samples: Vec::new(),
        });
        self.blocks.len() - 1
    }

    #[inline]
    pub(in crate::trace) fn push(&mut self, block: usize, sample: Sample) {
        self.blocks[block].samples.push(sample);
        self.count();
    }

    pub(in crate::trace) fn event(&mut self, event: Event) {
        self.events.push(event);
        self.count();
    }

    #[inline]
    fn count(&mut self) {
        self.pending += 1;
        if self.pending == GROUP {
            self.flush();
        }
    }

    #[cold]
    fn flush(&mut self) {
        if let (None, Some(sink)) = (&self.failure, &mut self.sink) {
            self.failure = sink.write(&self.blocks, &self.events).err();
        }
        for block in &mut self.blocks {
            block.samples.clear();
        }
        self.events.clear();
        self.pending = 0;
    }

    /// Whether rows have been dropped.
    pub(in crate::trace) const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(in crate::trace) fn finish(mut self) -> io::Result<()> {
        self.flush();
        match self.failure {
            Some(failure) => Err(failure),
            None => self.sink.map_or(Ok(()), Sink::finish),
        }
    }
}
