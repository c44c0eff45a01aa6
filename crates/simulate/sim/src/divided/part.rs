//! One part of a network, window by window.

use base::{Span, Time};
use engine::{Scheduler, Token};
use schemes::Receiver;

use super::board::{Board, Mail, Parcel, Report, Totals};
use super::border::Border;
use crate::error::RunError;
use crate::run::{BATCH, Bounds, Handled, attempt};
use crate::standstill::Standstill;
use crate::world::World;

/// A part of a network and its events.
///
/// It begins each window by telling what it knows, [`NetworkPart::tell`]. When all parts have told, it goes through the
/// window, [`NetworkPart::go_on`]. All parts draw the same conclusions from these messages.
pub(super) struct NetworkPart {
    pub(super) world: World<Receiver, Border>,
    sched: Scheduler,
    standstill: Standstill,
    number: usize,
    /// All events before this time have been handled.
    done: Time,
    last_start: Time,
    window: Span,
    /// The time of the last event after which the run may have been over.
    last: Time,
    /// Acts of applications. Every part has all of them.
    acts: u64,
    /// Flows that ended first in this part.
    over: u64,
    /// Windows so far, and those of them in which something happened.
    round: usize,
    pub(super) windows: u64,
    /// Packets for each part.
    out: Vec<Mail>,
    pub(super) error: Option<RunError>,
}

impl NetworkPart {
    pub(super) fn new(
        (mut world, sched): (World<Receiver, Border>, Scheduler),
        (number, parts): (usize, usize),
        window: Span,
    ) -> Self {
        let (first_start, last_start) = (world.first_start(), world.last_start());
        world.part().1.measure_from(first_start);
        Self {
            world,
            sched,
            standstill: Standstill::new(),
            number,
            done: Time::ZERO,
            last_start,
            window,
            last: Time::ZERO,
            acts: 0,
            over: 0,
            round: 0,
            windows: 0,
            out: (0..parts).map(|_| Mail::default()).collect(),
            error: None,
        }
    }

    /// Hands over the packets that arrive in other parts in the next window, and reports to all parts.
    pub(super) fn tell(&mut self, board: &Board, bounds: &Bounds<'_>) {
        let until = self.until(bounds);
        // Queues are measured up to the end of the run and no further.
        let settled = self.done.before(INSTANT).min(bounds.latest());
        let mut next = self.sched.next_time();
        let mut place = 0;
        while let Some(port) = self.world.part().1.busy().get(place).copied() {
            // Packets that arrive in the next window have been sent by now.
            self.world.settle_switch_port(port, settled);
            let (network, border) = self.world.part();
            let to = border.behind(port);
            while let Some((arrival, packet)) = network.export(port, until) {
                next = next.min(arrival);
                let since = border.hand_over(port, arrival);
                self.out[to].followed.extend(border.export(port, &packet));
                self.out[to].parcels.push(Parcel {
                    port,
                    times: (since, arrival),
                    packet,
                });
            }
            match network.next_arrival(port) {
                None => border.idle(place),
                Some(arrival) => {
                    next = next.min(arrival);
                    place += 1;
                }
            }
        }
        for (to, mail) in self.out.iter_mut().enumerate() {
            if !mail.parcels.is_empty() {
                board.post(self.round, (self.number, to), mail);
            }
        }
        for (flow, at) in self.world.part().1.over.drain(..) {
            self.over += u64::from(board.note_over(flow, at));
        }
        let stopped = bounds.check(Handled::by(&self.sched), 0);
        let report = Report {
            next,
            now: self.sched.now(),
            last: self.last,
            open: self.world.open_ends() as u64,
            inside: self.world.network().inside(),
            events: self.sched.handled(),
            acts: self.acts,
            over: self.over,
            failed: self.error.is_some() || matches!(stopped, Err(RunError::Stopped)),
        };
        board.tell(self.round, self.number, report);
    }

    /// Goes through the next window, or skips windows without events. Returns false if the run is over.
    pub(super) fn go_on(&mut self, board: &Board, bounds: &Bounds<'_>) -> bool {
        let totals = board.totals(self.round);
        let until = self.until(bounds).max(totals.next);
        let border = self.world.part().1;
        if totals.over < board.flows() {
            border.count_levels(until < self.last_start);
        } else {
            let last = board.over().max();
            self.close(last.unwrap_or(Time::ZERO));
        }
        let latest = bounds.latest();
        if totals.finished() || totals.next > latest || totals.next == Time::NEVER {
            return false;
        }
        if totals.failed || bounds.check(totals.handled(), totals.inside).is_err() {
            return false;
        }
        let round = self.round;
        self.round += 1;
        if totals.next >= self.done + self.window {
            self.done = totals.next;
            return true;
        }
        let ((network, border), sched) = (self.world.part(), &mut self.sched);
        board.take(round, self.number, |mail| {
            for parcel in mail.parcels.drain(..) {
                network.import(parcel.port, &parcel.packet, parcel.times, sched);
            }
            mail.followed
                .drain(..)
                .for_each(|packet| border.import(packet));
        });
        let until = self.until(bounds);
        self.windows += 1;
        self.error = self.handle(until).err();
        self.done += self.window;
        true
    }

    /// The totals that ended the run.
    pub(super) fn totals(&self, board: &Board) -> Totals {
        board.totals(self.round)
    }

    /// Ignores changes of queues after `end`, up to which all events have been handled.
    pub(super) fn close(&mut self, end: Time) {
        if self.world.part().1.is_closed() {
            return;
        }
        self.world.settle(end);
        self.world.part().1.close_levels(end);
    }

    /// The last instant of the next window.
    fn until(&self, bounds: &Bounds<'_>) -> Time {
        (self.done + self.window)
            .before(INSTANT)
            .min(bounds.latest())
    }

    /// Handles all events up to `until`.
    fn handle(&mut self, until: Time) -> Result<(), RunError> {
        let Self {
            world,
            sched,
            standstill,
            last,
            acts,
            ..
        } = self;
        attempt(sched, |sched| {
            let mut running = Running { world, last, acts };
            while engine::run_some(&mut running, sched, until, BATCH) {
                standstill.check(running.world, sched)?;
            }
            Ok(())
        })
    }
}

/// A part whose events are handled.
struct Running<'a> {
    world: &'a mut World<Receiver, Border>,
    last: &'a mut Time,
    acts: &'a mut u64,
}

impl engine::World for Running<'_> {
    #[inline(always)]
    fn handle(&mut self, token: Token, sched: &mut Scheduler) {
        let open = self.world.open_ends();
        self.world.handle(token, sched);
        // The last event of a run either ends a connection or takes the last packet out of the network.
        if self.world.moves_packet(token) || self.world.open_ends() != open {
            *self.last = sched.now();
        } else if self.world.is_act(token) {
            *self.acts += 1;
        }
    }

    #[inline(always)]
    fn expect(&self, token: Token) {
        self.world.expect(token);
    }
}

const INSTANT: Span = Span::from_ps(1);
