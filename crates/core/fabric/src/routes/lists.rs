//! Lists of ports that packets choose from.

use std::collections::BTreeMap;

use crate::port_id::PortId;
use base::cast::id;

/// Lists by entry: the number of the only port of the list, or with the highest bit that of the list.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Where in `ports` each list begins, and its length.
    bounds: Vec<(u32, u32)>,
    ports: Vec<PortId>,
    known: BTreeMap<Vec<PortId>, u32>,
}

impl Lists {
    /// What stands for `ports`.
    pub(super) fn entry(&mut self, ports: &[PortId]) -> u32 {
        let Some(first) = ports.first() else { return 0 };
        if ports.iter().all(|port| port == first) {
            return first.0;
        }
        if let Some(entry) = self.known.get(ports) {
            return *entry;
        }
        let entry = LIST | id(self.bounds.len());
        self.bounds.push((id(self.ports.len()), id(ports.len())));
        self.ports.extend(ports);
        self.known.insert(ports.to_vec(), entry);
        entry
    }

    /// Whether every entry is a port.
    pub(super) fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The only port of `entry`, if it is no list.
    #[inline(always)]
    pub(super) const fn only(entry: u32) -> Option<PortId> {
        if entry & LIST == 0 {
            Some(PortId(entry))
        } else {
            None
        }
    }

    /// The ports of an entry that is a list.
    #[inline(always)]
    pub(super) fn ports(&self, entry: u32) -> &[PortId] {
        let (first, length) = self.bounds[(entry & !LIST) as usize];
        &self.ports[first as usize..(first + length) as usize]
    }

    /// The port at a place of an entry that has a port for every place.
    pub(super) fn port(&self, entry: u32, place: u32) -> PortId {
        Self::only(entry).unwrap_or_else(|| self.ports(entry)[place as usize])
    }

    /// Lists, and the ports in all of them.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.bounds.len(), self.ports.len())
    }
}

/// The bit of an entry that is no port but a list.
const LIST: u32 = 1 << 31;
