//! From changes of a quantity to the samples that are kept of it.

use base::Span;
use base::cast::real;
use plan::keys::TraceInterval;

use super::rows::Rows;
use crate::trace::file::{Event, EventKind, Sample};
use crate::trace::thin::{Keep, Thin, Windows};

/// One quantity of many ports, flows or hosts.
pub(super) struct Channel {
    block: usize,
    tracks: Tracks,
}

/// The state of each port, flow or host.
enum Tracks {
    /// The last value, not a number before the first.
    Change(Vec<f64>),
    /// A sample at every multiple of this many picoseconds.
    Every(u64, Vec<Pulse>),
    Thin(Vec<Thin>),
}

/// The value at multiples of an interval.
#[derive(Clone, Copy)]
struct Pulse {
    /// The next multiple; beyond all times while nothing is recorded.
    next: u64,
    /// Not a number before the first.
    value: f64,
}

impl Channel {
    /// `block` of the rows, for `count` ports, flows or hosts, of which `chosen` are recorded.
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
            TraceInterval::Change => Tracks::Change(vec![f64::NAN; count]),
            TraceInterval::Every(span) => Tracks::Every(span.as_ps(), vec![silent; count]),
            TraceInterval::Auto => Tracks::Thin(vec![Thin::new(keep, most(chosen)); count]),
        };
        Self { block, tracks }
    }

    /// Every track begins at `time`.
    pub(super) fn beginning(mut self, time: u64) -> Self {
        if let Tracks::Every(step, pulses) = &mut self.tracks {
            let next = time.next_multiple_of(*step);
            for pulse in pulses {
                pulse.next = next;
            }
        }
        self
    }

    /// Tracks that are not `chosen` never begin.
    pub(super) fn only(mut self, chosen: &[bool]) -> Self {
        if let Tracks::Every(_, pulses) = &mut self.tracks {
            for (pulse, chosen) in pulses.iter_mut().zip(chosen) {
                pulse.next = if *chosen { pulse.next } else { u64::MAX };
            }
        }
        self
    }

    /// Every track has this value when it begins.
    pub(super) fn at(mut self, value: f64) -> Self {
        if let Tracks::Every(_, pulses) = &mut self.tracks {
            for pulse in pulses {
                pulse.value = value;
            }
        }
        self
    }

    /// A track begins.
    pub(super) fn begin(&mut self, id: u32, time: u64) {
        if let Tracks::Every(step, pulses) = &mut self.tracks {
            pulses[id as usize].next = time.next_multiple_of(*step);
        }
    }

    /// From `time` on the value is `value`, which may be what it was.
    #[inline(always)]
    #[expect(clippy::float_cmp, reason = "whether a value is the same as before")]
    pub(super) fn change(&mut self, rows: &mut Rows, id: u32, time: u64, value: f64) {
        match &mut self.tracks {
            Tracks::Change(last) => {
                if last[id as usize] != value {
                    last[id as usize] = value;
                    rows.push(self.block, Sample { time, id, value });
                }
            }
            Tracks::Every(step, pulses) => {
                let pulse = &mut pulses[id as usize];
                pulse.catch_up(rows, (self.block, id), *step, time);
                pulse.value = value;
            }
            Tracks::Thin(thin) => thin[id as usize].change(time, value),
        }
    }

    /// A track ends: its value at `time` is the last one.
    pub(super) fn end(&mut self, rows: &mut Rows, id: u32, time: u64) {
        if let Tracks::Every(step, pulses) = &mut self.tracks {
            let pulse = &mut pulses[id as usize];
            pulse.catch_up(rows, (self.block, id), *step, time + 1);
            pulse.next = u64::MAX;
        }
    }

    /// All tracks end.
    pub(super) fn end_all(&mut self, rows: &mut Rows, time: u64) {
        if let Tracks::Every(_, pulses) = &self.tracks {
            for id in (0..).take(pulses.len()) {
                self.end(rows, id, time);
            }
        }
    }

    /// Gives the rows what has been held back.
    pub(super) fn finish(self, rows: &mut Rows) {
        if let Tracks::Thin(tracks) = self.tracks {
            for (id, thin) in (0..).zip(tracks) {
                for (time, value) in thin.finish() {
                    rows.push(self.block, Sample { time, id, value });
                }
            }
        }
    }
}

impl Pulse {
    /// Samples at all multiples before `time`.
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
pub(in crate::trace) struct Meter {
    block: usize,
    tracks: Meters,
}

/// The state of each flow.
enum Meters {
    /// The length of windows in picoseconds; the window in which something came last, if anything
    /// has, and how much.
    Stream(u64, Vec<Option<(u64, u64)>>),
    Thin(Vec<Windows>),
}

impl Meter {
    /// `block` of the rows, for this many flows, of which `chosen` are recorded.
    pub(in crate::trace) fn new(
        block: usize,
        interval: TraceInterval,
        window: Span,
        (flows, chosen): (usize, usize),
    ) -> Self {
        let length = window.as_ps();
        let tracks = match interval {
            TraceInterval::Auto => Meters::Thin(vec![Windows::new(length, most(chosen)); flows]),
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

    /// Gives the rows what has been held back.
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

/// This many bytes in a window, as bits per second.
fn rate(id: u32, time: u64, bytes: u64, length: u64) -> Sample {
    let value = real(bytes) * 8.0 / Span::from_ps(length).as_secs();
    Sample { time, id, value }
}

/// Events, thinned or not.
pub(super) struct Kept {
    thinned: Option<[Sieve; EventKind::COUNT]>,
}

/// An even choice of a sequence.
#[derive(Clone)]
struct Sieve {
    /// One of this number is kept.
    stride: u64,
    seen: u64,
    kept: Vec<Event>,
}

impl Kept {
    pub(super) fn new(thinned: bool) -> Self {
        let empty = Sieve {
            stride: 1,
            seen: 0,
            kept: Vec::new(),
        };
        Self {
            thinned: thinned.then(|| std::array::from_fn(|_| empty.clone())),
        }
    }

    pub(super) fn add(&mut self, rows: &mut Rows, event: Event) {
        match &mut self.thinned {
            Some(sieves) => sieves[event.kind as usize].add(event),
            None => rows.event(event),
        }
    }

    pub(super) fn finish(self, rows: &mut Rows) {
        let kept = self.thinned.into_iter().flatten();
        let mut events: Vec<Event> = kept.flat_map(|sieve| sieve.kept).collect();
        events.sort_by_key(|event| event.time);
        for event in events {
            rows.event(event);
        }
    }
}

impl Sieve {
    fn add(&mut self, event: Event) {
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push(event);
        }
        self.seen += 1;
        if self.kept.len() > MOST_EVENTS {
            let mut odd = true;
            self.kept.retain(|_| {
                odd = !odd;
                !odd
            });
            self.stride *= 2;
        }
    }
}

/// Most samples of each of `count` series: what a chart can show, and together what writing them may
/// cost.
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
