//! Flows that a trace names one by one.

use std::collections::BTreeMap;

use base::Time;

use super::{Draft, Maker, PlannedFlow, Route};

impl Maker<'_> {
    /// The group's flows of the trace, in the order of its rows. Flows with the same connection share it, and
    /// without such numbers persistent connections are one for each pair of hosts, as of random flows. Rounds are
    /// those of the trace.
    pub(super) fn trace(&self, plan: &mut Draft) {
        let mut rounds = BTreeMap::new();
        for traced in self.workload().trace.content().of(self.name) {
            let pair = u64::from(traced.sender.0) << 32 | u64::from(traced.receiver.0);
            let route = Route {
                shared: traced.connection.is_some(),
                ..Route::new(
                    (traced.sender, traced.receiver),
                    traced.connection.unwrap_or(pair),
                )
            };
            let flow = PlannedFlow {
                group: self.number,
                connection: 0,
                size: Some(traced.size),
                first_write: self.first_write(),
                start: traced.start,
                stop: Time::NEVER,
                awaited_by: None,
                round: traced
                    .round
                    .map(|round| *rounds.entry(round).or_insert_with(|| plan.begin_round())),
            };
            let connection = self.add(plan, route, flow);
            if let Some(open) = traced.open {
                let own = &mut plan.connections[connection as usize].open;
                *own = open.min(*own);
            }
        }
    }
}
