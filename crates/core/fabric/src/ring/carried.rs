//! Options and extensions of packets, which few packets have: apart from the places of a ring.

use std::collections::VecDeque;
use std::slice::from_ref;

use base::{Beside, Extension, Options, Packet, Timestamps};
use prefetch_index::prefetch_index;

/// Options and extensions of the packets of a ring, in their order; options first if a packet has both.
#[derive(Debug, Default)]
pub(super) struct Carried {
    pub(super) entries: VecDeque<Entry>,
    /// How many of them belong to packets that have been started.
    pub(super) started: usize,
    /// Timestamps of packets without other options, which are most where any have timestamps: a place for each place
    /// of the ring, as soon as one is needed.
    pub(super) stamps: Box<[Timestamps]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Options(Options),
    Extension(Extension),
}

impl Carried {
    /// Entries have been taken out: the next ones are fetched ahead of time, as places are, and the first place is used
    /// again when there are none.
    #[inline(always)]
    pub(super) fn expect_entries(&mut self) {
        match self.entries.get(ENTRIES_AHEAD) {
            Some(next) => prefetch_index(from_ref(next), 0),
            None if self.entries.is_empty() => self.entries.clear(),
            None => {}
        }
    }
}

impl Entry {
    pub(super) fn put_into(self, packet: &mut Packet) {
        match self {
            Self::Options(options) => packet.options = options,
            Self::Extension(extension) => packet.extension = extension,
        }
    }
}

pub(super) const fn stamped(stamps: Timestamps) -> Options {
    Options::Stamped(stamps, Beside::None)
}

/// How many entries a packet has among what is carried.
#[inline(always)]
pub(super) const fn entries(reserved: u8) -> usize {
    (reserved & (OPTIONS | EXTENSION)).count_ones() as usize
}

pub(super) fn empty_stamps(count: usize) -> Box<[Timestamps]> {
    vec![Timestamps { value: 0, echo: 0 }; count].into_boxed_slice()
}

/// The bits of a place's `reserved` that TCP has, and those that tell that its packet has options or an extension.
pub(super) const RESERVED: u8 = 0x0f;
pub(super) const OPTIONS: u8 = 0x10;
pub(super) const EXTENSION: u8 = 0x20;
/// The bit that tells that the packet has timestamps, which lie apart from other options.
pub(super) const STAMPS: u8 = 0x40;

/// How many entries ahead one is fetched: two take more than a cache line.
const ENTRIES_AHEAD: usize = 2;
