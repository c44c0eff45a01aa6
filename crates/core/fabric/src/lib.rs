//! The network: links, ports, queues, switches, routes and topologies.
//!
//! A [`Topology`] is data: nodes and links. A [`Network`] is that data set in motion: a [`Port`] per
//! direction of each link, and for every switch the port towards every host. A packet's way is a
//! chain of ports; each hop is one event, its arrival at the next node, because a FIFO port with a
//! constant rate knows at arrival when a packet will have left.
//!
//! TCP is not known here: a port sees packets with a size, an ECN field and a destination.
//!
//! ```
//! use base::{Rate, Span};
//! use fabric::{LinkSpec, Topology};
//!
//! let mut topology = Topology::new();
//! let switch = topology.add_switch();
//! let (node, host) = topology.add_host();
//! let spec = LinkSpec {
//!     rate: Rate::from_bps(1_000_000_000),
//!     delay: Span::from_micros(25),
//! };
//! let port = topology.connect(node, switch, spec);
//! assert_eq!(topology.host_port(host), port);
//! assert_eq!(topology.names(), ["switch 0", "host 0"]);
//! ```

mod chosen;
mod disorder;
mod histogram;
mod hook;
mod losing;
mod loss;
mod network;
mod noise;
mod parts;
mod pfc;
mod pool;
mod port;
mod port_id;
mod priority;
mod queue;
mod ramp;
mod ring;
mod routes;
mod topology;
mod watch;

pub use chosen::{ChosenLoss, ChosenSegment};
pub use disorder::Disorder;
pub use histogram::{LevelHistogram, QueueStatistics};
pub use hook::{Calls, Quiet, SwitchHook};
pub use loss::LossLaw;
pub use network::{BufferDrops, FaultDrops, Network, NetworkConfig, PauseReport, Paused};
pub use noise::{GilbertElliott, Noise, NoiseKind};
pub use parts::PortParts;
pub use pfc::{PfcConfig, Xoff, headroom};
pub use pool::PoolConfig;
pub use port::{Bucket, Jitter, Offer, Port, PortConfig, PortCounters};
pub use port_id::PortId;
pub use priority::Strict;
pub use queue::{Backlog, Discipline, Limit, QueueDisc, Verdict};
pub use ramp::EcnRamp;
pub use ring::PLACE_BYTES;
pub use routes::{Routes, Row, Spread};
pub use topology::{Layer, Link, LinkSpec, Node, NodeId, Place, Topology, TopologyError};
pub use watch::{DropReason, Watch};
