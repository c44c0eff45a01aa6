//! Turns changes of a quantity into the samples that are kept.

use base::Sort as _;
use base::Span;
use base::cast::real;
use plan::keys::TraceInterval;

use super::rows::Rows;
use crate::trace::rows::{Event, EventKind, Sample};
use crate::trace::thin::{Keep, Thin, TimeWindows};

/// One quantity of many ports, flows or hosts.
#[derive(Clone)]
pub(super) struct Channel {
    block: usize,
    tracks: Samplers,
}

/// The state of each port, flow or host.
#[derive(Clone)]
enum Samplers {
    /// The last value; NaN before the first.
    Change(Vec<f64>),
    /// A sample at every multiple of this many picoseconds.
    Every(u64, Vec<Pulse>),
    Thin(Vec<Thin>),
}

/// The value at multiples of an interval.
#[derive(Clone, Copy)]
struct Pulse {
    /// The next multiple; a time that is never reached while nothing is recorded.
    next: u64,
    /// The current value; NaN before the first.
    value: f64,
}

impl Channel {
    /// A channel of `block`, for `count` ports, flows or hosts, of which `chosen` are recorded.
    pub(super) fn new(
        block: usize,
        interval: TraceInterval,
        keep: Keep,
        (count, chosen): (usize, usize),
    ) -> Self {
        let silent = Pulse {
            next: u64::MAX,
            value: f64::NAN,
        };
        let tracks = match interval {
            TraceInterval::Change => Samplers::Change(vec![f64::NAN; count]),
            TraceInterval::Every(span) => Samplers::Every(span.as_ps(), vec![silent; count]),
            TraceInterval::Auto => Samplers::Thin(vec![Thin::new(keep, most(chosen)); count]),
        };
        Self { block, tracks }
    }

    /// Every track begins at `time`.
    pub(super) fn beginning(mut self, time: u64) -> Self {
        if let Samplers::Every(step, pulses) = &mut self.tracks {
            let next = time.next_multiple_of(*step);
            for pulse in pulses {
                pulse.next = next;
            }
        }
        self
    }

    /// Tracks that are not `chosen` never begin.
    pub(super) fn only(mut self, chosen: &[bool]) -> Self {
        if let Samplers::Every(_, pulses) = &mut self.tracks {
            for (pulse, chosen) in pulses.iter_mut().zip(chosen) {
                pulse.next = if *chosen { pulse.next } else { u64::MAX };
            }
        }
        self
    }

    /// Every track begins with this value.
    pub(super) fn at(mut self, value: f64) -> Self {
        if let Samplers::Every(_, pulses) = &mut self.tracks {
            for pulse in pulses {
                pulse.value = value;
            }
        }
        self
    }

    /// A track begins.
    pub(super) fn begin(&mut self, id: u32, time: u64) {
        if let Samplers::Every(step, pulses) = &mut self.tracks {
            pulses[id as usize].next = time.next_multiple_of(*step);
        }
    }

    /// The value is `value` from `time` on; it may be the old value.
    #[inline(always)]
    #[expect(clippy::float_cmp, reason = "whether a value is the same as before")]
    pub(super) fn change(&mut self, rows: &mut Rows, id: u32, time: u64, value: f64) {
        match &mut self.tracks {
            Samplers::Change(last) => {
                if last[id as usize] != value {
                    last[id as usize] = value;
                    rows.push(self.block, Sample { time, id, value });
                }
            }
            Samplers::Every(step, pulses) => {
                let pulse = &mut pulses[id as usize];
                pulse.catch_up(rows, (self.block, id), *step, time);
                pulse.value = value;
            }
            Samplers::Thin(thin) => thin[id as usize].change(time, value),
        }
    }

    /// A track ends: its value at `time` is the last one.
    pub(super) fn end(&mut self, rows: &mut Rows, id: u32, time: u64) {
        if let Samplers::Every(step, pulses) = &mut self.tracks {
            let pulse = &mut pulses[id as usize];
            pulse.catch_up(rows, (self.block, id), *step, time + 1);
            pulse.next = u64::MAX;
        }
    }

    /// All tracks end.
    pub(super) fn end_all(&mut self, rows: &mut Rows, time: u64) {
        if let Samplers::Every(_, pulses) = &self.tracks {
            for id in (0..).take(pulses.len()) {
                self.end(rows, id, time);
            }
        }
    }

    /// Takes over the tracks of another channel, which sees other ports, flows or hosts.
    pub(super) fn join(&mut self, other: &mut Self) {
        if let (Samplers::Thin(tracks), Samplers::Thin(others)) =
            (&mut self.tracks, &mut other.tracks)
        {
            for (own, other) in tracks.iter_mut().zip(others) {
                if !other.is_empty() {
                    debug_assert!(own.is_empty(), "one of them sees each");
                    std::mem::swap(own, other);
                }
            }
        }
    }

    /// Gives the held-back samples to the rows.
    pub(super) fn finish(self, rows: &mut Rows) {
        if let Samplers::Thin(tracks) = self.tracks {
            for (id, thin) in (0..).zip(tracks) {
                for (time, value) in thin.finish() {
                    rows.push(self.block, Sample { time, id, value });
                }
            }
        }
    }
}

impl Pulse {
    /// Adds samples at all multiples before `time`.
    fn catch_up(&mut self, rows: &mut Rows, (block, id): (usize, u32), step: u64, time: u64) {
        while self.next < time {
            if !self.value.is_nan() {
                let (time, value) = (self.next, self.value);
                rows.push(block, Sample { time, id, value });
            }
            self.next += step;
        }
    }
}

/// Throughput of flows.
#[derive(Clone)]
pub(in crate::trace) struct Meter {
    block: usize,
    tracks: Meters,
}

/// The state of each flow.
#[derive(Clone)]
enum Meters {
    /// The length of windows in picoseconds; for each flow its last window with data, if any, and the bytes in it.
    Stream(u64, Vec<Option<(u64, u64)>>),
    Thin(Vec<TimeWindows>),
}

impl Meter {
    /// A channel of `block`, for this many flows, of which `chosen` are recorded.
    pub(in crate::trace) fn new(
        block: usize,
        interval: TraceInterval,
        window: Span,
        (flows, chosen): (usize, usize),
    ) -> Self {
        let length = window.as_ps();
        let tracks = match interval {
            TraceInterval::Auto => {
                Meters::Thin(vec![TimeWindows::new(length, most(chosen)); flows])
            }
            _ => Meters::Stream(length, vec![None; flows]),
        };
        Self { block, tracks }
    }

    /// `bytes` more came.
    pub(in crate::trace) fn add(&mut self, rows: &mut Rows, id: u32, time: u64, bytes: u64) {
        match &mut self.tracks {
            Meters::Stream(length, tracks) => {
                let now = time / *length;
                let track = &mut tracks[id as usize];
                let (mut window, mut amount) = track.unwrap_or((now, 0));
                while window < now {
                    rows.push(self.block, rate(id, window * *length, amount, *length));
                    (window, amount) = (window + 1, 0);
                }
                *track = Some((window, amount + bytes));
            }
            Meters::Thin(tracks) => tracks[id as usize].add(time, bytes),
        }
    }

    /// Takes over the tracks of another channel, which sees other flows or ports.
    pub(super) fn join(&mut self, other: Self) {
        if let (Meters::Thin(tracks), Meters::Thin(others)) = (&mut self.tracks, other.tracks) {
            for (own, other) in tracks.iter_mut().zip(others) {
                if !other.is_empty() {
                    debug_assert!(own.is_empty(), "one of them sees each");
                    *own = other;
                }
            }
        }
    }

    /// Gives the held-back samples to the rows.
    pub(in crate::trace) fn finish(self, rows: &mut Rows) {
        match self.tracks {
            Meters::Stream(length, tracks) => {
                for (id, track) in (0..).zip(tracks) {
                    if let Some((window, amount)) = track {
                        rows.push(self.block, rate(id, window * length, amount, length));
                    }
                }
            }
            Meters::Thin(tracks) => {
                for (id, track) in (0..).zip(tracks) {
                    let (length, windows) = track.finish();
                    for (time, amount) in windows {
                        rows.push(self.block, rate(id, time, amount, length));
                    }
                }
            }
        }
    }
}

/// The rate of this many bytes in a window, in bits per second.
fn rate(id: u32, time: u64, bytes: u64, length: u64) -> Sample {
    let value = real(bytes) * 8.0 / Span::from_ps(length).as_secs();
    Sample { time, id, value }
}

/// Events, thinned or not.
#[derive(Clone)]
pub(super) struct Kept {
    thinned: Option<[Sieve; EventKind::COUNT]>,
}

/// A choice of events that depends only on the events, not on which recorder sees them or in which order. Each event
/// has a number that looks random. An event is kept if enough of the last bits of its number are zero: the fewer events
/// to keep, the more bits.
#[derive(Clone, Default)]
struct Sieve {
    /// The number of last bits that must be zero.
    level: u32,
    kept: Vec<Event>,
}

impl Kept {
    pub(super) fn new(thinned: bool) -> Self {
        Self {
            thinned: thinned.then(Default::default),
        }
    }

    pub(super) fn add(&mut self, rows: &mut Rows, event: Event) {
        match &mut self.thinned {
            Some(sieves) => sieves[event.kind as usize].add(event),
            None => rows.event(event),
        }
    }

    /// An event did not happen after all.
    pub(super) fn remove(&mut self, event: &Event) {
        if let Some(sieves) = &mut self.thinned {
            let kept = &mut sieves[event.kind as usize].kept;
            kept.retain(|other| other.order() != event.order());
        }
    }

    /// Takes over the events of another sieve.
    pub(super) fn join(&mut self, other: Self) {
        if let (Some(sieves), Some(others)) = (&mut self.thinned, other.thinned) {
            for (own, other) in sieves.iter_mut().zip(others) {
                own.join(other);
            }
        }
    }

    pub(super) fn finish(self, rows: &mut Rows) {
        let kept = self.thinned.into_iter().flatten();
        let mut events: Vec<Event> = kept.flat_map(|sieve| sieve.kept).collect();
        events.order_unstable_by_key(Event::order);
        for event in events {
            rows.event(event);
        }
    }
}

impl Sieve {
    fn add(&mut self, event: Event) {
        if self.level == 0 || event.number().trailing_zeros() >= self.level {
            self.kept.push(event);
            self.thin(self.level);
        }
    }

    fn join(&mut self, other: Self) {
        let level = self.level.max(other.level);
        self.kept.extend(other.kept);
        self.level = u32::MAX;
        self.thin(level);
    }

    /// Thins until few enough are left, with at least this many zero bits.
    fn thin(&mut self, mut level: u32) {
        while level != self.level || self.kept.len() > MOST_EVENTS {
            if level == self.level {
                level += 1;
            }
            self.kept
                .retain(|event| event.number().trailing_zeros() >= level);
            self.level = level;
        }
    }
}

/// How many there are, and how many of them are recorded.
pub(in crate::trace) fn counted(chosen: &[bool]) -> (usize, usize) {
    let recorded = chosen.iter().filter(|chosen| **chosen);
    (chosen.len(), recorded.count())
}

/// The most samples of each of `count` series: limited by what a chart can show, and in total by the cost of writing
/// them.
const fn most(count: usize) -> usize {
    let fair = MOST_TOGETHER / if count == 0 { 1 } else { count };
    if fair < LEAST {
        LEAST
    } else if fair > MOST {
        MOST
    } else {
        fair
    }
}

/// Two for each pixel of a wide screen.
const MOST: usize = 4096;
const LEAST: usize = 256;
const MOST_TOGETHER: usize = 1 << 16;
/// Of each kind.
const MOST_EVENTS: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_chosen_alike_by_all_who_see_them_in_any_order() {
        let all: Vec<_> = (0..3 * MOST_EVENTS as u64)
            .map(|number| Event {
                time: 1000 * (number / 3),
                kind: EventKind::Mark,
                flow: id(number % 7),
                port: Some(id(number % 3)),
                cause: None,
            })
            .collect();
        let chosen = |events: &mut dyn Iterator<Item = &Event>| {
            let mut sieve = Sieve::default();
            events.for_each(|event| sieve.add(*event));
            sieve
        };
        let sorted = |mut sieve: Sieve| {
            sieve.kept.sort_unstable_by_key(Event::order);
            let order = sieve.kept.iter().map(Event::order);
            order.collect::<Vec<_>>()
        };
        let whole = sorted(chosen(&mut all.iter()));
        assert!((MOST_EVENTS / 3..=MOST_EVENTS).contains(&whole.len()));
        assert_eq!(whole, sorted(chosen(&mut all.iter().rev())));
        let part = |flows: [u32; 2]| {
            let of = |event: &&Event| (flows[0]..flows[1]).contains(&event.flow);
            chosen(&mut all.iter().filter(of))
        };
        let mut joined = part([0, 1]);
        joined.join(part([1, 6]));
        joined.join(part([6, 7]));
        assert_eq!(whole, sorted(joined));
    }

    fn id(number: u64) -> u32 {
        base::cast::low_32(number)
    }
}
