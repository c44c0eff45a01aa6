//! Reads the calls that the programs of a law write down.

use laws::Call;
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};

use crate::error::LoadError;
use crate::ring_reader::RingReader;

/// The calls of a law. Each processor fills a batch and then puts it into a ring, so that calls come in the order of
/// their numbers for each processor only. A gap in the numbers is a batch for which the ring had no room.
pub struct CallReader {
    ring: RingReader<Call>,
    batches: MapHandle,
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
        })
    }

    /// The calls of all batches that were filled since the last call.
    ///
    /// # Errors
    /// If the kernel refuses to read the ring.
    pub fn heard(&self) -> Result<Vec<Call>, LoadError> {
        self.ring.heard()
    }

    /// The remaining calls, with those of batches that are not full. A program that runs meanwhile may lose a batch.
    ///
    /// # Errors
    /// If the kernel refuses to read or to empty the batches.
    pub fn rest(&self) -> Result<Vec<Call>, LoadError> {
        let refused = |error| LoadError::Refused("read the last calls", error);
        let mut rest = self.heard()?;
        let batches = self.batches.lookup_percpu(&FIRST, MapFlags::ANY);
        let batches = batches.map_err(refused)?.unwrap_or_default();
        for batch in &batches {
            let filled = batch.get(FILLED..FILLED + 4);
            let filled = filled.and_then(|bytes| bytes.try_into().ok());
            let filled = filled.map_or(0, u32::from_ne_bytes) as usize;
            rest.extend(calls(&batch[..FILLED]).take(filled));
        }
        let empty: Vec<Vec<u8>> = batches.iter().map(|batch| vec![0; batch.len()]).collect();
        let emptied = self.batches.update_percpu(&FIRST, &empty, MapFlags::ANY);
        emptied.map_err(refused)?;
        Ok(rest)
    }
}

fn calls(bytes: &[u8]) -> impl Iterator<Item = Call> {
    bytes.chunks_exact(Call::BYTES).filter_map(Call::read)
}

/// The ring of `bpf/record.h`.
pub(crate) const CALLS: &str = "calls";
/// The batches of `bpf/record.h`, and where each says how many calls it holds.
const BATCHES: &str = "batches";
const FILLED: usize = 32 * Call::BYTES;
/// The key of the only element of a map.
const FIRST: [u8; 4] = [0; 4];
