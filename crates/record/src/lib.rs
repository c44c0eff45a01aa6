//! Probes that write files while a simulation runs: [`trace`] series, [`pcap`] packets.

pub mod guard;
pub mod pcap;
pub mod trace;
