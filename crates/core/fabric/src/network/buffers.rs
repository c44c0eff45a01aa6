//! The shared buffers of switches: which packets find room there.

use base::{Packet, Time};

use crate::pool::{Pool, PoolConfig};
use crate::port::{Offer, Port};
use crate::port_id::PortId;
use crate::topology::{Node, NodeId, Topology};
use crate::watch::{DropReason, Watch};

/// Packets that a port dropped because the buffer that it shares with others had no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferDrops {
    /// The pool was full.
    pub pool: u64,
    /// The queue had reached its share of what was free.
    pub threshold: u64,
    /// A lossless class had filled its headroom.
    pub headroom: u64,
}

/// The shared buffer of every switch.
///
/// A FIFO port notices only at its next event which packets have left its queue. So an arrival first brings up to date the ports
/// of its switch that have a backlog; ports do not know that there is a pool.
pub(super) struct Buffers {
    switches: Vec<Buffer>,
    ports: Vec<Account>,
}

/// The buffer of one switch.
struct Buffer {
    pool: Pool,
    /// Ports whose queues were not empty at the last look.
    active: Vec<PortId>,
}

/// The state of a port in the buffer of its switch.
struct Account {
    /// The place of its switch; `None` for a host's port.
    switch: Option<usize>,
    /// Bytes of each class that waited when the port was looked at last.
    lengths: Vec<u64>,
    is_active: bool,
    refusals: BufferDrops,
}

impl Buffers {
    /// Empty buffers for all switches of `topology`.
    pub(super) fn new(topology: &Topology, ports: &[Port], config: &PoolConfig) -> Self {
        let mut places = vec![None; topology.nodes().len()];
        let mut switches = Vec::new();
        for (node, place) in topology.nodes().iter().zip(&mut places) {
            if *node == Node::Switch {
                *place = Some(switches.len());
                switches.push(Buffer {
                    pool: Pool::new(config.clone()),
                    active: Vec::new(),
                });
            }
        }
        let account = |(id, port): (PortId, &Port)| {
            let (NodeId(from), _) = topology.ends(id);
            Account {
                switch: places[from as usize],
                lengths: vec![0; port.classes()],
                is_active: false,
                refusals: BufferDrops::default(),
            }
        };
        let ports = (0..).map(PortId).zip(ports).map(account).collect();
        Self { switches, ports }
    }

    /// `packet` arrives at a queue of `ports`; the pool of its switch has room for it, or it is dropped.
    pub(super) fn offer<W: Watch>(
        &mut self,
        ports: &mut [Port],
        port: PortId,
        packet: &mut Packet,
        now: Time,
        watch: &mut W,
    ) -> Offer {
        let index = port.0 as usize;
        let Some(switch) = self.ports[index].switch else {
            return ports[index].offer_watched(packet, now, port, watch);
        };
        ports[index].settle_watched(now, port, watch, &mut |_| false);
        if !ports[index].is_busy(now) {
            return ports[index].offer_watched(packet, now, port, watch);
        }
        self.bring_up(switch, ports, now, watch);
        let class = ports[index].class(packet);
        let length = self.ports[index].lengths[class];
        let size = ports[index].size_of(packet);
        let admitted = self.switches[switch].pool.admits(class, length, size);
        let offer = match admitted {
            Ok(()) => ports[index].offer_watched(packet, now, port, watch),
            Err(reason) => {
                let (offer, refused) =
                    ports[index].offer_refused(packet, reason, (now, port), watch);
                self.ports[index].refusals.count(reason, refused);
                offer
            }
        };
        self.account(switch, port, &ports[index]);
        offer
    }

    /// Packets that `port` dropped for want of shared buffer.
    pub(super) fn refusals(&self, port: PortId) -> BufferDrops {
        self.ports[port.0 as usize].refusals
    }

    /// The most bytes of its pool that any switch had in use.
    pub(super) fn most(&self) -> u64 {
        let all = self.switches.iter().map(|buffer| buffer.pool.most());
        all.max().unwrap_or(0)
    }

    /// Accounts for all packets that have left queues of the switch until `now`.
    fn bring_up<W: Watch>(&mut self, switch: usize, ports: &mut [Port], now: Time, watch: &mut W) {
        let mut place = 0;
        while let Some(port) = self.switches[switch].active.get(place).copied() {
            let state = &mut ports[port.0 as usize];
            state.settle_watched(now, port, watch, &mut |_| false);
            self.account(switch, port, state);
            if state.waiting() == 0 {
                self.switches[switch].active.swap_remove(place);
                self.ports[port.0 as usize].is_active = false;
            } else {
                place += 1;
            }
        }
    }

    /// Tells the pool the backlog of `port`, which is settled.
    fn account(&mut self, switch: usize, port: PortId, state: &Port) {
        let (buffer, own) = (&mut self.switches[switch], &mut self.ports[port.0 as usize]);
        for (class, length) in own.lengths.iter_mut().enumerate() {
            let now = state.waiting_of(class);
            if now != *length {
                buffer.pool.change(*length, now);
                *length = now;
            }
        }
        if !own.is_active && state.waiting() > 0 {
            own.is_active = true;
            buffer.active.push(port);
        }
    }
}

impl BufferDrops {
    pub(super) fn count(&mut self, reason: DropReason, refused: bool) {
        let count = match reason {
            DropReason::Pool => &mut self.pool,
            DropReason::Headroom => &mut self.headroom,
            _ => &mut self.threshold,
        };
        *count += u64::from(refused);
    }
}
