//! Devices, watched for a while: their queues and their flows. Nothing is changed.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use machine::interrupt;
use machine::netlink::{Devices, RootQdisc};
use machine::privilege::drop_all;
use observed::{DEGREE, Observation};
use programs::observer::{DeviceObserver, ObserverOptions, measure};
use protocol::{DeviceLine, Line, NoteLine};

use crate::device::{DeviceId, Root, unreadable};
use crate::error::DeployError;
use crate::metrics::Readers;
use crate::namespace::inside;

mod connections;
mod count;
mod metrics;

pub(crate) use count::Count;

/// An order to watch devices.
#[derive(Clone, Debug)]
pub struct Observe {
    /// The names of the devices.
    pub devices: Vec<String>,
    /// The name of their network namespace; empty for that of the caller.
    pub netns: String,
    /// For how long.
    pub time: Duration,
    /// The address where Prometheus may ask meanwhile.
    pub metrics: Option<SocketAddr>,
    /// Whether each flow is reported, too.
    pub flows: bool,
}

/// Facts about a device, found before it is watched.
pub(crate) struct Port {
    pub(crate) place: DeviceId,
    /// Its queue, if it can be read, with its room in bytes.
    pub(crate) queue: Option<(RootQdisc, Option<u64>)>,
    /// Why its queue cannot be read, if so.
    pub(crate) unreadable: Option<String>,
    pub(crate) rate_bps: Option<u64>,
    pub(crate) rate_from: &'static str,
}

/// Watches devices. Reports each flow once it has ended, if wanted, and a summary of each device in the end. A signal ends
/// it early, and so does the removal of the last device. Before flows of another device comes the name of the device, if
/// there are several.
///
/// # Errors
/// If there is no such device, or the kernel refuses.
pub fn observe(order: &Observe, tell: &mut dyn FnMut(&Line)) -> Result<(), DeployError> {
    let readers = order.metrics.map(Readers::listen).transpose()?;
    let (ports, mut devices) = inside(&order.netns, || {
        let mut devices = Devices::open()?;
        let names = order.devices.iter();
        let ports = names.map(|name| Port::find(&order.netns, name, &mut devices));
        let ports: Vec<_> = ports.collect::<Result<_, _>>()?;
        Ok((ports, devices))
    })?;
    let observers = ports.iter().map(Port::observer);
    let mut observers: Vec<_> = observers.collect::<Result<_, _>>()?;
    let measuring = measure()?;
    let begin = now();
    inside(&order.netns, || {
        let mut both = observers.iter_mut().zip(&ports);
        both.try_for_each(|(observer, port)| Ok(observer.attach(port.place.device)?))
    })?;
    let watched = observers.into_iter().zip(ports);
    let watched = watched.map(|(observer, port)| Watched::new(observer, port, begin, order));
    let mut watched: Vec<_> = watched.collect();
    let mut tell = Teller {
        tell,
        device: (order.devices.len() == 1).then_some(0),
    };
    // Programs are measured in the first second: reading clocks around each of them costs as much as some of them.
    let measured = order.time.min(MEASURED);
    watch(&mut watched, begin + measured, &mut |watched| {
        tell.flows(watched);
        Ok(())
    })?;
    for one in &mut watched {
        one.measured(begin)?;
    }
    drop(measuring);
    drop_all()?;
    watch(&mut watched, begin + order.time, &mut |watched| {
        for one in &mut *watched {
            one.look_at_queue(&mut devices);
        }
        tell.flows(watched);
        if let Some(readers) = &readers {
            readers.answer(&mut || {
                let seen = watched.iter().filter_map(|one| one.summary().ok());
                metrics::text(&seen.collect::<Vec<_>>())
            })?;
        }
        Ok(())
    })?;
    let mut numbered = watched.into_iter().enumerate();
    numbered.try_for_each(|(number, one)| one.end(&mut devices, &mut tell, number))
}

/// Reports lines, and the device of flows and remarks when it is another one than before.
struct Teller<'a> {
    tell: &'a mut dyn FnMut(&Line),
    /// The number of the device of the last flow or remark.
    device: Option<usize>,
}

impl Teller<'_> {
    /// The flows of all devices that have ended since the last call.
    fn flows(&mut self, watched: &mut [Watched]) {
        for (number, one) in watched.iter_mut().enumerate() {
            for flow in one.count.taken() {
                self.line(number, one, &Line::Flow(Box::new(flow)));
            }
        }
    }

    fn line(&mut self, number: usize, of: &Watched, line: &Line) {
        if self.device != Some(number) {
            self.device = Some(number);
            let device = of.port.place.name.clone();
            (self.tell)(&Line::Device(DeviceLine { device }));
        }
        (self.tell)(line);
    }
}

/// Reads events until that time of the monotonic clock, until a signal comes, or until no device is left.
fn watch(
    watched: &mut [Watched],
    until: Duration,
    each: &mut dyn FnMut(&mut [Watched]) -> Result<(), DeployError>,
) -> Result<(), DeployError> {
    while now() < until && interrupt::heard().is_none() {
        thread::sleep(LOOK.min(until.saturating_sub(now())));
        for one in watched.iter_mut().filter(|one| !one.is_gone) {
            one.count.look(&one.observer, now())?;
        }
        each(watched)?;
        if watched.iter().all(|one| one.is_gone) {
            break;
        }
    }
    Ok(())
}

/// A device that is watched.
struct Watched {
    port: Port,
    observer: DeviceObserver,
    count: Count,
    /// Packets that its queue has dropped, as long as the device is there.
    drops: Option<u32>,
    is_gone: bool,
}

impl Watched {
    fn new(observer: DeviceObserver, port: Port, begin: Duration, order: &Observe) -> Self {
        let count = Count::new(begin, port.queue_bps()).among(order.devices.len());
        Self {
            count: if order.flows { count.listing() } else { count },
            drops: port.queue.as_ref().map(|(queue, _)| queue.drops),
            port,
            observer,
            is_gone: false,
        }
    }

    /// Keeps the cost of its programs since they began.
    fn measured(&mut self, begin: Duration) -> Result<(), DeployError> {
        let (spent_ns, _) = self.observer.cost()?;
        let packets: u64 = self.observer.totals()?.packets.iter().sum();
        let time = now().saturating_sub(begin);
        self.count.measured(spent_ns, packets, time);
        Ok(())
    }

    fn look_at_queue(&mut self, devices: &mut Devices) {
        match devices.queue(self.port.place.device) {
            Ok(queue) => self.drops = queue.map(|queue| queue.drops),
            Err(_) => self.is_gone = true,
        }
    }

    fn summary(&self) -> Result<Observation, DeployError> {
        let (totals, degrees) = (self.observer.totals()?, self.observer.degrees()?);
        let queue = (bin_shift(self.port.room()), self.drops);
        Ok(self.count.summary(&self.port, &totals, &degrees, queue))
    }

    /// Stops watching, and reports what was seen.
    fn end(
        mut self,
        devices: &mut Devices,
        tell: &mut Teller<'_>,
        number: usize,
    ) -> Result<(), DeployError> {
        self.observer.detach();
        if let Ok(queue) = devices.queue(self.port.place.device) {
            self.drops = queue.map(|queue| queue.drops);
        }
        self.count.end(&self.observer)?;
        let seen = self.summary()?;
        for flow in self.count.taken() {
            tell.line(number, &self, &Line::Flow(Box::new(flow)));
        }
        let note = |text: &str| {
            let text = text.to_owned();
            Line::Note(NoteLine { text })
        };
        if self.is_gone {
            let text = "the device went away before the time was over";
            tell.line(number, &self, &note(text));
        }
        if let Some(why) = &self.port.unreadable {
            tell.line(number, &self, &note(why));
        }
        (tell.tell)(&Line::Observed(Box::new(seen)));
        Ok(())
    }
}

impl Port {
    /// A device of the namespace of this thread, which was given by the name `netns`.
    pub(crate) fn find(
        netns: &str,
        name: &str,
        devices: &mut Devices,
    ) -> Result<Self, DeployError> {
        let (place, device) = DeviceId::find(netns, name)?;
        let queue = devices.queue(place.device)?;
        let unreadable = unreadable(&device, queue.as_ref());
        let rate_bps = queue.as_ref().and_then(|queue| queue.rate_bps);
        let speed = || speed(netns, name, &device.kind);
        let (rate_bps, rate_from) = match rate_bps {
            Some(rate) => (Some(rate), "The rate of the queue"),
            None => (speed(), "The speed of the device"),
        };
        let queue = queue.filter(|_| unreadable.is_none());
        let queue = queue.map(|queue| {
            let room = Root::of(&queue, device.mtu).room;
            (queue, room)
        });
        Ok(Self {
            place,
            queue,
            unreadable,
            rate_bps,
            rate_from,
        })
    }
}

impl Port {
    /// Programs that will watch it.
    pub(crate) fn observer(&self) -> Result<DeviceObserver, DeployError> {
        Ok(DeviceObserver::load(ObserverOptions {
            queue_shift: bin_shift(self.room()),
            degree: DEGREE,
            burst_bytes: self.rate_bps.map_or(0, burst_bytes),
            burst: self.rate_bps.map_or(SHORTEST, burst),
            packets_per_second: MOST_PACKETS,
            has_queue: self.queue.is_some(),
            queue_bps: self.rate_bps.unwrap_or_default(),
        })?)
    }

    /// The rate of its queue, if stated.
    pub(crate) fn queue_bps(&self) -> Option<u64> {
        self.queue.as_ref().and(self.rate_bps)
    }

    fn room(&self) -> Option<u64> {
        self.queue.as_ref().and_then(|(_, room)| *room)
    }
}

/// The speed that the hardware states, in bits per second. Files about devices show those of the own namespace.
fn speed(netns: &str, name: &str, kind: &str) -> Option<u64> {
    if !netns.is_empty() || !kind.is_empty() {
        return None;
    }
    let file = format!("/sys/class/net/{name}/speed");
    let mbit: u64 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    (mbit > 0).then(|| mbit * 1_000_000)
}

/// The time in which bursts are looked for: 100 us, and at least that of ten full packets.
fn burst(rate_bps: u64) -> Duration {
    let packets = 10 * 1_514 * 8 * 1_000_000_000 / rate_bps.max(1);
    SHORTEST.max(Duration::from_nanos(packets))
}

/// Half of the rate, in bytes in such a time.
fn burst_bytes(rate_bps: u64) -> u64 {
    let bytes = u128::from(rate_bps) * burst(rate_bps).as_nanos() / 16_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The bin width for a queue of this size: 32 to 64 bins if the size is known.
fn bin_shift(room: Option<u64>) -> u32 {
    let room = room.unwrap_or(USUAL_ROOM).max(64);
    room.div_ceil(64).next_power_of_two().ilog2()
}

/// The monotonic clock, which programs use as well.
pub(crate) fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::try_from(now).unwrap_or_default()
}

/// The interval at which events are read.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// The shortest burst.
const SHORTEST: Duration = Duration::from_micros(100);
/// The time for which programs are measured.
const MEASURED: Duration = Duration::from_secs(1);
/// More packets a second in each direction are not examined: at 200 ns each they would take a fifth of a processor.
const MOST_PACKETS: u64 = 1_000_000;
/// Bytes, if the queue does not state its size.
const USUAL_ROOM: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_no_single_packet() {
        assert_eq!(burst(10_000_000_000), SHORTEST);
        assert_eq!(burst_bytes(10_000_000_000), 62_500);
        assert_eq!(burst(100_000_000), Duration::from_nanos(1_211_200));
        assert_eq!(burst_bytes(100_000_000), 7_570);
    }

    #[test]
    fn a_queue_has_32_to_64_bins() {
        for room in [64_000_u64, 65_536, 262_144, 1_500_000] {
            let bins = room.div_ceil(1 << bin_shift(Some(room)));
            assert!((32..=64).contains(&bins), "{bins} bins of {room} bytes");
        }
    }
}
