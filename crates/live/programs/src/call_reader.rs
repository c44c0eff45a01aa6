//! Reads the calls that the programs of a law write down.

use std::cell::RefCell;
use std::collections::BTreeSet;

use laws::Call;
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};

use crate::error::LoadError;
use crate::ring_reader::RingReader;

/// The calls of a law. Each processor fills a batch and then puts it into a ring, so that calls come in the order of
/// their numbers for each processor only. A gap in the numbers is a batch for which the ring had no room.
pub struct CallReader {
    ring: RingReader<Call>,
    batches: MapHandle,
    waiting: RefCell<Waiting>,
}

/// Batches that are not in the ring.
#[derive(Default)]
struct Waiting {
    /// The calls of the batch of each processor, as they were last time.
    before: Vec<Vec<Call>>,
    /// Numbers of calls that were told and are not in the ring yet.
    told: BTreeSet<u32>,
}

impl CallReader {
    pub(crate) fn of(object: &Object) -> Result<Self, LoadError> {
        let open = |name| {
            let map = object.maps().find(|map| map.name() == name);
            let map = map.ok_or(LoadError::Lacks("map of calls"))?;
            MapHandle::try_from(&map).map_err(|error| LoadError::Refused("open a map", error))
        };
        Ok(Self {
            ring: RingReader::at(&open(CALLS)?, |bytes| calls(bytes).collect::<Vec<_>>())?,
            batches: open(BATCHES)?,
            waiting: RefCell::default(),
        })
    }

    /// The calls since the last time: those of full batches, and those that wait in a batch since the last time, as the
    /// processor may not see another packet for long.
    ///
    /// # Errors
    /// If the kernel refuses to read the ring or the batches.
    pub fn heard(&self) -> Result<Vec<Call>, LoadError> {
        let mut waiting = self.waiting.borrow_mut();
        let mut heard = waiting.without_told(self.ring.heard()?);
        let now = self.batches()?;
        // A call that is the same in both copies was not written meanwhile.
        let Waiting { before, told } = &mut *waiting;
        for (before, now) in before.iter().zip(&now) {
            let both = before
                .iter()
                .zip(now)
                .take_while(|(before, now)| before == now);
            heard.extend(
                both.map(|(_, call)| *call)
                    .filter(|call| told.insert(call.number)),
            );
        }
        waiting.before = now;
        Ok(heard)
    }

    /// The remaining calls. A program that runs meanwhile may lose a batch.
    ///
    /// # Errors
    /// If the kernel refuses to read or to empty the batches.
    pub fn rest(&self) -> Result<Vec<Call>, LoadError> {
        let mut waiting = self.waiting.take();
        let mut rest = waiting.without_told(self.ring.heard()?);
        let batches = self.batches()?;
        let empty = vec![vec![0; BATCH]; batches.len()];
        rest.extend(waiting.without_told(batches.concat()));
        let emptied = self.batches.update_percpu(&FIRST, &empty, MapFlags::ANY);
        emptied.map_err(|error| LoadError::Refused("empty the batches of calls", error))?;
        Ok(rest)
    }

    /// The calls of the batch of each processor.
    fn batches(&self) -> Result<Vec<Vec<Call>>, LoadError> {
        let batches = self.batches.lookup_percpu(&FIRST, MapFlags::ANY);
        let batches = batches
            .map_err(|error| LoadError::Refused("read the batches of calls", error))?
            .unwrap_or_default();
        let of = |batch: &Vec<u8>| {
            let (filled, written) = batch.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
            let [a, b, c, d, ..] = *filled;
            let filled = u32::from_ne_bytes([a, b, c, d]) as usize;
            calls(written).take(filled).collect()
        };
        Ok(batches.iter().map(of).collect())
    }
}

impl Waiting {
    /// Leaves out the calls that were told before they came, once.
    fn without_told(&mut self, mut calls: Vec<Call>) -> Vec<Call> {
        calls.retain(|call| !self.told.remove(&call.number));
        calls
    }
}

fn calls(bytes: &[u8]) -> impl Iterator<Item = Call> {
    bytes.chunks_exact(Call::BYTES).filter_map(Call::read)
}

/// The ring of `bpf/record.h`.
pub(crate) const CALLS: &str = "calls";
/// The batches of `bpf/record.h`, and the bytes of one: how many calls it holds, and these.
const BATCHES: &str = "batches";
const BATCH: usize = 8 + 32 * Call::BYTES;
/// The key of the only element of a map.
const FIRST: [u8; 4] = [0; 4];
