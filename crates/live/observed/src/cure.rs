//! Cures: alternatives to today's setup.

use schemes::Scheme;
use schemes::linux::{self, KernelLaw, Site};
use serde::{Deserialize, Serialize};

use crate::seen::Observation;

/// One cure, as a row of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Cure {
    /// Its name for people.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// How `tailwater attach` applies it, if it can.
    pub attach: Option<CureAttachment>,
    /// The setting and value, if the cure is a value of a setting.
    pub rung: Option<TriedValue>,
    /// The change that it needs.
    pub(crate) means: Change,
    /// If the label is that of a variant: the label, the scheme it varies, and the setting that differs.
    pub(crate) variant: Option<(String, String, &'static str, String)>,
}

/// How `tailwater attach` applies a cure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CureAttachment {
    /// The name of the cure there.
    pub scheme: String,
    /// Where.
    pub at: AttachPoint,
    /// Settings as in `--set`, in addition to its defaults.
    pub sets: Vec<String>,
}

/// The place of a cure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttachPoint {
    /// The port that was watched, whose queue is before its link.
    Port,
    /// At the device by which the receiver's ACKs leave.
    Receiver,
}

impl From<Site> for AttachPoint {
    fn from(site: Site) -> Self {
        match site {
            Site::Port => Self::Port,
            Site::Receiver => Self::Receiver,
        }
    }
}

/// One of the values of a setting that are tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TriedValue {
    /// The setting's name for people.
    pub setting: String,
    /// The value with its unit.
    pub value: String,
    /// Its place among the values: the smallest buffer and the longest timer, which cost least, come first.
    pub place: u32,
}

/// The change that a cure makes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Change {
    /// A law that `attach` can attach, or not.
    Law,
    /// Marks at the port, and the congestion control of hosts that reacts to them, by Linux's name.
    Marks(&'static str),
    /// The minimum retransmission timeout of senders, in milliseconds.
    MinRto(u32),
    /// The factor by which the port's queue grows.
    Room(u32),
    /// The bound of receive buffers, in bytes.
    Buffer(u64),
}

impl Cure {
    /// The composition of schemes.
    pub(crate) fn bundle(&self) -> &str {
        self.variant
            .as_ref()
            .map_or(&self.scheme, |(_, base, ..)| base)
    }

    /// A law in the kernel, in addition to today's senders. If traffic comes in by the device, the queue is that of a
    /// switch before it.
    fn law(scheme: &Scheme, law: &KernelLaw, seen: &Observation, today: &str) -> Option<Self> {
        let is_there = law.site == Site::Receiver || seen.leaves();
        let budget = law.budget;
        let attach = is_there.then(|| CureAttachment {
            scheme: law.name.to_owned(),
            at: law.site.into(),
            sets: budget
                .map(|key| format!("{key}={}B", seen.budget()))
                .into_iter()
                .collect(),
        });
        Some(Self {
            scheme: format!("{}+{today}", scheme.name),
            attach,
            ..Self::named(law.cure?, Change::Law)
        })
    }

    /// Marks at the port, if senders use them already and their congestion control answers as to a loss.
    fn marks(seen: &Observation, today: &str) -> Option<Self> {
        let answers = seen.is_ecn_capable == Some(true) && !seen.marks_are_usual();
        let name = "marks";
        (answers && seen.leaves()).then(|| Self {
            attach: Some(CureAttachment {
                scheme: "mark".to_owned(),
                at: AttachPoint::Port,
                sets: vec![format!("switch.ecn_threshold={}B", seen.threshold())],
            }),
            variant: Some((
                name.to_owned(),
                today.to_owned(),
                "tcp.ecn",
                "true".to_owned(),
            )),
            ..Self::named(name, Change::Law)
        })
    }

    fn named(name: &str, means: Change) -> Self {
        Self {
            name: name.to_owned(),
            scheme: name.to_owned(),
            attach: None,
            rung: None,
            means,
            variant: None,
        }
    }

    /// Values of one setting, the cheapest first.
    fn ladder(setting: &str, label: &str, values: Vec<(String, Change)>, today: &str) -> Vec<Self> {
        let rung = |(place, (value, means)): (usize, (String, Change))| {
            let scheme = format!("{label}-{}", value.replace(' ', ""));
            let (key, text) = means.key();
            Self {
                scheme: scheme.clone(),
                rung: Some(TriedValue {
                    setting: setting.to_owned(),
                    value: value.clone(),
                    place: u32::try_from(place).unwrap_or(u32::MAX),
                }),
                variant: Some((scheme, today.to_owned(), key, text)),
                ..Self::named(&format!("{setting} {value}"), means)
            }
        };
        values.into_iter().enumerate().map(rung).collect()
    }

    fn min_rto(seen: &Observation, today: &str) -> Vec<Self> {
        let shorter = |rto: &u32| seen.min_rto_ms.is_none_or(|found| found > f64::from(*rto));
        let values = MIN_RTO_MS.into_iter().filter(shorter);
        let values = values.map(|rto| (format!("{rto}ms"), Change::MinRto(rto)));
        Self::ladder("min_rto", "min_rto", values.collect(), today)
    }

    fn room(seen: &Observation, today: &str) -> Vec<Self> {
        let (room, _) = seen.buffer();
        let value = |factor: u32| (format!("x{factor}"), Change::Room(factor));
        let mut all = Self::ladder("buffer", "buffer", ROOMS.map(value).into(), today);
        for (cure, factor) in all.iter_mut().zip(ROOMS) {
            if let Some((.., bytes)) = &mut cure.variant {
                *bytes = format!("{}B", u64::from(factor) * room);
            }
        }
        all
    }

    /// From a window of two segments up to what fills the path and the queue; more has no effect on a single flow.
    fn receive_buffer(seen: &Observation, today: &str) -> Vec<Self> {
        let (room, _) = seen.buffer();
        let least = 2 * u64::from(seen.mss.unwrap_or(MSS).max(MSS));
        let enough = (seen.pipe_bytes() + room).min(window_of(MOST_BUFFER));
        let first = least * 8 / 5;
        let buffers = |step: u32| {
            let first = Some(first.next_power_of_two());
            let all = std::iter::successors(first, move |buffer| buffer.checked_shl(step));
            all.take_while(move |buffer| window_of(*buffer) < enough)
        };
        let step = if buffers(1).count() > MOST_BUFFERS {
            2
        } else {
            1
        };
        let value = |buffer: u64| (format!("{} KiB", buffer >> 10), Change::Buffer(buffer));
        let values = buffers(step).map(value).collect();
        Self::ladder("receive buffer", "rmem", values, today)
    }
}

/// The window that Linux offers for a receive buffer: the share of payload in the memory that a full segment takes,
/// 1,448 of 2,304 bytes (`tcp_input.c`, `tcp_measure_rcv_mss`). It begins with half of it, and older kernels stay
/// there.
const fn window_of(buffer: u64) -> u64 {
    buffer / 8 * 5
}

impl Change {
    /// The setting of the scenario that differs. The port's queue depends on what was found.
    fn key(self) -> (&'static str, String) {
        match self {
            Self::MinRto(rto) => ("tcp.min_rto", format!("{rto}ms")),
            Self::Buffer(bytes) => ("tcp.receive_buffer", format!("{}B", window_of(bytes))),
            Self::Room(_) | Self::Law | Self::Marks(_) => ("switch.buffer", String::new()),
        }
    }
}

impl Observation {
    /// Whether the congestion control of today needs marks.
    fn marks_are_usual(&self) -> bool {
        let mut controls = linux::controls().into_iter();
        controls.any(|(scheme, _)| scheme.name == self.scheme() && scheme.needs_marking)
    }

    /// The cures that could take the place of today's setup.
    #[must_use]
    pub fn cures(&self) -> Vec<Cure> {
        let today = self.scheme();
        // Laws in the kernel and congestion controls of other senders, as in the registry.
        let laws = schemes::all().iter().filter_map(|scheme| {
            let law = scheme.linux.law?;
            Cure::law(scheme, law, self, today)
        });
        let mut cures: Vec<Cure> = laws.collect();
        cures.extend(Cure::marks(self, today));
        let controls = linux::controls().into_iter();
        let marked = controls.filter(|(scheme, _)| scheme.needs_marking && scheme.name != today);
        cures.extend(marked.map(|(scheme, name)| Cure::named(scheme.name, Change::Marks(name))));
        cures.extend(Cure::min_rto(self, today));
        cures.extend(Cure::room(self, today));
        cures.extend(Cure::receive_buffer(self, today));
        cures
    }
}

/// Minimum retransmission timeouts that are tried, in milliseconds: that of delayed ACKs of Linux, below which a timer may
/// expire before the ACK of a single segment comes, and one that is as short as ticks allow.
const MIN_RTO_MS: [u32; 2] = [40, 10];
/// The factors by which the port's queue is enlarged.
const ROOMS: [u32; 2] = [2, 4];
/// Of Ethernet, with timestamps.
const MSS: u32 = 1_448;
/// More values of a receive buffer take time and say little more.
const MOST_BUFFERS: usize = 5;
/// The largest buffer that Linux has by itself (`tcp.c`, `tcp_init`).
const MOST_BUFFER: u64 = 6 << 20;
