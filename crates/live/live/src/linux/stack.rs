//! What a scheme of the simulator is on Linux: the congestion control of hosts, what the ports of switches do,
//! and which flows ports serve first.

use std::time::Duration;

use base::setting::{Key, Settings};
use base::{Count, OrOff, Span};
use laws::{Grants, Hscc, Idle, Rwndq};
use machine::clock::duration;
use plan::keys::{Profile, profile};
use plan::{Group, PointSpec};
use schemes::{Bundle, hscc, ictcp, qos, rcc, rwndq};

use crate::bed::Bed;
use crate::bed::settings::Different;

/// How a scheme runs.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// The congestion control of every host, as the kernel calls it.
    pub(crate) control: &'static str,
    /// The same for the simulator: a scheme of switches alone is simulated over the sender that it has here.
    pub(crate) bundle: String,
    /// What every port of a switch does, and every receiver.
    pub(crate) laws: Vec<Law>,
    /// By place of a group, what its packets say of their priority. Empty where ports have no bands.
    pub(crate) tos: Vec<u8>,
    /// What Linux has otherwise than the scenario: parameters that nothing here follows (the twin has their defaults),
    /// and those that are others here (the twin has them, too).
    pub(crate) different: Vec<Different>,
    /// The latter, by key.
    pub(crate) twin: Vec<(&'static str, String)>,
}

/// What the port of a switch does, or a receiver.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "kernel"),
    expect(
        dead_code,
        reason = "what a law says is read where programs are loaded"
    )
)]
pub(crate) enum Law {
    Hscc(Hscc),
    /// With the time between two samples, and when connections are idle.
    Rwndq(Rwndq, Duration, Idle),
    /// Capable packets that find this many bytes waiting are marked.
    Mark(u64),
    /// At receivers: user space decides windows by the law of the simulator, once per slot.
    Ictcp(ictcp::Params),
    /// At receivers: RCC by grants.
    Grants(Grants),
}

#[cfg_attr(
    not(feature = "kernel"),
    expect(dead_code, reason = "places matter where programs are loaded")
)]
impl Law {
    /// Whether receivers follow it, and not the ports of switches.
    pub(crate) const fn is_of_receivers(&self) -> bool {
        matches!(self, Self::Ictcp(_) | Self::Grants(_))
    }
}

impl Stack {
    /// The stack of `point` where the kernel has these congestion `controls`, or why there is none.
    pub(crate) fn of(point: &PointSpec, bed: &Bed, controls: &[String]) -> Result<Self, String> {
        if point.scheme != point.bundle {
            // All schemes share the network of the first one.
            return Err("a variant may have settings of its own: give them with --set".to_owned());
        }
        let mut parts: Vec<&str> = point.bundle.split('+').map(str::trim).collect();
        let is_known =
            |part: &&str| sender(part).is_some() || PROGRAMS.contains(part) || *part == BANDS;
        if let Some(part) = parts.iter().find(|part| !is_known(part)) {
            return Err(unknown(part));
        }
        if !parts.iter().any(|part| sender(part).is_some()) {
            parts.push(USUAL);
        }
        let control = parts.iter().find_map(|part| sender(part));
        let control = control.expect("the usual one if no other");
        if !controls.iter().any(|own| own == control) {
            let option = control.to_uppercase();
            return Err(format!(
                "this kernel has no {control} (CONFIG_TCP_CONG_{option})"
            ));
        }
        if parts.contains(&"rcc") && parameters::<rcc::Params>(point).max_queue.0.is_none() {
            let reason = "rcc.max_queue = auto is found by marks, at which no receiver of Linux looks: set it to a size";
            return Err(reason.to_owned());
        }
        let bundle = parts.join("+");
        let mut stack = Self {
            control,
            laws: laws(point, bed, &parts),
            tos: tos(point, &parts)?,
            different: different(point, bed, &bundle),
            bundle,
            twin: Vec::new(),
        };
        if parts.contains(&"ictcp") {
            stack.keep_slots(point);
        }
        if parts.contains(&"rcc") {
            stack.grant(point);
        }
        Ok(stack)
    }

    /// Slots of ICTCP may be longer than the scenario has them.
    fn keep_slots(&mut self, point: &PointSpec) {
        let params: ictcp::Params = parameters(point);
        let slot = slot_of(&params);
        if params.min_slot.0 == Some(slot) {
            return;
        }
        let slot = slot.to_string();
        let instead =
            format!("{slot}, as windows are decided beside the kernel; the twin has it, too");
        self.change(point, ("ictcp.min_slot", slot), instead);
    }

    /// RCC withholds grants instead of ACKs.
    fn grant(&mut self, point: &PointSpec) {
        let instead = "grant: every ACK leaves, and what it allows waits; the twin has it, too";
        self.change(point, ("rcc.hold", "grant".to_owned()), instead.to_owned());
        let least = least_of(&parameters(point)).to_string();
        let instead = format!(
            "{least}: of a peer that offers one segment Linux takes segments of half that size; the twin has it, too"
        );
        self.change(point, ("rcc.grant_least", least), instead);
    }

    /// Linux has another value than the scenario, and the twin has it, too.
    fn change(&mut self, point: &PointSpec, (key, text): (&'static str, String), instead: String) {
        if point.text(key) != text {
            self.different.push(Different { key, instead });
            self.twin.push((key, text));
        }
    }
}

/// The kernel's name of a sender of the simulator.
fn sender(part: &str) -> Option<&'static str> {
    let found = SENDERS.iter().find(|(own, _)| *own == part);
    found.map(|(_, control)| *control)
}

/// Why Linux has no such part.
fn unknown(part: &str) -> String {
    let only = format!("only the simulator has {part}");
    match part {
        "pias" | "rc3" => {
            only + ", which gives packets of one flow several priorities; sockets have one: use qos"
        }
        _ => only,
    }
}

/// What packets of each group say of their priority, if ports are to serve some first.
fn tos(point: &PointSpec, parts: &[&str]) -> Result<Vec<u8>, String> {
    if !parts.contains(&BANDS) {
        return Ok(Vec::new());
    }
    let levels = parameters::<qos::Params>(point).levels.0 as usize;
    if levels > TOS.len() {
        return Err(format!(
            "qos.levels: ports of Linux have {} bands; set it to at most {}",
            TOS.len(),
            TOS.len()
        ));
    }
    let of_group = |group: &Group| {
        let params = qos::Params::read(&|key| group.texts[key].to_string());
        let params = params.expect("the scenario checked every text");
        TOS[params.priority as usize]
    };
    Ok(point.groups.iter().map(of_group).collect())
}

/// What the parts ask of the port of a switch.
fn laws(point: &PointSpec, bed: &Bed, parts: &[&str]) -> Vec<Law> {
    let buffer = u64::from(bed.switch_limit);
    let mss = u16::try_from(bed.mss).expect("the scenario checked the segment size");
    let mut laws = Vec::new();
    if point.keys.tcp.ecn || parts.contains(&"dctcp") {
        laws.extend(bed.mark_from.map(Law::Mark));
    }
    if parts.contains(&"hscc") {
        let params: hscc::Params = parameters(point);
        laws.push(Law::Hscc(params.law(buffer, mss)));
    }
    if parts.contains(&"rwndq") {
        let params: rwndq::Params = parameters(point);
        let law = params.law(buffer, mss, LARGEST_SCALE);
        laws.push(Law::Rwndq(law, duration(params.interval), params.idle()));
    }
    if parts.contains(&"ictcp") {
        let params: ictcp::Params = parameters(point);
        let min_slot = OrOff(Some(slot_of(&params)));
        laws.push(Law::Ictcp(ictcp::Params { min_slot, ..params }));
    }
    if parts.contains(&"rcc") {
        let params: rcc::Params = parameters(point);
        let grant_least = Count(least_of(&params));
        let params = rcc::Params {
            grant_least,
            ..params
        };
        laws.push(Law::Grants(params.grants(bed.packet_bytes().into(), mss)));
    }
    laws
}

/// The least slot of ICTCP that user space can keep.
fn slot_of(params: &ictcp::Params) -> Span {
    let asked = params.min_slot.0.unwrap_or(Span::ZERO);
    asked.max(LEAST_SLOT)
}

/// The fewest segments that a connection of RCC is allowed: Linux takes segments of half of the largest window that its
/// peer has offered (`tcp_bound_to_half_wnd` in `net/ipv4/tcp.h`).
fn least_of(params: &rcc::Params) -> u32 {
    params.grant_least.0.max(2)
}

fn parameters<T: Settings>(point: &PointSpec) -> T {
    let read = T::read(&|key| point.text(key).to_owned());
    read.unwrap_or_else(|_| unreachable!("the scenario checked every text"))
}

/// Parameters that the scenario changes and nothing here follows, and what bands have otherwise.
fn different(point: &PointSpec, bed: &Bed, bundle: &str) -> Vec<Different> {
    let bundle = Bundle::parse(bundle).expect("schemes that fill different roles");
    let keys = bundle.parts().iter().flat_map(|scheme| scheme.keys);
    // What the twin has without the setting.
    let usual = |key: &Key| match point.keys.tcp.profile {
        Profile::Linux => profile::of_linux(key.name).unwrap_or(key.default),
        Profile::Paper => key.default,
    };
    let changed = |key: &&Key| point.text(key.name) != usual(key) && !FOLLOWED.contains(&key.name);
    let row = |key: &Key| Different {
        key: key.name,
        instead: format!("Linux has its own; the twin has {}", usual(key)),
    };
    let mut all: Vec<_> = keys.filter(changed).map(row).collect();
    let is_bounded = point.keys.switch.buffer.0.is_some();
    if is_bounded && bundle.parts().iter().any(|scheme| scheme.name == BANDS) {
        all.push(Different {
            key: "switch.buffer",
            instead: format!(
                "under qos each priority of a port has room for {} packets of its own, and none pushes out another; the \
                 twin's priorities share the room",
                bed.room_of_band(bed.switch_limit)
            ),
        });
    }
    all
}

/// Senders of the simulator with the kernel's names.
const SENDERS: [(&str, &str); 3] = [("newreno", "reno"), ("cubic", "cubic"), ("dctcp", "dctcp")];

/// What most hosts run below a scheme of switches.
const USUAL: &str = "cubic";

/// The scheme for which ports serve some packets first.
const BANDS: &str = "qos";

/// What an IPv4 header says of its packet's priority, which is its place here. Hosts and routers make of it the
/// priority of the packet in the kernel (`rt_tos2priority` in `include/net/route.h`): interactive, best effort and bulk.
/// These are in the first, the second and the last band of a port (`sch_default_prio2band` in `net/sched/sch_generic.c`).
const TOS: [u8; 3] = [0x10, 0, 0x08];

/// Schemes with a program for ports or receivers.
const PROGRAMS: [&str; 4] = ["hscc", "rwndq", "ictcp", "rcc"];

/// In which user space hears what came and decides windows anew.
pub(crate) const LEAST_SLOT: Span = Span::from_millis(1);

/// Parameters that reach the programs, or the law beside them.
const FOLLOWED: [&str; 28] = [
    "rcc.hold",
    "rcc.max_queue",
    "rcc.grant_idle",
    "rcc.grant_least",
    "hscc.alpha1",
    "hscc.alpha2",
    "hscc.window",
    "hscc.rewrite_synack",
    "rwndq.target",
    "rwndq.interval",
    "rwndq.samples",
    "rwndq.ecmp_split",
    "rwndq.idle_after",
    "ictcp.alpha",
    "ictcp.gamma1",
    "ictcp.gamma2",
    "ictcp.beta",
    "ictcp.min_window",
    "ictcp.initial_window",
    "ictcp.patience",
    "ictcp.fair_below",
    "ictcp.slow_start",
    "ictcp.growth",
    "ictcp.base_rtt",
    "ictcp.max_rtt",
    "ictcp.min_slot",
    "qos.priority",
    "qos.levels",
];

/// Programs learn the scale of each connection from its SYNs; RFC 7323 2.3 allows this one at most.
const LARGEST_SCALE: u8 = 14;

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario, Source};

    use super::*;

    fn stacks(schemes: &str, sets: &[&str]) -> Vec<Result<Stack, String>> {
        let overrides = Overrides {
            schemes: Some(schemes.to_owned()),
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        let text = "schemes = [\"newreno\"]\n[variant.slow]\nbase = \"newreno\"\ntcp.min_rto = \"200ms\"\n";
        let scenario = Scenario::load(Source::new("test", text), &overrides);
        let scenario = scenario.expect("a correct scenario");
        let of = |point: &PointSpec| {
            let bed = Bed::of(point).expect("a star");
            Stack::of(point, &bed, &["reno".to_owned(), "cubic".to_owned()])
        };
        scenario.points().iter().map(of).collect()
    }

    #[test]
    fn schemes_of_switches_run_over_cubic_unless_a_sender_is_named() {
        let all = stacks("newreno,hscc,rwndq,hscc+newreno", &[]);
        let said: Vec<_> = all.iter().flatten().collect();
        let said = said.iter().map(|stack| (stack.control, &*stack.bundle));
        let expected = [
            ("reno", "newreno"),
            ("cubic", "hscc+cubic"),
            ("cubic", "rwndq+cubic"),
            ("reno", "hscc+newreno"),
        ];
        assert_eq!(said.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ports_have_the_law_of_the_simulator_with_the_buffer_of_the_bed() {
        let all = stacks(
            "hscc",
            &["hscc.window=2", "switch.buffer=100KB", "tcp.mss=1446"],
        );
        let stack = all[0].as_ref().expect("a stack");
        let [Law::Hscc(law)] = &*stack.laws else {
            panic!("{stack:?}")
        };
        let mut law = law.clone();
        assert_eq!(law.unmoved_units(), (0, 50_000));
        law.on_level(50_001);
        assert_eq!(law.window(base::TcpFlags::ACK, u16::MAX, 0), 2 * 1446);
    }

    #[test]
    fn receivers_have_the_law_of_the_simulator_with_slots_that_user_space_can_keep() {
        let slot = |sets: &[&str]| {
            let all = stacks("ictcp", sets);
            let stack = all[0].as_ref().expect("a stack");
            assert_eq!((stack.control, &*stack.bundle), ("cubic", "ictcp+cubic"));
            let [Law::Ictcp(params)] = &*stack.laws else {
                panic!("{stack:?}")
            };
            assert_eq!(params.patience.0, 5);
            let rows = stack.different.iter().map(|row| row.key);
            (params.min_slot.0, rows.collect::<Vec<_>>())
        };
        let sets = |slot| ["ictcp.patience=5", slot];
        let (least, longer) = (LEAST_SLOT, Span::from_millis(3));
        let told = vec!["ictcp.min_slot"];
        assert_eq!(
            slot(&sets("ictcp.min_slot=off")),
            (Some(least), told.clone())
        );
        assert_eq!(slot(&sets("ictcp.min_slot=200us")), (Some(least), told));
        assert_eq!(slot(&sets("ictcp.min_slot=3ms")), (Some(longer), vec![]));
    }

    #[test]
    fn receivers_of_rcc_grant_and_let_every_ack_leave() {
        let all = stacks("rcc", &["rcc.max_queue=40pkt", "tcp.mss=1446"]);
        let stack = all[0].as_ref().expect("a stack");
        assert_eq!((stack.control, &*stack.bundle), ("cubic", "rcc+cubic"));
        let [Law::Grants(law)] = &*stack.laws else {
            panic!("{stack:?}")
        };
        assert_eq!(law.budget(), 40 * 1446);
        let rows: Vec<_> = stack.different.iter().map(|row| row.key).collect();
        assert_eq!(rows, ["rcc.hold", "rcc.grant_least"]);
        let twin = [("rcc.hold", "grant"), ("rcc.grant_least", "2")];
        assert_eq!(stack.twin, twin.map(|(key, text)| (key, text.to_owned())));
        let same = ["rcc.hold=grant", "rcc.grant_least=3", "rcc.priority=off"];
        let same = stacks("rcc", &same)[0].clone().expect("a stack");
        let rows: Vec<_> = same.different.iter().map(|row| row.key).collect();
        assert_eq!(rows, ["rcc.priority"], "which nothing follows");
        assert!(same.twin.is_empty());
        let reason = stacks("rcc", &["rcc.max_queue=auto"])[0].clone();
        let reason = reason.expect_err("no marks are looked at");
        assert!(reason.starts_with("rcc.max_queue = auto"), "{reason}");
    }

    #[test]
    fn a_scheme_without_a_stack_has_a_reason() {
        for (scheme, why) in [
            ("slow", "variant"),
            ("dctcp", "CONFIG_TCP_CONG_DCTCP"),
            ("rdtcp", "only the simulator has rdtcp"),
            ("pias", "use qos"),
            ("rc3", "use qos"),
        ] {
            let reason = stacks(scheme, &[])[0].clone().expect_err(scheme);
            assert!(reason.contains(why), "{reason}");
        }
    }

    #[test]
    fn parameters_that_nothing_follows_are_told() {
        let sets = [
            "cubic.beta=0.5",
            "hscc.window=3",
            "hscc.encoding=option",
            "rwndq.samples=3",
        ];
        let all = stacks("hscc", &sets);
        let rows = &all[0].as_ref().expect("a stack").different;
        let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
        assert_eq!(keys, ["hscc.encoding", "cubic.beta"]);
        assert!(rows[1].instead.ends_with("0.7"), "{rows:?}");
    }

    #[test]
    fn groups_have_the_band_of_their_priority() {
        let stack = |scheme: &str, levels: u32| {
            let text = format!(
                "schemes = [\"{scheme}\"]\nqos.levels = {levels}\n[group.first]\nqos.priority = 0\n[group.usual]\n\
                 [group.last]\nqos.priority = {}\n",
                levels - 1
            );
            let scenario = Scenario::load(Source::new("bands", text), &Overrides::default());
            let scenario = scenario.expect("a correct scenario");
            let point = &scenario.points()[0];
            let bed = Bed::of(point).expect("a star");
            Stack::of(point, &bed, &["reno".to_owned(), "cubic".to_owned()])
        };
        let bands = stack("qos", 3).expect("a stack");
        assert_eq!((bands.control, &*bands.bundle), ("cubic", "qos+cubic"));
        assert_eq!(bands.tos, [0x10, 0, 0x08]);
        let keys: Vec<_> = bands.different.iter().map(|row| row.key).collect();
        assert_eq!(keys, ["switch.buffer"]);
        assert_eq!(stack("newreno", 3).expect("a stack").tos, [0; 0]);
        let many = stack("qos", 4).expect_err("a port has three bands");
        assert_eq!(
            many,
            "qos.levels: ports of Linux have 3 bands; set it to at most 3"
        );
    }

    #[test]
    fn a_profile_changes_nothing_that_the_twin_would_not_have() {
        let rows = |sets: &[&str]| {
            let all = stacks("cubic", sets);
            all[0].as_ref().expect("a stack").different.clone()
        };
        assert!(rows(&["tcp.profile=linux"]).is_empty());
        let asked = rows(&["tcp.profile=linux", "cubic.hystart=false"]);
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].instead.ends_with("the twin has true"));
    }

    #[test]
    fn ports_mark_for_those_who_listen() {
        let plain = &stacks("cubic", &[])[0];
        assert!(plain.as_ref().expect("a stack").laws.is_empty());
        if cfg!(feature = "kernel") {
            let sets = ["tcp.ecn=true", "switch.ecn_threshold=30pkt", "tcp.mss=1446"];
            let all = stacks("cubic", &sets);
            let laws = &all[0].as_ref().expect("a stack").laws;
            assert!(matches!(**laws, [Law::Mark(from)] if from == 30 * 1512));
        }
    }
}
