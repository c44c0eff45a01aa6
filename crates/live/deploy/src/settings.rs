//! The settings of a port, from the same keys and with the same errors as in a scenario.

use laws::Loadable;
use plan::PointSpec;
use scenario::{Problem, Problems};
use schemes::linux::{self, KernelLaw, KernelPort, Runs, Site};
use serde::{Deserialize, Serialize};

/// A law that can be attached, and its scheme.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AttachableLaw {
    simulated: &'static schemes::Scheme,
    law: &'static KernelLaw,
}

/// A law and the texts of its settings.
pub(crate) struct Settled {
    pub(crate) law: Loadable,
    /// By key.
    pub(crate) texts: Vec<(String, String)>,
    /// Warnings about allowed but unwise settings.
    pub(crate) warnings: Vec<String>,
}

impl AttachableLaw {
    /// The scheme with this name.
    pub fn named(name: &str) -> Option<Self> {
        let (simulated, law) = linux::attachable(name)?;
        Some(Self { simulated, law })
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.law.name
    }

    /// The law's row in the registry.
    pub(crate) const fn law(self) -> &'static KernelLaw {
        self.law
    }

    /// Whether it reads a queue; otherwise it is attached at a receiver, whose ACKs leave by its device.
    pub(crate) fn has_queue(self) -> bool {
        self.law.site == Site::Port
    }
}

impl PartialEq for AttachableLaw {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for AttachableLaw {}

impl TryFrom<String> for AttachableLaw {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("no law is called {name}"))
    }
}

impl From<AttachableLaw> for String {
    fn from(scheme: AttachableLaw) -> Self {
        scheme.name().to_owned()
    }
}

/// The law for a port whose queue has room for `buffer` bytes, of packets of at most `mtu`.
pub(crate) fn settle(
    scheme: AttachableLaw,
    sets: &[String],
    buffer: u64,
    mtu: u32,
) -> Result<Settled, Problems> {
    let mss = mtu.saturating_sub(IP_AND_TCP).clamp(1, MOST);
    let point = point(scheme, sets, buffer, mss)?;
    let own = |key: &str| point.text(key).to_owned();
    let port = KernelPort {
        buffer_bytes: buffer,
        packet_bytes: u64::from(mtu + ETHERNET),
        mss: u16::try_from(mss).unwrap_or(u16::MAX),
    };
    let Runs::Kernel(load) = scheme.law.runs else {
        unreachable!("an attached law runs in the kernel");
    };
    let law = load(&own, &port).expect("the scenario has checked it");
    let keys = scheme.law.keys.iter();
    Ok(Settled {
        law,
        texts: keys.map(|key| ((*key).to_owned(), own(key))).collect(),
        warnings: warnings(scheme, &point),
    })
}

/// A point of a scenario with these settings, which checks them.
fn point(
    scheme: AttachableLaw,
    sets: &[String],
    buffer: u64,
    mss: u32,
) -> Result<PointSpec, Problems> {
    let law = scheme.law;
    let mut settings = Vec::new();
    let mut problems = Vec::new();
    for set in sets {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        let (key, value) = (key.trim(), value.trim());
        if law.keys.contains(&key) {
            settings.push((key, value));
        } else {
            let name = scheme.name();
            let keys = law.keys.join(", ");
            let problem = Problem::new(format!("--set {set}: attach {name} has no setting {key}"));
            problems.push(problem.help(format!("its settings are {keys}")));
        }
    }
    let settings = Problems::unless(problems, settings)?;
    let (buffer, mss) = (format!("{buffer}B"), mss.to_string());
    let mut all = vec![
        ("switch.buffer", buffer.as_str()),
        ("tcp.mss", mss.as_str()),
    ];
    let is_set = |key: &str| settings.iter().any(|(own, _)| *own == key);
    let usual = law.attached().filter(|(key, _)| !is_set(key));
    all.extend(
        law.fixed
            .iter()
            .chain(usual)
            .map(|&(key, text)| (key, text)),
    );
    // The default length for marks may be more than fits into the queue of a law that marks nothing.
    if !law.keys.contains(&THRESHOLD) {
        all.push((THRESHOLD, "off"));
    }
    all.extend(settings);
    scenario::point(scheme.simulated.name, 1, &all)
}

fn warnings(scheme: AttachableLaw, point: &PointSpec) -> Vec<String> {
    let key = scheme.law.least_window;
    let small = key.filter(|key| point.text(key) == "1").map(|key| {
        format!(
            "{key} = 1: a receiver that delays its ACKs answers a single segment after 40 ms; leave it at 2, or set \
             `quickack 1` on the routes of the receivers"
        )
    });
    small.into_iter().collect()
}

const THRESHOLD: &str = "switch.ecn_threshold";

/// Headers of IPv4 and TCP without options, so that a segment is never taken for less than it is.
const IP_AND_TCP: u32 = 40;
/// The largest payload of a segment that settings take.
const MOST: u32 = 65_495;
pub(crate) const ETHERNET: u32 = 14;

#[cfg(test)]
mod tests {
    use laws::{Grants, Hscc};

    use super::*;

    fn settled(scheme: &str, sets: &[&str]) -> Result<Settled, String> {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let scheme = AttachableLaw::named(scheme).expect("a law");
        let settled = settle(scheme, &sets, 64_000, 1_500);
        settled.map_err(|problems| problems.0[0].to_string())
    }

    #[test]
    fn hscc_grants_two_segments_unless_told_otherwise() {
        let window = |sets: &[&str]| match settled("hscc", sets) {
            Ok(Settled { law, warnings, .. }) => {
                let law = Hscc::of_map(&law.memory).expect("whole");
                (law.window_bytes(), warnings.len())
            }
            Err(message) => panic!("{message}"),
        };
        assert_eq!(window(&[]), (2 * 1_460, 0));
        assert_eq!(window(&["hscc.window=1"]), (1_460, 1));
        let rwndq = AttachableLaw::named("rwndq").expect("a law");
        assert!(settle(rwndq, &[], 9_000, 1_500).is_ok());
    }

    #[test]
    fn marks_begin_at_a_length_in_bytes_or_packets() {
        let from = |text: &str| match settled("mark", &[text]) {
            Ok(Settled { law, .. }) => law.memory,
            Err(message) => panic!("{message}"),
        };
        assert_eq!(
            from("switch.ecn_threshold=20KB"),
            Loadable::mark(20_000).memory
        );
        assert_eq!(
            from("switch.ecn_threshold=10pkt"),
            Loadable::mark(15_140).memory
        );
    }

    #[test]
    fn grants_have_a_budget_of_whole_segments_and_come_in_pairs() {
        let of = |sets: &[&str]| match settled("rcc", sets) {
            Ok(Settled { law, warnings, .. }) => {
                let memory = [law.memory, vec![0; 96]].concat();
                let law = Grants::from_memory(&memory).expect("whole");
                (law.budget(), warnings.len())
            }
            Err(message) => panic!("{message}"),
        };
        assert_eq!(of(&[]), (40 * 1_460, 0));
        assert_eq!(of(&["rcc.max_queue=40KB"]), (26 * 1_460, 0));
        assert_eq!(of(&["rcc.max_queue=1B", "rcc.grant_least=1"]), (1_460, 1));
        let message = settled("rcc", &["rcc.max_queue=auto"]).err();
        assert!(message.is_some_and(|message| message.contains("follows marks")));
    }

    #[test]
    fn what_a_simulation_refuses_is_refused_here() {
        let wrong = |scheme, text: &str| settled(scheme, &[text]).err().unwrap_or_default();
        let message = wrong("hscc", "hscc.alpha1=0.9");
        assert!(message.contains("exceeds hscc.alpha2"), "{message}");
        let message = wrong("hscc", "rwndq.target=0.2");
        assert!(message.contains("has no setting rwndq.target"), "{message}");
        assert!(!wrong("rwndq", "rwndq.target=0").is_empty());
        assert!(!wrong("rwndq", "rwndq.samples=1,2").is_empty());
        let message = wrong("mark", "switch.ecn_threshold=off");
        assert!(message.contains("never mark"), "{message}");
        let message = wrong("mark", "switch.ecn_threshold=65KB");
        assert!(message.contains("above the buffer"), "{message}");
    }
}
