//! What a port is to do, from the same keys and with the same errors as in a scenario.

use std::time::Duration;

use base::setting::Settings;
use laws::{Grants, Hscc, HsccSettings};
use plan::PointSpec;
use programs::Law;
use scenario::{Problem, Problems};
use schemes::{hscc, rcc, rwndq};
use serde::{Deserialize, Serialize};

/// What can be attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// HSCC.
    Hscc,
    /// RWNDQ.
    Rwndq,
    /// Congestion marks from a length of the queue on.
    Mark,
    /// RCC at a receiver, by grants.
    Rcc,
}

/// A law and the texts of its settings.
pub(super) struct Settled {
    pub(super) law: Law,
    /// By key.
    pub(super) texts: Vec<(String, String)>,
    /// What is allowed and unwise.
    pub(super) warnings: Vec<String>,
}

impl Scheme {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hscc => "hscc",
            Self::Rwndq => "rwndq",
            Self::Mark => "mark",
            Self::Rcc => "rcc",
        }
    }

    /// Whether it looks at a queue; else it stands at a receiver, whose ACKs leave by its device.
    pub(super) const fn has_queue(self) -> bool {
        !matches!(self, Self::Rcc)
    }

    /// Whose settings it has in a scenario.
    const fn simulated(self) -> &'static str {
        match self {
            Self::Mark => "dctcp",
            other => other.name(),
        }
    }

    /// The keys that a port of Linux obeys. The others of a scheme tell how switches learn of shifts and flows, which
    /// the programs learn from SYNs.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Hscc => &[ALPHA1, ALPHA2, WINDOW, SYNACK],
            Self::Rwndq => &[TARGET, INTERVAL, SAMPLES, PATHS, IDLE_AFTER],
            Self::Mark => &[THRESHOLD],
            Self::Rcc => &[MAX_QUEUE, GRANT_IDLE, GRANT_LEAST],
        }
    }
}

/// The law for a port whose queue has room for `buffer` bytes, of packets of at most `mtu`.
pub(super) fn settle(
    scheme: Scheme,
    sets: &[String],
    buffer: u64,
    mtu: u32,
) -> Result<Settled, Problems> {
    let mss = mtu.saturating_sub(IP_AND_TCP).clamp(1, MOST);
    let point = point(scheme, sets, buffer, mss)?;
    let own = |key: &str| point.text(key).to_owned();
    let law = match scheme {
        Scheme::Hscc => Law::Hscc(hscc(&point, buffer, mss)),
        Scheme::Rwndq => rwndq(&point, buffer, mss),
        Scheme::Rcc => Law::Grants(grants(&point, mtu, mss)),
        Scheme::Mark => {
            let threshold = point.keys.switch.ecn_threshold.0;
            let threshold = threshold.map(|size| size.in_bytes(u64::from(mtu + ETHERNET)));
            Law::Mark(threshold.ok_or_else(|| {
                Problem::new("switch.ecn_threshold = off marks nothing")
                    .help("give a length, as in --set switch.ecn_threshold=20KB")
            })?)
        }
    };
    let keys = scheme.keys().iter();
    Ok(Settled {
        law,
        texts: keys.map(|key| ((*key).to_owned(), own(key))).collect(),
        warnings: warnings(scheme, &point),
    })
}

/// A point of a scenario with these settings, which checks them.
fn point(scheme: Scheme, sets: &[String], buffer: u64, mss: u32) -> Result<PointSpec, Problems> {
    let mut settings = Vec::new();
    let mut problems = Vec::new();
    for set in sets {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        let (key, value) = (key.trim(), value.trim());
        if scheme.keys().contains(&key) {
            settings.push((key, value));
        } else {
            let name = scheme.name();
            let keys = scheme.keys().join(", ");
            let problem = Problem::new(format!("--set {set}: attach {name} has no setting {key}"));
            problems.push(problem.help(format!("its settings are {keys}")));
        }
    }
    let settings = Problems::unless(problems, settings)?;
    let is_set = |key: &str| settings.iter().any(|(own, _)| *own == key);
    let (buffer, mss) = (format!("{buffer}B"), mss.to_string());
    let mut all = vec![
        ("switch.buffer", buffer.as_str()),
        ("tcp.mss", mss.as_str()),
    ];
    // A receiver that delays its ACKs answers a window of one segment after 40 ms.
    if scheme == Scheme::Hscc && !is_set(WINDOW) {
        all.push((WINDOW, "2"));
    }
    // Connections that stay open for requests now and then are common where real programs run.
    if scheme == Scheme::Rwndq && !is_set(IDLE_AFTER) {
        all.push((IDLE_AFTER, "100ms"));
    }
    if scheme == Scheme::Rcc {
        all.push(("rcc.hold", "grant"));
        // As with HSCC.
        if !is_set(GRANT_LEAST) {
            all.push((GRANT_LEAST, "2"));
        }
    }
    // The default length for marks may be more than fits into the queue of a law that marks nothing.
    if scheme != Scheme::Mark {
        all.push((THRESHOLD, "off"));
    }
    all.extend(settings);
    scenario::point(scheme.simulated(), 1, &all)
}

fn hscc(point: &PointSpec, buffer: u64, mss: u32) -> Hscc {
    let params = hscc::Params::read(&|key| point.text(key).to_owned());
    let params = params.expect("the scenario has checked it");
    Hscc::new(&HsccSettings {
        buffer_units: buffer,
        alpha1_millionths: params.alpha1.millionths(),
        alpha2_millionths: params.alpha2.millionths(),
        window_bytes: params.window.0.saturating_mul(mss),
        rewrites_syn_ack: params.rewrite_synack,
    })
}

fn rwndq(point: &PointSpec, buffer: u64, mss: u32) -> Law {
    let params = rwndq::Params::read(&|key| point.text(key).to_owned());
    let params = params.expect("the scenario has checked it");
    let mss = u16::try_from(mss).unwrap_or(u16::MAX);
    let interval = Duration::from_nanos(params.interval.as_ps() / 1_000);
    Law::Rwndq(params.law(buffer, mss, MAX_SHIFT), interval, params.idle())
}

fn grants(point: &PointSpec, mtu: u32, mss: u32) -> Grants {
    let params = rcc::Params::read(&|key| point.text(key).to_owned());
    let params = params.expect("the scenario has checked it");
    let mss = u16::try_from(mss).unwrap_or(u16::MAX);
    params.grants(u64::from(mtu + ETHERNET), mss)
}

fn warnings(scheme: Scheme, point: &PointSpec) -> Vec<String> {
    let key = match scheme {
        Scheme::Hscc => WINDOW,
        Scheme::Rcc => GRANT_LEAST,
        _ => return Vec::new(),
    };
    let small = (point.text(key) == "1").then(|| {
        format!(
            "{key} = 1: a receiver that delays its ACKs answers a single segment after 40 ms; leave it at 2, or set \
             `quickack 1` on the routes of the receivers"
        )
    });
    small.into_iter().collect()
}

const ALPHA1: &str = "hscc.alpha1";
const ALPHA2: &str = "hscc.alpha2";
const WINDOW: &str = "hscc.window";
const SYNACK: &str = "hscc.rewrite_synack";
const TARGET: &str = "rwndq.target";
const INTERVAL: &str = "rwndq.interval";
const SAMPLES: &str = "rwndq.samples";
const PATHS: &str = "rwndq.ecmp_split";
const IDLE_AFTER: &str = "rwndq.idle_after";
const MAX_QUEUE: &str = "rcc.max_queue";
const GRANT_IDLE: &str = "rcc.grant_idle";
const GRANT_LEAST: &str = "rcc.grant_least";
const THRESHOLD: &str = "switch.ecn_threshold";

/// Headers of IPv4 and TCP without options, so that a segment is never taken for less than it is.
const IP_AND_TCP: u32 = 40;
/// The largest payload of a segment that settings take.
const MOST: u32 = 65_495;
pub(super) const ETHERNET: u32 = 14;
/// RFC 7323 section 2.3.
const MAX_SHIFT: u8 = 14;

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(scheme: Scheme, sets: &[&str]) -> Result<Settled, String> {
        let sets: Vec<_> = sets.iter().map(|set| (*set).to_owned()).collect();
        let settled = settle(scheme, &sets, 64_000, 1_500);
        settled.map_err(|problems| problems.0[0].to_string())
    }

    #[test]
    fn hscc_grants_two_segments_unless_told_otherwise() {
        let window = |sets: &[&str]| match settled(Scheme::Hscc, sets) {
            Ok(Settled {
                law: Law::Hscc(law),
                warnings,
                ..
            }) => (law.window_bytes(), warnings.len()),
            _ => panic!("another law"),
        };
        assert_eq!(window(&[]), (2 * 1_460, 0));
        assert_eq!(window(&["hscc.window=1"]), (1_460, 1));
        assert!(settle(Scheme::Rwndq, &[], 9_000, 1_500).is_ok());
    }

    #[test]
    fn marks_begin_at_a_length_in_bytes_or_packets() {
        let from = |text: &str| match settled(Scheme::Mark, &[text]) {
            Ok(Settled {
                law: Law::Mark(bytes),
                ..
            }) => bytes,
            _ => panic!("another law"),
        };
        assert_eq!(from("switch.ecn_threshold=20KB"), 20_000);
        assert_eq!(from("switch.ecn_threshold=10pkt"), 15_140);
    }

    #[test]
    fn grants_have_a_budget_of_whole_segments_and_come_in_pairs() {
        let of = |sets: &[&str]| match settled(Scheme::Rcc, sets) {
            Ok(Settled {
                law: Law::Grants(law),
                warnings,
                ..
            }) => (law.budget(), warnings.len()),
            _ => panic!("another law"),
        };
        assert_eq!(of(&[]), (40 * 1_460, 0));
        assert_eq!(of(&["rcc.max_queue=40KB"]), (26 * 1_460, 0));
        assert_eq!(of(&["rcc.max_queue=1B", "rcc.grant_least=1"]), (1_460, 1));
        let message = settled(Scheme::Rcc, &["rcc.max_queue=auto"]).err();
        assert!(message.is_some_and(|message| message.contains("found by marks")));
    }

    #[test]
    fn what_a_simulation_refuses_is_refused_here() {
        let wrong = |scheme, text: &str| settled(scheme, &[text]).err().unwrap_or_default();
        let message = wrong(Scheme::Hscc, "hscc.alpha1=0.9");
        assert!(message.contains("exceeds hscc.alpha2"), "{message}");
        let message = wrong(Scheme::Hscc, "rwndq.target=0.2");
        assert!(message.contains("has no setting rwndq.target"), "{message}");
        assert!(!wrong(Scheme::Rwndq, "rwndq.target=0").is_empty());
        assert!(!wrong(Scheme::Rwndq, "rwndq.samples=1,2").is_empty());
        let message = wrong(Scheme::Mark, "switch.ecn_threshold=off");
        assert!(message.contains("never mark"), "{message}");
        let message = wrong(Scheme::Mark, "switch.ecn_threshold=65KB");
        assert!(message.contains("above the buffer"), "{message}");
    }
}
