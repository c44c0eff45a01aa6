//! The Linux counterpart of a scheme: the congestion control of hosts, the laws at switch ports, and the priorities of
//! flows.

use base::setting::Key;
use laws::Loadable;
use plan::keys::{Profile, profile};
use plan::{Group, PointSpec};
use schemes::linux::{Decider, Instead, KernelLaw, KernelPort, Runs, Site};
use schemes::{Bundle, Scheme, USUAL_OF_LINUX};

use crate::testbed::Testbed;
use crate::testbed::settings::Different;

/// How a scheme runs.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// The congestion control of every host, by its kernel name.
    pub(crate) control: &'static str,
    /// The scheme for the simulator. A scheme of switches alone is simulated with the sender that it has here.
    pub(crate) bundle: String,
    /// The laws at every port of a switch and at every receiver.
    pub(crate) laws: Vec<Law>,
    /// The type-of-service byte of packets, by index of their group. Empty if ports have no bands.
    pub(crate) tos: Vec<u8>,
    /// Differences from the scenario: parameters that have no counterpart here (the twin has their defaults), and
    /// parameters with other values here (the twin has the same values).
    pub(crate) different: Vec<Different>,
    /// The latter, by key.
    pub(crate) twin: Vec<(&'static str, String)>,
}

/// A law at a switch port, or at a receiver.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(any(feature = "kernel", test)),
    expect(
        dead_code,
        reason = "what a law says is read where programs are loaded"
    )
)]
pub(crate) enum Law {
    /// It runs in the kernel alone.
    Kernel(Site, Loadable),
    /// At receivers: user space decides windows by the simulator's law, once per slot.
    UserSpace(Decider),
}

impl Stack {
    /// The stack of `point` for a kernel with these congestion `controls`, or why there is none.
    pub(crate) fn of(
        point: &PointSpec,
        bed: &Testbed,
        controls: &[String],
    ) -> Result<Self, String> {
        if point.scheme != point.bundle {
            // All schemes share the network of the first one.
            return Err("the test bed runs no variants, because they may have their own settings: give the settings with \
                --set".to_owned());
        }
        let bundle = Bundle::parse(&point.bundle).expect("the scenario has checked it");
        let is_there = |scheme: &&&Scheme| {
            let linux = &scheme.linux;
            linux.control.is_some() || linux.law.is_some() || linux.bands.is_some()
        };
        if let Some(part) = bundle.parts().iter().find(|part| !is_there(part)) {
            let (name, lacks) = (part.name, part.linux.lacks);
            return Err(format!("only the simulator has {name}{lacks}"));
        }
        let mut parts = bundle.parts().to_vec();
        if !parts.iter().any(|part| part.linux.control.is_some()) {
            parts.push(USUAL_OF_LINUX);
        }
        let control = parts.iter().find_map(|part| part.linux.control);
        let control = control.expect("the usual one if no other");
        if !controls.iter().any(|own| own == control) {
            let option = control.to_uppercase();
            return Err(format!(
                "this kernel has no {control} (CONFIG_TCP_CONG_{option})"
            ));
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        let mut stack = Self {
            control,
            laws: marks(point, bed, &parts),
            tos: tos(point, &parts)?,
            different: different(point, bed, &parts),
            bundle: names.join("+"),
            twin: Vec::new(),
        };
        for law in parts.iter().filter_map(|part| part.linux.law) {
            stack.follow(point, bed, law)?;
        }
        Ok(stack)
    }

    /// Uses a law in its Linux form; the twin does the same.
    fn follow(&mut self, point: &PointSpec, bed: &Testbed, law: &KernelLaw) -> Result<(), String> {
        let given = |key: &str| point.text(key).to_owned();
        let instead = (law.instead)(&given)?;
        let own = |key: &str| {
            let changed = instead.iter().find(|instead| instead.key == key);
            changed.map_or_else(|| given(key), |instead| instead.text.clone())
        };
        let port = KernelPort {
            buffer_bytes: bed.switch_limit.into(),
            packet_bytes: bed.packet_bytes().into(),
            mss: u16::try_from(bed.mss).expect("the scenario checked the segment size"),
        };
        let checked = "the scenario checked every text";
        match law.runs {
            // Senders that react to marks have the laws of marking ports already.
            Runs::Kernel(_) if !law.changes_acks => {}
            Runs::Kernel(load) => {
                let loadable = load(&own, &port).expect(checked);
                self.laws.push(Law::Kernel(law.site, loadable));
            }
            Runs::UserSpace(decider) => {
                self.laws
                    .push(Law::UserSpace(decider(&own).expect(checked)));
            }
        }
        for instead in instead {
            self.change(point, instead);
        }
        Ok(())
    }

    /// Linux has another value than the scenario, and the twin gets the Linux value.
    fn change(&mut self, point: &PointSpec, instead: Instead) {
        let Instead { key, text, why } = instead;
        if point.text(key) != text {
            let row = Different { key, instead: why };
            self.different.push(row);
            self.twin.push((key, text));
        }
    }
}

/// The type-of-service byte of each group's packets, if ports have priorities.
fn tos(point: &PointSpec, parts: &[&Scheme]) -> Result<Vec<u8>, String> {
    let Some(bands) = parts.iter().find_map(|part| part.linux.bands) else {
        return Ok(Vec::new());
    };
    let number = |text: &str| text.parse::<usize>().expect("the scenario checked it");
    if number(point.text(bands.levels)) > TOS.len() {
        return Err(format!(
            "{}: ports of Linux have {} bands; set it to at most {}",
            bands.levels,
            TOS.len(),
            TOS.len()
        ));
    }
    let of_group = |group: &Group| TOS[number(&group.texts[bands.priority])];
    Ok(point.groups.iter().map(of_group).collect())
}

/// The marking laws of ports, for senders that react to marks.
fn marks(point: &PointSpec, bed: &Testbed, parts: &[&Scheme]) -> Vec<Law> {
    let answers = point.keys.tcp.ecn || parts.iter().any(|part| part.needs_marking);
    let from = bed.mark_from.filter(|_| answers);
    let mark = from.map(|from| Law::Kernel(Site::Port, Loadable::mark(from)));
    mark.into_iter().collect()
}

/// Changed parameters without a counterpart here, and differences of bands.
fn different(point: &PointSpec, bed: &Testbed, parts: &[&'static Scheme]) -> Vec<Different> {
    let mut all = Vec::new();
    for part in parts {
        let linux = &part.linux;
        let is_followed = |key: &str| {
            let by_law = linux.law.is_some_and(|law| law.follows(key));
            let by_bands = linux
                .bands
                .is_some_and(|bands| [bands.priority, bands.levels].contains(&key));
            by_law || by_bands
        };
        // The value in the twin without the setting.
        let usual = |key: &Key| match point.keys.tcp.profile {
            Profile::Linux => profile::of_linux(key.name).unwrap_or(key.default),
            Profile::Paper => key.default,
        };
        let changed = |key: &&Key| point.text(key.name) != usual(key) && !is_followed(key.name);
        all.extend(part.keys.iter().filter(changed).map(|key| Different {
            key: key.name,
            instead: format!("Linux has its own; the twin has {}", usual(key)),
        }));
    }
    let is_bounded = point.keys.switch.buffer.0.is_some();
    let bands = parts.iter().find(|part| part.linux.bands.is_some());
    if let Some(part) = bands.filter(|_| is_bounded) {
        all.push(Different {
            key: "switch.buffer",
            instead: format!(
                "under {} each priority of a port has its own room for {} packets, and no packet pushes out another; in \
                 the twin the priorities share the room",
                part.name,
                bed.room_of_band(bed.switch_limit)
            ),
        });
    }
    all
}

/// Type-of-service bytes by priority. Hosts and routers map them to the kernel's packet priority (`rt_tos2priority` in
/// `include/net/route.h`): interactive, best effort and bulk. These use the first, the second and the last band of a
/// port (`sch_default_prio2band` in `net/sched/sch_generic.c`).
const TOS: [u8; 3] = [0x10, 0, 0x08];

#[cfg(test)]
mod tests {
    use base::Span;
    use laws::{Grants, Hscc};
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
            let bed = Testbed::of(point).expect("a star");
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
        let [Law::Kernel(Site::Port, law)] = &*stack.laws else {
            panic!("{stack:?}")
        };
        let mut law = Hscc::of_map(&law.memory).expect("whole");
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
            let [Law::UserSpace(decider)] = &*stack.laws else {
                panic!("{stack:?}")
            };
            assert_eq!(decider.first_window, 5);
            let rows = stack.different.iter().map(|row| row.key);
            (decider.slot, rows.collect::<Vec<_>>())
        };
        let sets = |slot| ["ictcp.initial_window=5", slot];
        let (least, longer) = (Span::from_millis(1), Span::from_millis(3));
        let told = vec!["ictcp.min_slot"];
        assert_eq!(slot(&sets("ictcp.min_slot=off")), (least, told.clone()));
        assert_eq!(slot(&sets("ictcp.min_slot=200us")), (least, told));
        assert_eq!(slot(&sets("ictcp.min_slot=3ms")), (longer, vec![]));
    }

    #[test]
    fn receivers_of_rcc_grant_and_let_every_ack_leave() {
        let all = stacks("rcc", &["rcc.max_queue=40pkt", "tcp.mss=1446"]);
        let stack = all[0].as_ref().expect("a stack");
        assert_eq!((stack.control, &*stack.bundle), ("cubic", "rcc+cubic"));
        let [Law::Kernel(Site::Receiver, law)] = &*stack.laws else {
            panic!("{stack:?}")
        };
        let expected = Grants::of_least(40 * 1446, 1446, 10_000_000, 2).loadable();
        assert_eq!(law.memory, expected.memory);
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
            let bed = Testbed::of(point).expect("a star");
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
            let [Law::Kernel(Site::Port, law)] = &**laws else {
                panic!("{laws:?}")
            };
            assert_eq!(law.memory, Loadable::mark(30 * 1512).memory);
        }
    }
}
