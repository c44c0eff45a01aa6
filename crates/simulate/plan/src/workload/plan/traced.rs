//! Flows that a trace names one by one.

use std::collections::BTreeMap;

use base::Time;

use super::{Draft, Maker, PlannedFlow, Route};
use crate::Group;

impl Maker<'_> {
    /// Adds the group's flows of the trace, in the order of its rows. Flows with the same connection number share a
    /// connection. Without such numbers, persistent connections are one for each pair of hosts, as with random flows.
    /// Rounds are the trace's.
    pub(super) fn trace(&self, plan: &mut Draft) {
        let mut rounds = BTreeMap::new();
        let trace = self.workload().trace.content();
        for (row, traced) in trace.rows_of(self.name) {
            if trace.has_waits() {
                let rows = plan.rows.entry(self.number).or_default();
                rows.insert(row, super::number(plan.flows.len()));
            }
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
            plan.connections[connection as usize].request = traced.request.unwrap_or(0);
            if let Some(open) = traced.open {
                let own = &mut plan.connections[connection as usize].open;
                *own = open.min(*own);
            }
        }
    }
}

impl Draft {
    /// Resolves the dependencies of traced flows: on other flows of their group, or of another group with the same
    /// trace.
    pub(super) fn resolve(&mut self, groups: &[Group]) {
        let rows = std::mem::take(&mut self.rows);
        for (group, own) in &rows {
            let trace = groups[*group as usize].keys.workload.trace.content();
            for (row, flow) in own {
                let Some(wait) = trace.wait(&trace.flows()[*row as usize]) else {
                    continue;
                };
                let on = wait.on.iter().map(|(before, delay)| {
                    let others = rows.iter().filter(|(other, _)| {
                        let other = groups[**other as usize].keys.workload.trace.content();
                        other.fingerprint() == trace.fingerprint()
                    });
                    let mut found = others.filter_map(|(_, rows)| rows.get(before));
                    let flow = own.get(before).or_else(|| found.next());
                    let flow =
                        flow.expect("the checks found a group for each flow that is awaited");
                    (*flow, *delay)
                });
                self.dependencies.add(*flow, wait.needs, on);
            }
        }
    }
}
