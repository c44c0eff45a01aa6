//! A device, watched for a while: its queue, its flows, and what becomes of them. Nothing is changed.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use machine::interrupt;
use machine::netlink::{Devices, Queue};
use machine::privilege::drop_all;
use observed::{DEGREE, Observation};
use programs::observer::{Observer, Watch, measure};
use protocol::{Line, NoteLine};

use crate::device::{DeviceId, Root, unreadable};
use crate::error::DeployError;
use crate::metrics::Readers;
use crate::namespace::inside;

mod count;
mod metrics;

pub(crate) use count::Count;

/// An order to watch a device.
#[derive(Clone, Debug)]
pub struct Observe {
    /// The name of the device.
    pub device: String,
    /// The name of its network namespace; empty for that of the caller.
    pub netns: String,
    /// For how long.
    pub time: Duration,
    /// Where Prometheus may ask meanwhile.
    pub metrics: Option<SocketAddr>,
}

/// Facts about a device, found before it is watched.
pub(crate) struct Port {
    pub(crate) place: DeviceId,
    /// Its queue, if it can be read, with its room in bytes.
    pub(crate) queue: Option<(Queue, Option<u64>)>,
    /// Why its queue cannot be read, if so.
    pub(crate) unreadable: Option<String>,
    pub(crate) rate_bps: Option<u64>,
    pub(crate) rate_from: &'static str,
}

/// Watches a device, and tells each flow and, in the end, what was seen. A signal ends it early.
///
/// # Errors
/// If there is no such device, or the kernel refuses.
pub fn observe(order: &Observe, tell: &mut dyn FnMut(&Line)) -> Result<(), DeployError> {
    let readers = order.metrics.map(Readers::listen).transpose()?;
    let (port, mut devices) = inside(&order.netns, || {
        let mut devices = Devices::open()?;
        Ok((Port::find(order, &mut devices)?, devices))
    })?;
    let bin_shift = bin_shift(port.room());
    let mut observer = port.observer()?;
    let measuring = measure()?;
    let begin = now();
    inside(&order.netns, || Ok(observer.attach(port.place.device)?))?;
    let mut count = Count::new(begin, port.queue_bps());
    // Programs are measured in the first second: reading clocks around each of them costs as much as some of them.
    let measured = order.time.min(MEASURED);
    watch(&observer, &mut count, begin + measured, &mut |_| Ok(true))?;
    let (spent_ns, _) = observer.cost()?;
    let packets: u64 = observer.totals()?.packets.iter().sum();
    count.measured(spent_ns, packets, now().saturating_sub(begin));
    drop(measuring);
    drop_all()?;
    let summary = |observer: &Observer, count: &Count, drops| -> Result<Observation, DeployError> {
        let (totals, degrees) = (observer.totals()?, observer.degrees()?);
        Ok(count.summary(&port, &totals, &degrees, (bin_shift, drops)))
    };
    // What the queue has dropped, as long as the device is there.
    let mut drops = port.queue.as_ref().map(|(queue, _)| queue.drops);
    let mut is_gone = false;
    watch(&observer, &mut count, begin + order.time, &mut |count| {
        match devices.queue(port.place.device) {
            Ok(queue) => drops = queue.map(|queue| queue.drops),
            Err(_) => is_gone = true,
        }
        if let Some(readers) = &readers {
            readers.answer(&mut || {
                let seen = summary(&observer, count, drops);
                seen.map_or_else(|_| String::new(), |seen| metrics::text(&seen))
            })?;
        }
        Ok(!is_gone)
    })?;
    observer.detach();
    if let Ok(queue) = devices.queue(port.place.device) {
        drops = queue.map(|queue| queue.drops);
    }
    count.end(&observer)?;
    let seen = summary(&observer, &count, drops)?;
    for flow in count.flows() {
        tell(&Line::Flow(Box::new(flow.clone())));
    }
    let note = |text: &str| {
        let text = text.to_owned();
        Line::Note(NoteLine { text })
    };
    if is_gone {
        tell(&note("the device went away before the time was over"));
    }
    if let Some(why) = &port.unreadable {
        tell(&note(why));
    }
    tell(&Line::Observed(Box::new(seen)));
    Ok(())
}

/// Looks until that time of the monotonic clock, until a signal comes, or `each` returns that it is over.
fn watch(
    observer: &Observer,
    count: &mut Count,
    until: Duration,
    each: &mut dyn FnMut(&Count) -> Result<bool, DeployError>,
) -> Result<(), DeployError> {
    while now() < until && interrupt::heard().is_none() {
        thread::sleep(LOOK.min(until.saturating_sub(now())));
        count.look(observer, now())?;
        if !each(count)? {
            break;
        }
    }
    Ok(())
}

impl Port {
    pub(crate) fn find(order: &Observe, devices: &mut Devices) -> Result<Self, DeployError> {
        let (place, device) = DeviceId::find(&order.netns, &order.device)?;
        let queue = devices.queue(place.device)?;
        let unreadable = unreadable(&device, queue.as_ref());
        let rate_bps = queue.as_ref().and_then(|queue| queue.rate_bps);
        let speed = || speed(order, &device.kind);
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
    pub(crate) fn observer(&self) -> Result<Observer, DeployError> {
        Ok(Observer::load(Watch {
            queue_shift: bin_shift(self.room()),
            degree: DEGREE,
            burst_bytes: self.rate_bps.map_or(0, burst_bytes),
            burst: self.rate_bps.map_or(SHORTEST, burst),
            packets_per_second: MOST_PACKETS,
            has_queue: self.queue.is_some(),
            queue_bps: self.rate_bps.unwrap_or_default(),
        })?)
    }

    /// At which its queue sends, if it says so.
    pub(crate) fn queue_bps(&self) -> Option<u64> {
        self.queue.as_ref().and(self.rate_bps)
    }

    fn room(&self) -> Option<u64> {
        self.queue.as_ref().and_then(|(_, room)| *room)
    }
}

/// What hardware says of its speed, in bits per second. Files about devices are those of the own namespace.
fn speed(order: &Observe, kind: &str) -> Option<u64> {
    if !order.netns.is_empty() || !kind.is_empty() {
        return None;
    }
    let file = format!("/sys/class/net/{}/speed", order.device);
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

/// Bins of a queue with so much room: 32 to 64 for a queue whose room is known.
fn bin_shift(room: Option<u64>) -> u32 {
    let room = room.unwrap_or(USUAL_ROOM).max(64);
    room.div_ceil(64).next_power_of_two().ilog2()
}

/// The monotonic clock, by which programs tell times.
pub(crate) fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::try_from(now).unwrap_or_default()
}

/// So often events are read.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// The shortest burst.
const SHORTEST: Duration = Duration::from_micros(100);
/// For so long programs are measured.
const MEASURED: Duration = Duration::from_secs(1);
/// More packets a second, each way, are not looked at: at 200 ns each they would take a fifth of a processor.
const MOST_PACKETS: u64 = 1_000_000;
/// Bytes, where a queue does not say.
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
