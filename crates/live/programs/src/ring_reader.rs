//! Reads the reports of kernel programs from a ring.

use std::cell::RefCell;
use std::rc::Rc;

use libbpf_rs::{MapHandle, RingBuffer, RingBufferBuilder};

use crate::error::LoadError;

/// The entries of programs, read as they are written. Only one reader at a time gets all entries.
pub struct RingReader<T> {
    ring: RingBuffer<'static>,
    heard: Rc<RefCell<Vec<T>>>,
}

impl<T: 'static> RingReader<T> {
    /// Listens to a ring. `read` parses what a program writes at a time.
    pub(crate) fn at<I>(map: &MapHandle, read: fn(&[u8]) -> I) -> Result<Self, LoadError>
    where
        I: IntoIterator<Item = T> + 'static,
    {
        let refused = |error| LoadError::Refused("read a ring", error);
        let heard = Rc::new(RefCell::new(Vec::new()));
        let all = Rc::clone(&heard);
        let mut builder = RingBufferBuilder::new();
        let hear = move |bytes: &[u8]| {
            all.borrow_mut().extend(read(bytes));
            0
        };
        builder.add(map, hear).map_err(refused)?;
        let ring = builder.build().map_err(refused)?;
        Ok(Self { ring, heard })
    }

    /// The entries since the last call, nearly in the order of time.
    pub fn heard(&self) -> Result<Vec<T>, LoadError> {
        let consumed = self.ring.consume();
        consumed.map_err(|error| LoadError::Refused("read a ring", error))?;
        Ok(self.heard.take())
    }
}
