//! The messages between parts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use base::{Packet, Time};
use fabric::PortId;

use crate::breakdown::Followed;
use crate::run::Handled;

/// The place where parts leave packets and reports for each other.
///
/// Everything exists twice, for even and odd windows: a part that is ahead writes for the next window while others
/// still read this one. No part is further ahead, because all wait for each other once in each window.
pub(super) struct Board {
    parts: usize,
    /// From each part to each part, for even and for odd windows.
    mail: [Vec<Mutex<Mail>>; 2],
    reports: [Vec<Mutex<Report>>; 2],
    /// When each flow was complete or had failed first, in picoseconds.
    over: Vec<AtomicU64>,
}

/// The packets for a part.
#[derive(Default)]
pub(super) struct Mail {
    /// In the order in which they come out of each port.
    pub(super) parcels: Vec<Parcel>,
    /// Facts about them for breakdowns of completion times.
    pub(super) followed: Vec<Followed>,
}

/// A packet on its way from one part to another.
pub(super) struct Parcel {
    /// The port that the packet left.
    pub(super) port: PortId,
    /// The time at which its arrival would have been scheduled, and the time at which it arrives.
    pub(super) times: (Time, Time),
    pub(super) packet: Packet,
}

/// The message of a part to all others before each window.
#[derive(Clone, Copy)]
pub(super) struct Report {
    /// The time of the next event that the part knows.
    pub(super) next: Time,
    /// When the last one was.
    pub(super) now: Time,
    /// The time of the last event after which the run may have been over.
    pub(super) last: Time,
    /// Ends of connections that may still do something.
    pub(super) open: u64,
    /// Packets sent in this part minus packets that left the network in this part.
    pub(super) inside: u64,
    /// Events handled in this part, and how many of them every part handles.
    pub(super) events: u64,
    pub(super) acts: u64,
    /// Flows that ended first in this part.
    pub(super) over: u64,
    /// Whether it cannot go on.
    pub(super) failed: bool,
}

/// All reports together.
pub(super) struct Totals {
    pub(super) next: Time,
    now: Time,
    last: Time,
    open: u64,
    pub(super) inside: u64,
    events: u64,
    pub(super) over: u64,
    pub(super) failed: bool,
}

impl Board {
    pub(super) fn new(parts: usize, flows: usize) -> Self {
        let boxes = || (0..parts * parts).map(|_| Mutex::default()).collect();
        let reports = || (0..parts).map(|_| Mutex::new(Report::NONE)).collect();
        Self {
            parts,
            mail: [boxes(), boxes()],
            reports: [reports(), reports()],
            over: (0..flows).map(|_| AtomicU64::new(NEVER)).collect(),
        }
    }

    /// Leaves packets in this window.
    pub(super) fn post(&self, window: usize, (from, to): (usize, usize), mail: &mut Mail) {
        let place = &self.mail[window % 2][from * self.parts + to];
        let mut there = place.lock().unwrap_or_else(PoisonError::into_inner);
        there.parcels.append(&mut mail.parcels);
        there.followed.append(&mut mail.followed);
    }

    /// Calls `take` with the packets for part `to`.
    pub(super) fn take(&self, window: usize, to: usize, mut take: impl FnMut(&mut Mail)) {
        for from in 0..self.parts {
            let place = &self.mail[window % 2][from * self.parts + to];
            take(&mut place.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn tell(&self, window: usize, part: usize, report: Report) {
        let place = &self.reports[window % 2][part];
        *place.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    /// The messages of all for this window.
    pub(super) fn totals(&self, window: usize) -> Totals {
        let reports = self.reports[window % 2].iter();
        let reports = reports.map(|place| *place.lock().unwrap_or_else(PoisonError::into_inner));
        Totals::of(reports)
    }

    /// A flow is over in one part. Returns true if no other part said so before.
    pub(super) fn note_over(&self, flow: u32, at: Time) -> bool {
        let before = self.over[flow as usize].fetch_min(at.as_ps(), Ordering::AcqRel);
        before == NEVER
    }

    pub(super) fn flows(&self) -> u64 {
        self.over.len() as u64
    }

    /// When each flow was over first; [`Time::NEVER`] if it was not.
    pub(super) fn over(&self) -> impl Iterator<Item = Time> {
        let over = self.over.iter();
        over.map(|at| Time::from_ps(at.load(Ordering::Acquire)))
    }
}

impl Report {
    const NONE: Self = Self {
        next: Time::NEVER,
        now: Time::ZERO,
        last: Time::ZERO,
        open: 0,
        inside: 0,
        events: 0,
        acts: 0,
        over: 0,
        failed: false,
    };
}

impl Totals {
    fn of(reports: impl Iterator<Item = Report>) -> Self {
        let mut totals = Self {
            next: Time::NEVER,
            now: Time::ZERO,
            last: Time::ZERO,
            open: 0,
            inside: 0,
            events: 0,
            over: 0,
            failed: false,
        };
        for (number, report) in reports.enumerate() {
            totals.next = totals.next.min(report.next);
            totals.now = totals.now.max(report.now);
            totals.last = totals.last.max(report.last);
            totals.open += report.open;
            totals.inside = totals.inside.wrapping_add(report.inside);
            totals.events += report.events;
            if number > 0 {
                totals.events -= report.acts;
            }
            totals.over += report.over;
            totals.failed |= report.failed;
        }
        totals
    }

    /// Whether every connection has ended and the network is empty.
    pub(super) const fn finished(&self) -> bool {
        self.open == 0 && self.inside == 0
    }

    /// Whether no event follows.
    pub(super) fn nothing_left(&self) -> bool {
        self.finished() || self.next == Time::NEVER
    }

    /// The events of all parts. Events that every part handles count once.
    pub(super) const fn handled(&self) -> Handled {
        Handled {
            now: if self.finished() { self.last } else { self.now },
            events: self.events,
        }
    }
}

const NEVER: u64 = Time::NEVER.as_ps();
