//! Directions of connections in the programs' table, with the layout of `bpf/table.h`. Each has the place given by a
//! hash of its addresses, if that is free, or else an entry in a map.

use std::io;
use std::net::{IpAddr, SocketAddr};

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::seen::{FlowDirection, ObservedTransfer};
use crate::error::LoadError;

/// All known directions with their transfers.
pub(super) fn taken(
    table: &MapHandle,
) -> Result<Vec<(FlowDirection, ObservedTransfer)>, LoadError> {
    let refused = |error| LoadError::Refused("read a map", error);
    let batch = table.lookup_batch(BATCH, MapFlags::ANY, MapFlags::ANY);
    let mut count = 0_u32;
    let places = batch.map_err(refused)?.inspect(|_| count += 1);
    let taken = places.filter_map(|(_, place)| read(&place)).collect();
    // An error ends the batch like its end.
    if count < 1 << SHIFT {
        let error = io::Error::other(format!("only {count} of {} places came", 1 << SHIFT));
        return Err(refused(error.into()));
    }
    Ok(taken)
}

/// Frees the place of `way`, if it has one.
pub(super) fn free(table: &MapHandle, way: &FlowDirection) -> Result<(), LoadError> {
    let home = home(way).to_ne_bytes();
    let place = table.lookup(&home, MapFlags::ANY);
    let place = place.map_err(|error| LoadError::Refused("read a map", error))?;
    let is_its = |place: &Vec<u8>| read(place).is_some_and(|(taken, _)| taken == *way);
    if let Some(place) = place.filter(is_its) {
        // Under its lock, so that no other processor takes it meanwhile.
        let freed = table.update(&home, &vec![0; place.len()], MapFlags::LOCK);
        freed.map_err(|error| LoadError::Refused("write a map", error))?;
    }
    Ok(())
}

/// The direction at a place; `None` if it is free.
fn read(place: &[u8]) -> Option<(FlowDirection, ObservedTransfer)> {
    let near = place.get(KEY..KEY + 12)?;
    let way = match u32::from_ne_bytes(*place.get(VERSION..)?.first_chunk()?) {
        4 => FlowDirection::read(near)?,
        6 => FlowDirection::read(&[near, place.get(MORE..MORE + 24)?].concat())?,
        _ => return None,
    };
    Some((way, ObservedTransfer::read(place.get(SEEN + TRANSFER..)?)?))
}

/// The place of a direction: `home_of` of the programs.
fn home(way: &FlowDirection) -> u32 {
    let (_, key) = way.key();
    let word = |word: &[u8]| u32::from_ne_bytes(*word.first_chunk().expect("four bytes"));
    let words: Vec<u64> = key.chunks(4).map(|bytes| word(bytes).into()).collect();
    let more = words[3..].iter();
    let mixed = more.fold(words[1] << 32 | words[2], |mixed, word| {
        mixed.wrapping_mul(SPREAD).wrapping_add(*word)
    });
    let mixed = (mixed.wrapping_mul(SPREAD) ^ words[0]).wrapping_mul(SPREAD);
    let home = (mixed ^ mixed >> 32).wrapping_mul(SPREAD) >> (64 - SHIFT);
    u32::try_from(home).expect("few bits")
}

/// Another IPv4 direction between the same addresses with the place of `way`.
#[doc(hidden)]
pub fn neighbour(way: &FlowDirection) -> Option<FlowDirection> {
    let ports = (1..=u16::MAX).filter(|port| *port != way.from.port());
    let mut others = ports.map(|port| FlowDirection {
        from: SocketAddr::new(way.from.ip(), port),
        to: way.to,
    });
    let is_v4 = matches!(way.from.ip(), IpAddr::V4(_));
    others.find(|other| is_v4 && home(other) == home(way))
}

/// Number of places read at once.
const BATCH: u32 = 1 << 10;
/// `TABLE_SHIFT` and `SPREAD` of the programs.
const SHIFT: u32 = 13;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Offsets in `struct place`: the IP version, the ports and first words of its addresses, the direction, and the other
/// words.
const VERSION: usize = 4;
const KEY: usize = 8;
const SEEN: usize = 24;
const MORE: usize = 168;
/// The offset of the transfer in `struct seen`.
pub(super) const TRANSFER: usize = 56;
