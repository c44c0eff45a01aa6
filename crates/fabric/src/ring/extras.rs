//! What few packets carry: options and extensions.

use std::collections::VecDeque;

use base::{Extension, Options, Packet, SackBlocks, Seq, SynOptions};

/// Options and extensions of the packets of a ring that have some. They leave in the order of the
/// packets, so each kind is a queue of its own without empty places.
#[derive(Debug, Default)]
pub(super) struct Extras {
    options: VecDeque<Kind>,
    blocks: VecDeque<(Seq, Seq)>,
    /// By the running index of the packet, because a packet in the middle may change.
    extensions: VecDeque<(u32, Extension)>,
}

/// Which extras a packet has; two bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Which(u8);

/// Options, but for the SACK blocks themselves.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Syn(SynOptions),
    Sack(u8),
}

impl Which {
    /// The two bits, which are not among the four reserved bits of the TCP header.
    pub(super) const BITS: u8 = 0xc0;
    const OPTIONS: u8 = 0x80;
    const EXTENSION: u8 = 0x40;

    #[inline(always)]
    pub(super) fn of(packet: &Packet) -> Self {
        let options = if packet.options == Options::None {
            0
        } else {
            Self::OPTIONS
        };
        let extension = if packet.extension == Extension::NONE {
            0
        } else {
            Self::EXTENSION
        };
        Self(options | extension)
    }

    /// What [`Which::bits`] has put among other bits.
    #[inline(always)]
    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::BITS)
    }

    #[inline(always)]
    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    #[inline(always)]
    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Those of `self` and of `other`.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without_extension(self) -> Self {
        Self(self.0 & !Self::EXTENSION)
    }

    #[inline(always)]
    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

impl Extras {
    /// Keeps what the newest packet, which has this running index, carries.
    pub(super) fn push(&mut self, index: u32, packet: &Packet) {
        match packet.options {
            Options::None => {}
            Options::Syn(syn) => self.options.push_back(Kind::Syn(syn)),
            Options::Sack(sack) => {
                let blocks = sack.as_slice();
                self.options.push_back(Kind::Sack(count(blocks)));
                self.blocks.extend(blocks);
            }
        }
        if packet.extension != Extension::NONE {
            self.extensions.push_back((index, packet.extension));
        }
    }

    /// Gives the oldest packet what it carries.
    pub(super) fn pop_into(&mut self, which: Which, packet: &mut Packet) {
        if which.has(Which::OPTIONS) {
            match self.options.pop_front() {
                Some(Kind::Syn(syn)) => packet.options = Options::Syn(syn),
                Some(Kind::Sack(count)) => {
                    let mut sack = SackBlocks::new();
                    for _ in 0..count {
                        if let Some((start, end)) = self.blocks.pop_front() {
                            sack.push(start, end);
                        }
                    }
                    packet.options = Options::Sack(sack);
                }
                None => {}
            }
            restart(&mut self.options);
            restart(&mut self.blocks);
        }
        if which.has(Which::EXTENSION)
            && let Some((_, extension)) = self.extensions.pop_front()
        {
            packet.extension = extension;
            restart(&mut self.extensions);
        }
    }

    /// Gives the newest packet what it carries.
    pub(super) fn pop_newest_into(&mut self, which: Which, packet: &mut Packet) {
        if which.has(Which::OPTIONS) {
            match self.options.pop_back() {
                Some(Kind::Syn(syn)) => packet.options = Options::Syn(syn),
                Some(Kind::Sack(count)) => {
                    let first = self.blocks.len() - usize::from(count);
                    let mut sack = SackBlocks::new();
                    for (start, end) in self.blocks.drain(first..) {
                        sack.push(start, end);
                    }
                    packet.options = Options::Sack(sack);
                }
                None => {}
            }
        }
        if which.has(Which::EXTENSION)
            && let Some((_, extension)) = self.extensions.pop_back()
        {
            packet.extension = extension;
        }
    }

    /// The extension of the packet with this running index. O(log n).
    pub(super) fn extension(&self, index: u32) -> Extension {
        let at = self
            .extensions
            .binary_search_by_key(&index, |(index, _)| *index);
        at.map_or(Extension::NONE, |at| self.extensions[at].1)
    }

    /// Gives the packet with this running index another extension. O(log n) if it had one and has one.
    pub(super) fn set_extension(&mut self, index: u32, extension: Extension) {
        let at = self
            .extensions
            .binary_search_by_key(&index, |(index, _)| *index);
        match at {
            Ok(at) if extension == Extension::NONE => drop(self.extensions.remove(at)),
            Ok(at) => self.extensions[at].1 = extension,
            Err(_) if extension == Extension::NONE => {}
            Err(at) => self.extensions.insert(at, (index, extension)),
        }
    }

    /// Running indices are now counted from what was `head`.
    pub(super) fn count_from(&mut self, head: u32) {
        for (index, _) in &mut self.extensions {
            *index -= head;
        }
    }
}

/// An empty queue starts again at its first place, so that a short one stays in few cache lines.
#[inline(always)]
fn restart<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        queue.clear();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "three blocks at most")]
const fn count(blocks: &[(Seq, Seq)]) -> u8 {
    blocks.len() as u8
}
