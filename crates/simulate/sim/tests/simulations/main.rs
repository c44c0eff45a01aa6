//! Whole simulations: closed forms, published numbers, another simulator, frozen digests, and what must
//! hold for every scheme.

mod baselines;
mod bottleneck;
mod bounds;
mod breakdown;
mod bursts;
mod collectives;
mod endings;
mod exceptions;
mod faults;
mod golden;
mod grants;
mod ictcp;
mod limits;
mod linux;
mod nagle;
mod networks;
mod ns3;
mod oracle;
mod phase;
mod rc3;
mod rcc_section13;
mod rcp;
mod relations;
mod replays;
mod round_times;
mod rounds;
mod shared;
mod slowdown;
mod small_queues;
mod stepping;
mod support;
mod switch_schemes;
mod theory;
mod timers;
mod workloads;
