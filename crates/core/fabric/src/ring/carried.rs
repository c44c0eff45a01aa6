//! Options and extensions of packets, which few packets have: apart from the places of a ring.

use base::{Beside, Extension, Options, Packet, Timestamps};
use prefetch_index::prefetch_index;

/// Options and extensions of the packets of a ring. Each list has a place for each place of the ring, as soon as one is
/// needed, and none before. All operations O(1), but for the first of a kind.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Timestamps of packets without other options, which are most where any have timestamps.
    stamps: Box<[Timestamps]>,
    /// Options of other packets that have any.
    options: Box<[Options]>,
    extensions: Box<[Extension]>,
}

impl Carried {
    /// Keeps what `packet` carries, at place `index` of a ring with `places`. Returns the bits that tell of it.
    #[inline(always)]
    pub(super) fn keep(&mut self, packet: &Packet, index: usize, places: usize) -> u8 {
        let mut carries = match packet.options {
            Options::None => 0,
            Options::Stamped(stamps, Beside::None) => {
                put(&mut self.stamps, index, stamps, (places, NO_STAMPS));
                STAMPS
            }
            options => {
                put(&mut self.options, index, options, (places, Options::None));
                OPTIONS
            }
        };
        if packet.extension != Extension::NONE {
            self.keep_extension(packet.extension, index, places);
            carries |= EXTENSION;
        }
        carries
    }

    /// Keeps timestamps without other options, if there are places for any. Returns whether there are.
    #[inline(always)]
    pub(super) fn keep_stamps(&mut self, stamps: Timestamps, index: usize) -> bool {
        let place = self.stamps.get_mut(index);
        place.map(|place| *place = stamps).is_some()
    }

    /// Keeps an extension, as [`Carried::keep`] does.
    #[inline(always)]
    pub(super) fn keep_extension(&mut self, extension: Extension, index: usize, places: usize) {
        put(
            &mut self.extensions,
            index,
            extension,
            (places, Extension::NONE),
        );
    }

    /// Gives `packet`, which has the reserved bits of its place, what it carries, and takes these bits away.
    #[inline(always)]
    pub(super) fn put_into(&self, packet: &mut Packet, index: usize) {
        let carries = packet.reserved;
        packet.reserved &= RESERVED;
        if carries & STAMPS != 0 {
            packet.options = self.stamps(index);
        } else if carries & OPTIONS != 0 {
            packet.options = self.options[index];
        }
        if carries & EXTENSION != 0 {
            packet.extension = self.extensions[index];
        }
    }

    /// The timestamps of the packet at `index`, which has them and no other options.
    #[inline(always)]
    pub(super) fn stamps(&self, index: usize) -> Options {
        Options::Stamped(self.stamps[index], Beside::None)
    }

    /// The bytes of the SACK blocks of the packet at `index`, which has options beside timestamps.
    pub(super) fn sack_bytes(&self, index: usize) -> u64 {
        self.options[index].sack_bytes()
    }

    /// Options and extension of the packet at `index` will soon be asked for.
    #[inline(always)]
    pub(super) fn expect(&self, index: usize) {
        prefetch_index(&self.options, index);
        prefetch_index(&self.extensions, index);
    }

    /// The ring has this many `places` now. Its `count` packets have moved to the first ones, from running index `head` on.
    pub(super) fn grow(&mut self, (head, count): (u32, u32), places: usize) {
        grow(&mut self.stamps, (head, count), (places, NO_STAMPS));
        grow(&mut self.options, (head, count), (places, Options::None));
        grow(
            &mut self.extensions,
            (head, count),
            (places, Extension::NONE),
        );
    }
}

/// Puts what is carried at a place of a list, which has as many places as the ring, `empty` at first.
#[inline(always)]
fn put<T: Copy>(list: &mut Box<[T]>, index: usize, carried: T, (places, empty): (usize, T)) {
    if list.is_empty() {
        fill(list, places, empty);
    }
    list[index] = carried;
}

#[cold]
#[inline(never)]
fn fill<T: Copy>(list: &mut Box<[T]>, places: usize, empty: T) {
    *list = vec![empty; places].into_boxed_slice();
}

fn grow<T: Copy>(list: &mut Box<[T]>, (head, count): (u32, u32), (places, empty): (usize, T)) {
    if list.is_empty() {
        return;
    }
    let before = std::mem::take(list);
    fill(list, places, empty);
    for (index, place) in (0..count).zip(list) {
        *place = before[head.wrapping_add(index) as usize & (before.len() - 1)];
    }
}

const NO_STAMPS: Timestamps = Timestamps { value: 0, echo: 0 };

/// The bits of a place's `reserved` that TCP has, and those that tell that its packet has options or an extension.
pub(super) const RESERVED: u8 = 0x0f;
pub(super) const OPTIONS: u8 = 0x10;
pub(super) const EXTENSION: u8 = 0x20;
/// The bit that tells that the packet has timestamps and no other options.
pub(super) const STAMPS: u8 = 0x40;
