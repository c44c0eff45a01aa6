//! Receivers that ask.

use base::Time;

use super::{Draft, Maker, PLACES, PlannedFlow, Route};
use crate::keys::ConnectionKind;

impl Maker<'_> {
    /// Makes connections that send requests again and again, spread as evenly over clients and servers as their number
    /// allows.
    pub(super) fn requests(&self, plan: &mut Draft, base: Time) {
        if self.workload().rounds.0 > 1 {
            return self.rounds_of_requests(plan, base);
        }
        let (connections, requests) = (self.workload().connections.0, self.workload().requests.0);
        for place in 0..connections {
            let first = plan.next();
            for turn in 0..requests {
                let id = first + turn;
                let mut flow = self.asked(plan, (base, place), turn);
                flow.awaited_by = (turn + 1 < requests)
                    .then(|| plan.barrier(1, id + 1..id + 2, self.workload().think));
                let connection = self.add(plan, self.asking(place), flow);
                self.inherit(plan, (connection, 1), turn);
            }
        }
    }

    /// Makes rounds: clients ask on all their connections, and again when every request of the round has been answered.
    /// Rounds are planned turn by turn, so that the first flows of a round have consecutive numbers.
    fn rounds_of_requests(&self, plan: &mut Draft, base: Time) {
        let workload = self.workload();
        let (requests, rounds) = (workload.requests.0, workload.rounds.0);
        let clients = super::number(self.place.receivers.len());
        // A client that asks once for one flow waits for nothing but this flow.
        let several = requests > 1 || workload.connections.0 > clients;
        for client in 0..clients.min(workload.connections.0) {
            let places = (client..workload.connections.0).step_by(clients as usize);
            let width = super::number(places.len());
            for round in 0..rounds {
                let next = plan.next() + width * requests;
                let next = next..next + if round + 1 < rounds { width } else { 0 };
                let end = plan.barrier(width, next, workload.think);
                let number = several.then(|| plan.begin_round());
                for turn in 0..requests {
                    for place in places.clone() {
                        let base = if round == 0 { base } else { Time::ZERO };
                        let mut flow = self.asked(plan, (base, place), turn);
                        flow.round = number;
                        let follower = plan.next() + width;
                        flow.awaited_by = Some(if turn + 1 < requests {
                            plan.barrier(1, follower..follower + 1, workload.think)
                        } else {
                            end
                        });
                        let connection = self.add(plan, self.asking(place), flow);
                        self.inherit(plan, (connection, width), round * requests + turn);
                    }
                }
            }
        }
    }

    /// The flow that answers a request on connection `place`, among those that start at `base`. Only the first request
    /// may be delayed; each later one follows an answer.
    fn asked(&self, plan: &Draft, (base, place): (Time, u32), turn: u32) -> PlannedFlow {
        let mut flow = self.flow(plan.draw(), (base, place));
        if turn > 0 {
            flow.start = Time::ZERO;
        }
        flow
    }

    /// The ends of connection `place`.
    fn asking(&self, place: u32) -> Route {
        let clients = &self.place.receivers;
        let pairs = least_common_multiple(clients.len(), self.place.senders.len());
        let client = clients[place as usize % clients.len()];
        // When each pair of the two cycles has occurred, the servers shift by one.
        let mut turn = place as usize + place as usize / pairs;
        Route::new((self.sender(&mut turn, client), client), place.into())
    }

    /// A connection for a single request takes over the slots of an earlier connection, which is `width` for each turn
    /// before it.
    fn inherit(&self, plan: &mut Draft, (connection, width): (u32, u32), turn: u32) {
        if self.workload().connection == ConnectionKind::New && turn >= PLACES {
            plan.connections[connection as usize].heir_of = Some(connection - PLACES * width);
        }
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}
