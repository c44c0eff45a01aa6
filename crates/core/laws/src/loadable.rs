//! The parts of a law that a kernel loads: the name of its program, and the memory that the program
//! begins with.

use std::ops::Range;

/// A law with its settings, as its program finds both in the map `port`.
///
/// New settings reach a program that runs already as other bytes of this map. The bytes of the state stay as the program
/// has left them, so that the law goes on from where it is.
#[derive(Clone, Debug)]
pub struct Loadable {
    /// The program is `bpf/<object>.bpf.c` of the crate `programs`.
    pub object: &'static str,
    /// The contents of the map when the program begins.
    pub memory: Vec<u8>,
    /// The bytes of this memory that are state; the others are settings.
    pub state: &'static [Range<usize>],
    /// Whether the map begins with a lock, under which it is read and written.
    pub is_locked: bool,
}

impl Loadable {
    /// Bytes in front of a law whose map begins with a lock: the lock has four, and structs of laws begin at a multiple of
    /// eight.
    pub const LOCK: usize = 8;

    /// A program without state in this map.
    pub const fn of_settings(object: &'static str, memory: Vec<u8>) -> Self {
        Self {
            object,
            memory,
            state: &[],
            is_locked: false,
        }
    }

    /// A program whose map begins with a lock, with `memory` behind it and these bytes of state, counted from the lock on.
    pub(crate) fn behind_lock(
        object: &'static str,
        memory: &[u8],
        state: &'static [Range<usize>],
    ) -> Self {
        Self {
            object,
            memory: [&[0; Self::LOCK], memory].concat(),
            state,
            is_locked: true,
        }
    }

    /// The contents that the map needs for the law to go on from `memory` with these settings; `None` if `memory` is not of
    /// this law.
    pub fn revised(&self, memory: &[u8]) -> Option<Vec<u8>> {
        if memory.len() != self.memory.len() {
            return None;
        }
        let mut revised = self.memory.clone();
        for bytes in self.state {
            revised[bytes.clone()].copy_from_slice(&memory[bytes.clone()]);
        }
        Some(revised)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Idle, Life, Rwndq, RwndqSettings};

    #[test]
    fn rwndq_goes_on_with_its_flows_and_its_clock() {
        let settings = RwndqSettings {
            buffer_bytes: 64_000,
            alpha_millionths: 200_000,
            samples: 10,
            mss_bytes: 1_448,
            scale: 14,
            paths: 1,
        };
        let mut counting = Rwndq::new(&settings);
        counting.on_open();
        let mut idle = Idle::new(100_000_000);
        idle.on_open(&mut Life::default(), 1);
        let mut memory = counting
            .loadable(Duration::from_micros(50), &idle, false)
            .memory;
        memory[Loadable::LOCK + 8] = 7;
        let other = RwndqSettings {
            samples: 3,
            ..settings
        };
        let slower = Rwndq::new(&other).loadable(Duration::from_micros(100), &Idle::new(0), false);
        let revised = slower.revised(&memory).unwrap();
        let interval = &100_000_u64.to_ne_bytes();
        assert_eq!(&revised[Loadable::LOCK..][..8], interval);
        assert_eq!(revised[Loadable::LOCK + 8], 7, "the end of the last sample");
        let (law, idle) = Rwndq::of_map(&revised).unwrap();
        assert_eq!(law.flows(), 1);
        assert_eq!(law.to_memory()[20..22], 3_u16.to_ne_bytes(), "the samples");
        assert_eq!((idle.active(), idle.is_on()), (1, false));
        assert!(Loadable::mark(0).revised(&revised).is_none());
    }
}
