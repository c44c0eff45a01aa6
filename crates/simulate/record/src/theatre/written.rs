//! A scene as JSON. Columns hold whole numbers, and times are differences in nanoseconds, so that pages stay small.

use std::collections::BTreeMap;

use base::Sort as _;
use base::{FlowId, Time};
use schemes::clause::{Clause, Decision};

use super::scene::{Scene, Seen, State};
use plan::workload::Plan;

/// The text of `scene`.
pub(super) fn text(scene: &Scene, (plan, header_bytes): (&Plan, u32)) -> String {
    let topology = &plan.topology;
    let names = topology.names();
    let (from, to) = topology.ends(scene.port());
    let [from, to] = [from, to].map(|node| &names[node.0 as usize]);
    let link = topology.links()[scene.port().0 as usize / 2];
    let spec = if scene.port().0.is_multiple_of(2) {
        link.spec
    } else {
        link.back
    };
    let begin = scene.spans.first().map_or(scene.loss, |(from, _)| *from);
    let ns = |time: Time| {
        let since = time.as_ps().saturating_sub(begin.as_ps()) / 1000;
        i64::try_from(since).unwrap_or(i64::MAX)
    };
    let place = format!(
        r#"{{"port":{},"name":"{from} to {to}","bps":{},"delay":{},"header":{},"begin":{},"loss":{},"#,
        scene.port().0,
        spec.rate.as_bps(),
        spec.delay.as_ps() / 1000,
        header_bytes,
        begin.as_ps() / 1000,
        ns(scene.loss),
    );
    let timeout = scene
        .timeout
        .map_or_else(|| "null".to_owned(), |at| ns(at).to_string());
    let spans = scene.spans.iter();
    let spans = spans.map(|(from, to)| format!("[{},{}]", ns(*from), ns(to.unwrap_or(scene.end))));
    let flows = scene.flows.iter().map(|flow| {
        let connection = &plan.connections[flow.0 as usize];
        let (sender, receiver) = (connection.sender.0, connection.receiver.0);
        format!("[{},{sender},{receiver}]", flow.0)
    });
    let times = format!(
        r#""timeout":{timeout},"end":{},"spans":[{}],"flows":[{}],"#,
        ns(scene.end),
        joined(spans),
        joined(flows)
    );
    let columns = [
        packets(scene, &ns),
        states(scene, &ns),
        decisions(scene, &ns),
    ];
    [place, times, columns.concat(), "}".to_owned()].concat()
}

/// For each packet: when it was accepted, when it left, its flow, its first byte, its payload and its flags.
///
/// Most numbers are equal, so that they compress well. The first byte is relative to the end of the flow's previous
/// packet. The leaving time of a dropped packet is relative to its acceptance, and of any other packet to the leaving
/// time of the packet before it; it is 0 for a packet that did not leave within the scene.
fn packets(scene: &Scene, ns: &dyn Fn(Time) -> i64) -> String {
    let mut packets: Vec<&Seen> = scene.packets.iter().collect();
    packets.order_by_key(|seen| seen.accepted);
    let times = differences(packets.iter().map(|seen| ns(seen.accepted)));
    let mut before = 0;
    let left = packets.iter().map(|seen| {
        if seen.flags & Seen::DROPPED != 0 {
            return ns(seen.left) - ns(seen.accepted);
        }
        if seen.left == Time::NEVER {
            return 0;
        }
        let left = ns(seen.left);
        left - std::mem::replace(&mut before, left)
    });
    let mut ends: BTreeMap<u32, i64> = BTreeMap::new();
    let begins = packets.iter().map(|seen| {
        let begin = i64::from(seen.seq);
        let end = ends.insert(seen.flow, begin + i64::from(seen.payload));
        begin - end.unwrap_or(0)
    });
    let flows = packets.iter().map(|seen| scene.place(FlowId(seen.flow)));
    format!(
        r#""packets":{{"t":[{times}],"d":[{}],"f":[{}],"s":[{}],"l":[{}],"k":[{}]}},"#,
        joined(left),
        joined(flows),
        joined(begins),
        joined(packets.iter().map(|seen| seen.payload)),
        joined(packets.iter().map(|seen| seen.flags)),
    )
}

/// For each state: its start, its flow, congestion window (-1: none), bytes in flight, advertised window, the reason
/// for waiting, and in how many microseconds its timer expires (0: no timer).
fn states(scene: &Scene, ns: &dyn Fn(Time) -> i64) -> String {
    let states = scene.states.iter();
    let of = |value: &dyn Fn(&State) -> u64| {
        joined(scene.states.iter().map(|(_, _, state)| value(state)))
    };
    let times = differences(states.clone().map(|(at, ..)| ns(*at)));
    let windows = states.clone().map(|(.., state)| match state.cwnd {
        u64::MAX => "-1".to_owned(),
        cwnd => cwnd.to_string(),
    });
    let timers = states.clone().map(|(at, _, state)| {
        let later = state.timer.saturating_sub(at.as_ps()) / 1_000_000;
        if state.timer == 0 { 0 } else { later.max(1) }
    });
    format!(
        r#""states":{{"t":[{times}],"f":[{}],"c":[{}],"i":[{}],"g":[{}],"w":[{}],"r":[{}]}},"#,
        joined(states.map(|(_, flow, _)| flow)),
        joined(windows),
        of(&|state| state.in_flight),
        of(&|state| state.granted),
        of(&|state| state.waits.into()),
        joined(timers),
    )
}

/// For each decision: its time, its flow, its kind, and the clauses that require it.
fn decisions(scene: &Scene, ns: &dyn Fn(Time) -> i64) -> String {
    let mut clauses: Vec<(Decision, Option<Clause>)> = Vec::new();
    let mut numbers = Vec::new();
    for moment in &scene.moments {
        let found = (moment.decision, moment.clause);
        let place = clauses.iter().position(|known| *known == found);
        numbers.push(place.unwrap_or(clauses.len()));
        if place.is_none() {
            clauses.push(found);
        }
    }
    let moments = scene.moments.iter();
    let times = differences(moments.clone().map(|moment| ns(moment.at)));
    let clauses = clauses.iter().map(|(decision, clause)| {
        let place = clause.map_or_else(String::new, |clause| clause.place());
        let text = clause.map_or("", |clause| clause.text);
        // Neither text has a character that JSON must escape.
        format!("[\"{}\",\"{place}\",\"{text}\"]", name(*decision))
    });
    format!(
        r#""decisions":{{"t":[{times}],"f":[{}],"c":[{}]}},"clauses":[{}]"#,
        joined(moments.map(|moment| scene.place(moment.flow))),
        joined(numbers.iter()),
        joined(clauses),
    )
}

/// The name of a decision, as a page uses it.
const fn name(decision: Decision) -> &'static str {
    match decision {
        Decision::Timeout => "timeout",
        Decision::SynTimeout => "timeout of a SYN",
        Decision::EnterRecovery => "fast recovery begins",
        Decision::LeaveRecovery => "fast recovery ends",
        Decision::Retransmit => "retransmission",
        Decision::TailProbe => "probe of the tail",
        Decision::Undo => "reduction taken back",
        Decision::Reduce => "marks reduce the window",
        Decision::Held => "held by the advertised window",
    }
}

/// Each time minus the one before it.
fn differences(times: impl Iterator<Item = i64>) -> String {
    let mut before = 0;
    joined(times.map(|time| time - std::mem::replace(&mut before, time)))
}

fn joined<T: ToString>(values: impl Iterator<Item = T>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    values.join(",")
}
