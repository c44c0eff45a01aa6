//! Counters of the kernel: segments, timers, queues and the load of its cores.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use base::Span;
use base::cast::real;
use machine::clock::{self, duration};
use machine::netlink::{Counters, Routing};

use crate::lan::Lan;

/// Counters of TCP, summed over all namespaces.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct TcpCounters {
    /// Segments sent, including retransmissions.
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    /// Segments with data, each once.
    pub(crate) data_segments: u64,
    /// Timers that expired, including those of SYNs.
    pub(crate) timeouts: u64,
    pub(crate) syn_retransmissions: u64,
    pub(crate) loss_probes: u64,
    /// Segments that overtook others, as senders saw by SACK, timestamps or duplicate ACKs. Duplicates that receivers
    /// reported do not count, because a timer that expires too early causes them, too.
    pub(crate) reordered: u64,
}

impl TcpCounters {
    /// The counters of all namespaces, added up.
    pub(crate) fn read(lan: &Lan) -> io::Result<Self> {
        let mut sum = Self::default();
        for namespace in lan.namespaces() {
            let (snmp, netstat) = namespace.within(|| {
                let read = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
                Ok((read("snmp")?, read("netstat")?))
            })?;
            let tcp = |name| value(&snmp, "Tcp:", name);
            let extended = |name| value(&netstat, "TcpExt:", name);
            // OutSegs does not count retransmissions.
            sum.segments += tcp("OutSegs") + tcp("RetransSegs");
            sum.retransmissions += tcp("RetransSegs");
            sum.data_segments += extended("TCPOrigDataSent");
            sum.timeouts += extended("TCPTimeouts");
            sum.syn_retransmissions += extended("TCPSynRetrans");
            sum.loss_probes += extended("TCPLossProbes");
            sum.reordered += REORDERED.map(extended).iter().sum::<u64>();
        }
        Ok(sum)
    }

    /// The increase since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            segments: self.segments - before.segments,
            retransmissions: self.retransmissions - before.retransmissions,
            data_segments: self.data_segments - before.data_segments,
            timeouts: self.timeouts - before.timeouts,
            syn_retransmissions: self.syn_retransmissions - before.syn_retransmissions,
            loss_probes: self.loss_probes - before.loss_probes,
            reordered: self.reordered - before.reordered,
        }
    }
}

/// A number in a table of the kernel: a line of names, and a line of numbers with the same beginning.
fn value(table: &str, line: &str, name: &str) -> u64 {
    let mut lines = table.lines().filter(|text| text.starts_with(line));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut both = names.split(' ').zip(values.split(' '));
    let found = both.find(|(own, _)| *own == name);
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

/// Counters of `tcp_check_sack_reordering` and `tcp_check_reno_reordering` in `net/ipv4/tcp_input.c`.
const REORDERED: [&str; 3] = ["TCPSACKReorder", "TCPRenoReorder", "TCPTSReorder"];

/// Drops of every queue of the network.
pub(crate) fn drops(lan: &Lan) -> io::Result<u64> {
    let mut sum = 0;
    for (namespace, ports) in lan.queues() {
        sum += namespace.within(|| {
            let mut routing = Routing::open()?;
            let mut sum = 0;
            for index in ports {
                sum += u64::from(routing.counters(index)?.drops);
            }
            Ok(sum)
        })?;
    }
    Ok(sum)
}

/// Time that cores have spent, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    busy: u64,
    all: u64,
}

impl Cores {
    pub(crate) fn read() -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string("/proc/stat")?))
    }

    /// The first line has, in order: user, nice, system, idle, waiting for disks, and interrupts.
    fn parse(text: &str) -> Self {
        let line = text.lines().next().unwrap_or_default();
        let ticks = line.split_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = ticks.filter_map(|field| field.parse().ok()).collect();
        let all = ticks.iter().sum();
        let free: u64 = [3, 4].iter().filter_map(|place| ticks.get(*place)).sum();
        Self {
            busy: all - free,
            all,
        }
    }

    /// The share of busy time since `before`. The kernel's counters of idle time may step back by a tick.
    pub(crate) fn busy_since(&self, before: &Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        real(self.busy.saturating_sub(before.busy)) / real(all)
    }
}

/// A look at a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    pub(crate) queue: Counters,
}

/// Samples a queue in the namespace of this thread until `stop`.
pub(crate) fn watch(index: u32, stop: &AtomicBool) -> io::Result<Vec<Sample>> {
    let mut routing = Routing::open()?;
    let mut samples = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let queue = routing.counters(index)?;
        let at = clock::now();
        samples.push(Sample { at, queue });
        thread::sleep(duration(SAMPLE_INTERVAL));
    }
    Ok(samples)
}

/// A full packet takes 60 us at 200 Mbit/s; a sample costs some 20 us of a core.
pub(crate) const SAMPLE_INTERVAL: Span = Span::from_micros(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_below_their_names() {
        let table = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 3 17\nIpExt: A\nIpExt: 1\n";
        assert_eq!(value(table, "TcpExt:", "TCPTimeouts"), 17);
        assert_eq!(value(table, "TcpExt:", "Unknown"), 0);
        assert_eq!(value(table, "Tcp:", "TCPTimeouts"), 0);
    }

    #[test]
    fn waiting_for_disks_counts_as_free_and_low_priority_as_work() {
        let before = Cores::parse("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
        let after = Cores::parse("cpu  20 30 10 20 10 0 10 0 0 0\n");
        assert!((after.busy_since(&before) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn time_without_work_that_steps_back_is_no_work() {
        let before = Cores::parse("cpu  20 0 10 50 10 0 0 0\n");
        let after = Cores::parse("cpu  20 0 10 50 8 0 0 0\n");
        assert!(after.busy_since(&before).abs() < 1e-12);
    }
}
