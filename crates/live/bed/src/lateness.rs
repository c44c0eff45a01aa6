//! How late packets leave a full port, because cores are late at its timers.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base::Rate;
use machine::priority::Priority;

use crate::capture::{listen, next};
use crate::lan::Running;

/// A packet that left a port.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Duration,
    bytes: u64,
}

/// The longest time in microseconds by which packets leave the watched port of `network` late while `fill` keeps this
/// port full. `None` if too few packets leave it.
pub(crate) fn longest_us<T>(
    network: Running<'_>,
    fill: impl FnOnce() -> io::Result<T>,
) -> io::Result<Option<f64>> {
    let Running { bed, lan, speed } = network;
    let socket = lan.owner(bed.watched).within(listen)?;
    let interface = lan.interfaces[bed.watched.0 as usize];
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| departures(&socket, interface, &stop));
        let filled = fill();
        stop.store(true, Ordering::Relaxed);
        let seen = watching.join().expect("watching a port does not panic")?;
        filled?;
        let rate = Rate::from_bps(speed.of(bed.watched_rate().as_bps()));
        Ok(longest_of_us(&seen, rate, bed.packet_bytes()))
    })
}

/// The packets that leave `interface` until `stop`.
fn departures(socket: &OwnedFd, interface: u32, stop: &AtomicBool) -> io::Result<Vec<Departure>> {
    let _last = Priority::lowered();
    let mut frame = [0; 1];
    let mut left = Vec::new();
    loop {
        let last = stop.load(Ordering::Relaxed);
        match next(socket, &mut frame)? {
            Some(seen) if seen.from.is_some_and(|from| from.leaves(interface)) => {
                left.push(Departure {
                    at: seen.at,
                    bytes: seen.length as u64,
                });
            }
            None if last => return Ok(left),
            _ => {}
        }
    }
}

/// The longest time in microseconds by which packets leave a full port with this rate late. A full port sends the next
/// packet when its rate allows it, so gaps between packets differ from their time on the link only because packets are
/// late. If all times from zero to the longest are equally likely, two of them differ by a third of the longest on
/// average.
fn longest_of_us(left: &[Departure], rate: Rate, packet: u32) -> Option<f64> {
    let micros = |bytes: u64| rate.serialisation(bytes).as_micros();
    // If the gap to the next packet has room for another one, the port may have been empty.
    let most = 2.0 * micros(packet.into());
    let gaps = left.windows(2).filter_map(|pair| {
        let gap = pair[1].at.saturating_sub(pair[0].at).as_secs_f64() * 1e6;
        let difference = (gap - micros(pair[1].bytes)).abs();
        (gap < most).then_some(difference)
    });
    let (count, sum) = gaps.fold((0_u32, 0.0), |(count, sum), gap| (count + 1, sum + gap));
    (count >= LEAST).then(|| 3.0 * sum / f64::from(count))
}

/// The fewest gaps for a mean.
const LEAST: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_bps(100_000_000);

    /// Full packets of a port with `RATE`. Packet `n` is late by `late(n)` nanoseconds.
    fn left(late: impl Fn(u64) -> u64) -> Vec<Departure> {
        let at = |n: u64| Duration::from_nanos(n * 120_000 + late(n));
        let all = (0..2_000).map(|n| Departure {
            at: at(n),
            bytes: 1_500,
        });
        all.collect()
    }

    #[test]
    fn the_longest_lateness_is_found_again() {
        assert_eq!(longest_of_us(&left(|_| 0), RATE, 1_500), Some(0.0));
        // If all packets are equally late, no gap shows it.
        assert_eq!(longest_of_us(&left(|_| 5_000), RATE, 1_500), Some(0.0));
        // These times are spread evenly over 24,000 ns.
        let spread = |n: u64| (n * n * 7_919 + n * 104_729) % 24_000;
        let found = longest_of_us(&left(spread), RATE, 1_500).expect("enough packets");
        assert!((22.0..26.0).contains(&found), "{found}");
    }

    #[test]
    fn an_empty_port_says_nothing() {
        assert_eq!(longest_of_us(&left(|_| 0)[..50], RATE, 1_500), None);
        // With packets of half this size the gaps have room for another one.
        assert_eq!(longest_of_us(&left(|_| 0), RATE, 750), None);
    }
}
