//! The probe that records series.

mod channel;
mod rows;

use std::any::Any;
use std::fs::File;
use std::io;

use base::cast::real;
use base::{FlowId, HostId, Packet, Time};
use fabric::{DropReason, PortId, SwitchHook};
use plan::PointSpec;
use plan::keys::TraceInterval;
use plan::series;
use schemes::{Receiver, Sender};
use sim::probe::{Branch, End, Probe};
use tcp::{Endpoint, Host, Plays as _};

use super::file::SeriesFile;
use super::memory::Series;
use super::plan::TracePlan;
use super::rows::{Event, EventKind, Sink, Subject};
use super::thin::Keep;
use channel::{Channel, Kept};
pub(super) use channel::{Meter, counted};
pub(super) use rows::Rows;

/// Records the quantities of a [`TracePlan`] into a series file.
pub struct Recorder {
    rows: Rows,
    /// For each port and each flow, whether it is recorded.
    ports: Vec<bool>,
    flows: Vec<bool>,
    queue: Option<Channel>,
    marks: Option<Channel>,
    drops: Option<Channel>,
    paused: Option<Channel>,
    cwnd: Option<Channel>,
    rwnd: Option<Channel>,
    throughput: Option<Meter>,
    carried: Option<Meter>,
    /// Of every packet.
    header_bytes: u32,
    gauges: Vec<Gauged>,
    events: Option<Kept>,
    /// Whether rows are only written at the end, after thinning.
    thinned: bool,
    /// Number of marks and of drops at each port so far.
    counts: Vec<(u32, u32)>,
    /// Number of paused priorities at each port.
    held: Vec<u32>,
    /// For each flow: stored payload, each byte counted once; timeouts of the receiving and the sending end, and their
    /// timeouts of SYNs; whether the sender is in fast recovery.
    stored: Vec<u64>,
    timeouts: Vec<[(u64, u64); 2]>,
    recovering: Vec<bool>,
}

/// A quantity that roles report.
#[derive(Clone)]
struct Gauged {
    name: &'static str,
    of_flows: Channel,
    of_hosts: Channel,
    of_ports: Channel,
}

impl Recorder {
    /// Records `point` into `file`, which is empty.
    pub fn new(plan: &TracePlan, point: &PointSpec, file: File) -> io::Result<Self> {
        let file = SeriesFile::new(point.index, &plan.quantities, file)?;
        Ok(Self::into(plan, point, Box::new(file)))
    }

    /// Records `point` into memory.
    pub fn in_memory(plan: &TracePlan, point: &PointSpec, series: &Series) -> Self {
        Self::into(plan, point, series.sink())
    }

    fn into(plan: &TracePlan, point: &PointSpec, sink: Box<dyn Sink>) -> Self {
        let mut rows = Rows::new(sink);
        let starts = point
            .groups
            .iter()
            .map(|group| group.keys.workload.start.as_ps());
        let begin = starts.min().unwrap_or_default();
        let place = |name| {
            plan.quantities
                .iter()
                .position(|quantity| quantity.name == name)
        };
        let mut channel = |name, subject, count, keep| {
            let block = rows.add(place(name)?, subject);
            let channel = Channel::new(block, plan.interval, keep, count);
            Some(if subject == Subject::Flow {
                channel
            } else {
                channel.beginning(begin)
            })
        };
        let (ports, flows) = (plan.ports.len(), plan.flows.len());
        let (of_ports, of_flows) = (counted(&plan.ports), counted(&plan.flows));
        // Ports without traffic report nothing, and their queue is empty.
        let mut of_port = |name, keep| {
            let channel = channel(name, Subject::Port, of_ports, keep)?;
            Some(channel.only(&plan.ports).at(0.0))
        };
        let queue = of_port(series::QUEUE, Keep::Largest);
        let (marks, drops) = (
            of_port(series::MARKS, Keep::Last),
            of_port(series::DROPS, Keep::Last),
        );
        let paused = of_port(series::PAUSED, Keep::Last);
        let mut of_flow = |name| channel(name, Subject::Flow, of_flows, Keep::Last);
        let (cwnd, rwnd) = (of_flow(series::CWND), of_flow(series::RWND));
        let reported = plan.quantities.iter();
        let reported = reported.filter(|quantity| !quantity.is_built_in());
        let gauged = reported.filter_map(|quantity| {
            let mut of = |subject, count| channel(quantity.name, subject, count, Keep::Last);
            Some(Gauged {
                name: quantity.name,
                of_flows: of(Subject::Flow, of_flows)?,
                // Every host link has two ports.
                of_hosts: of(Subject::Host, (ports, ports))?,
                of_ports: of(Subject::Port, of_ports)?.only(&plan.ports),
            })
        });
        let gauges = gauged.collect();
        let mut meter = |name, subject, count| {
            let block = rows.add(place(name)?, subject);
            let window = point.keys.trace.window;
            Some(Meter::new(block, plan.interval, window, count))
        };
        let throughput = meter(series::THROUGHPUT, Subject::Flow, of_flows);
        let carried = meter(series::CARRIED, Subject::Port, of_ports);
        let thinned = plan.interval == TraceInterval::Auto;
        Self {
            ports: plan.ports.clone(),
            flows: plan.flows.clone(),
            queue,
            marks,
            drops,
            paused,
            cwnd,
            rwnd,
            throughput,
            carried,
            header_bytes: point.keys.net.header_bytes,
            gauges,
            events: plan.events.then(|| Kept::new(thinned)),
            counts: vec![(0, 0); ports],
            held: vec![0; ports],
            stored: vec![0; flows],
            timeouts: vec![[(0, 0); 2]; flows],
            recovering: vec![false; flows],
            thinned,
            rows,
        }
    }

    /// Every series. Recorders with the same settings have the same series in the same order.
    fn channels(&mut self) -> impl Iterator<Item = &mut Channel> {
        let of_ports = [
            &mut self.queue,
            &mut self.marks,
            &mut self.drops,
            &mut self.paused,
        ];
        let all = of_ports
            .into_iter()
            .chain([&mut self.cwnd, &mut self.rwnd])
            .flatten();
        let gauges = self.gauges.iter_mut();
        let gauged = gauges.flat_map(|gauged| {
            [
                &mut gauged.of_flows,
                &mut gauged.of_hosts,
                &mut gauged.of_ports,
            ]
        });
        all.chain(gauged)
    }

    /// Writes the remaining rows and ends the file. Fails if writing failed now or before.
    pub fn finish(mut self) -> io::Result<()> {
        let of_ports = [self.queue, self.marks, self.drops, self.paused];
        let channels = of_ports.into_iter().chain([self.cwnd, self.rwnd]);
        for channel in channels.flatten() {
            channel.finish(&mut self.rows);
        }
        for gauged in self.gauges {
            gauged.of_flows.finish(&mut self.rows);
            gauged.of_hosts.finish(&mut self.rows);
            gauged.of_ports.finish(&mut self.rows);
        }
        for meter in [self.throughput, self.carried].into_iter().flatten() {
            meter.finish(&mut self.rows);
        }
        if let Some(events) = self.events {
            events.finish(&mut self.rows);
        }
        self.rows.finish()
    }

    fn event(&mut self, kind: EventKind, flow: FlowId, now: Time) {
        self.add(Event {
            time: now.as_ps(),
            kind,
            flow: flow.0,
            port: None,
            cause: None,
        });
    }

    fn add(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.add(&mut self.rows, event);
        }
    }

    /// Calls `act` for every series of flows.
    fn of_flows(&mut self, mut act: impl FnMut(&mut Channel, &mut Rows)) {
        for channel in [&mut self.cwnd, &mut self.rwnd].into_iter().flatten() {
            act(channel, &mut self.rows);
        }
        for gauged in &mut self.gauges {
            act(&mut gauged.of_flows, &mut self.rows);
        }
    }

    /// Records the windows and the state of a sender.
    #[inline]
    fn sample_sender(&mut self, flow: u32, endpoint: &Endpoint<Sender>, now: u64) {
        if let Some(channel) = &mut self.cwnd {
            let window = endpoint.cc().as_role().window();
            if window != u64::MAX {
                channel.change(&mut self.rows, flow, now, real(window));
            }
        }
        if let Some(channel) = &mut self.rwnd {
            let window = real(endpoint.peer_window());
            channel.change(&mut self.rows, flow, now, window);
        }
        if !self.gauges.is_empty() {
            endpoint.cc().as_role().gauges(&mut |name, value| {
                if let Some(gauged) = self.gauges.iter_mut().find(|gauged| gauged.name == name) {
                    gauged.of_flows.change(&mut self.rows, flow, now, value);
                }
            });
        }
    }

    /// A timer of an end has expired, perhaps the retransmission timer.
    fn notice_timeout(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        let counters = endpoint.counters();
        let timeouts = (counters.timeouts, counters.syn_timeouts);
        let known = &mut self.timeouts[end.flow.0 as usize][usize::from(end.sends)];
        let earlier = std::mem::replace(known, timeouts);
        if earlier.0 < timeouts.0 {
            self.event(EventKind::Timeout, end.flow, now);
        }
        if earlier.1 < timeouts.1 {
            self.event(EventKind::SynTimeout, end.flow, now);
        }
    }

    /// A sender may have entered or left fast recovery.
    #[inline]
    fn notice_recovery(&mut self, flow: FlowId, recovering: bool, now: Time) {
        let earlier = std::mem::replace(&mut self.recovering[flow.0 as usize], recovering);
        if recovering && !earlier {
            self.event(EventKind::FastRetransmit, flow, now);
        }
    }
}

impl Probe for Recorder {
    fn has_failed(&self) -> bool {
        self.rows.has_failed()
    }

    /// Windows may change until TIME-WAIT is over. No event follows the end of a connection.
    fn keeps_ends(&self) -> bool {
        let of_flows = self.cwnd.is_some() || self.rwnd.is_some() || self.throughput.is_some();
        of_flows || !self.gauges.is_empty()
    }

    #[inline]
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        if self.ports[port.0 as usize]
            && let Some(meter) = &mut self.carried
        {
            let size = u64::from(self.header_bytes) + u64::from(packet.payload);
            meter.add(&mut self.rows, port.0, now.as_ps(), size);
        }
    }

    #[inline]
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if self.ports[port.0 as usize]
            && let Some(channel) = &mut self.queue
        {
            channel.change(&mut self.rows, port.0, at.as_ps(), real(waiting));
        }
    }

    fn on_mark(&mut self, port: PortId, packet: &Packet, now: Time) {
        let count = &mut self.counts[port.0 as usize].0;
        *count += 1;
        if self.ports[port.0 as usize]
            && let Some(channel) = &mut self.marks
        {
            channel.change(&mut self.rows, port.0, now.as_ps(), f64::from(*count));
        }
        self.add(Event {
            time: now.as_ps(),
            kind: EventKind::Mark,
            flow: packet.flow.0,
            port: Some(port.0),
            cause: None,
        });
    }

    fn on_drop(&mut self, port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        let count = &mut self.counts[port.0 as usize].1;
        *count += 1;
        if self.ports[port.0 as usize]
            && let Some(channel) = &mut self.drops
        {
            channel.change(&mut self.rows, port.0, now.as_ps(), f64::from(*count));
        }
        self.add(Event {
            time: now.as_ps(),
            kind: EventKind::Drop,
            flow: packet.flow.0,
            port: Some(port.0),
            cause: Some(reason),
        });
    }

    fn on_pause(&mut self, port: PortId, _class: u8, paused: bool, now: Time) {
        let held = &mut self.held[port.0 as usize];
        *held = if paused { *held + 1 } else { *held - 1 };
        if self.ports[port.0 as usize]
            && let Some(channel) = &mut self.paused
        {
            channel.change(&mut self.rows, port.0, now.as_ps(), f64::from(*held));
        }
    }

    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        if self.gauges.is_empty() || !self.ports[port.0 as usize] {
            return;
        }
        hook.gauges(&mut |name, value| {
            if let Some(gauged) = self.gauges.iter_mut().find(|gauged| gauged.name == name) {
                gauged
                    .of_ports
                    .change(&mut self.rows, port.0, at.as_ps(), value);
            }
        });
    }

    fn on_start(&mut self, flow: FlowId, now: Time) {
        self.event(EventKind::Start, flow, now);
        if self.flows[flow.0 as usize] {
            self.of_flows(|channel, _| channel.begin(flow.0, now.as_ps()));
        }
    }

    fn on_completion(&mut self, flow: FlowId, now: Time) {
        self.event(EventKind::Completion, flow, now);
        if self.flows[flow.0 as usize] {
            self.of_flows(|channel, rows| channel.end(rows, flow.0, now.as_ps()));
        }
    }

    #[inline]
    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        if self.events.is_some() {
            if end.deadline {
                self.notice_timeout(end, endpoint, now);
            }
            if end.sends {
                self.notice_recovery(end.flow, endpoint.is_recovering(), now);
            }
        }
        if !self.flows[end.flow.0 as usize] {
            return;
        }
        if end.sends {
            self.sample_sender(end.flow.0, endpoint, now.as_ps());
        } else if let Some(meter) = &mut self.throughput {
            let stored = endpoint.received() + endpoint.held();
            let earlier = &mut self.stored[end.flow.0 as usize];
            let new = stored - std::mem::replace(earlier, stored);
            if new > 0 {
                meter.add(&mut self.rows, end.flow.0, now.as_ps(), new);
            }
        }
    }

    #[inline]
    fn on_host(&mut self, host: HostId, state: &Host<Sender, Receiver>, now: Time) {
        if self.gauges.is_empty() {
            return;
        }
        state.role().as_role().gauges(&mut |slot, name, value| {
            let Some(gauged) = self.gauges.iter_mut().find(|gauged| gauged.name == name) else {
                return;
            };
            let Some(slot) = slot else {
                return gauged
                    .of_hosts
                    .change(&mut self.rows, host.0, now.as_ps(), value);
            };
            let flow = state.endpoint(slot).identity().flow.0;
            if self.flows[flow as usize] {
                gauged
                    .of_flows
                    .change(&mut self.rows, flow, now.as_ps(), value);
            }
        });
    }

    fn on_end(&mut self, now: Time) {
        let ports = [&mut self.queue, &mut self.marks, &mut self.drops];
        let ports = ports.into_iter().flatten();
        let gauges = self.gauges.iter_mut();
        let gauged = gauges.flat_map(|gauged| [&mut gauged.of_hosts, &mut gauged.of_ports]);
        for channel in ports.chain(gauged) {
            channel.end_all(&mut self.rows, now.as_ps());
        }
        self.of_flows(|channel, rows| channel.end_all(rows, now.as_ps()));
    }

    fn on_revocation(&mut self, flow: FlowId, at: Time) {
        if let Some(events) = &mut self.events {
            events.remove(&Event {
                time: at.as_ps(),
                kind: EventKind::Completion,
                flow: flow.0,
                port: None,
                cause: None,
            });
        }
    }

    fn branch(&self) -> Option<Box<dyn Branch>> {
        self.thinned.then(|| -> Box<dyn Branch> {
            Box::new(Self {
                rows: Rows::detached(),
                ports: self.ports.clone(),
                flows: self.flows.clone(),
                queue: self.queue.clone(),
                marks: self.marks.clone(),
                drops: self.drops.clone(),
                paused: self.paused.clone(),
                cwnd: self.cwnd.clone(),
                rwnd: self.rwnd.clone(),
                throughput: self.throughput.clone(),
                carried: self.carried.clone(),
                header_bytes: self.header_bytes,
                gauges: self.gauges.clone(),
                events: self.events.clone(),
                thinned: true,
                counts: self.counts.clone(),
                held: self.held.clone(),
                stored: self.stored.clone(),
                timeouts: self.timeouts.clone(),
                recovering: self.recovering.clone(),
            })
        })
    }

    fn join(&mut self, branch: Box<dyn Branch>) {
        let branch: Box<dyn Any> = branch;
        let Ok(mut branch) = branch.downcast::<Self>() else {
            return;
        };
        for (own, others) in self.channels().zip(branch.channels()) {
            own.join(others);
        }
        let meters = [&mut self.throughput, &mut self.carried];
        let others = [branch.throughput, branch.carried];
        for (own, others) in meters
            .into_iter()
            .flatten()
            .zip(others.into_iter().flatten())
        {
            own.join(others);
        }
        if let (Some(own), Some(others)) = (&mut self.events, branch.events) {
            own.join(others);
        }
    }
}
