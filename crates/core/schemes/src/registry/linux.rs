//! The counterpart of a scheme in Linux: everything that programs outside this crate know of a scheme by its name.
//!
//! A scheme's row says what its congestion control is called in the kernel, or which law a program of the kernel runs at a
//! port or a receiver. `attach`, `emulate`, `doctor`, `status`, `observe` and their metrics go through the rows, so that a
//! law of the kernel is named in its own files alone.

use std::fmt;
use std::sync::Arc;

use base::Span;
use base::setting::SettingError;
use laws::Loadable;

use super::{HostInfo, ParamTexts, Scheme, all};
use crate::Receiver;

/// The counterpart of a scheme in Linux.
#[derive(Clone, Copy)]
pub struct Linux {
    /// The kernel's name of its congestion control, if the kernel has it.
    pub control: Option<&'static str>,
    /// Parameters to which Linux gives other values than the paper: the profile `linux` has them.
    pub settings: &'static [(&'static str, &'static str)],
    /// The law that a program of the kernel runs, or user space beside it.
    pub law: Option<&'static KernelLaw>,
    /// The keys by which sockets and ports have priorities.
    pub bands: Option<Bands>,
    /// Why Linux has no counterpart, if there is a reason to tell: the words behind "only the simulator has it".
    pub lacks: &'static str,
}

/// A law at a port or a receiver of a Linux machine.
pub struct KernelLaw {
    /// What `attach` calls it.
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Where its program stands.
    pub site: Site,
    /// The parameters that it follows. Others of its scheme tell, for example, how the switches of a paper learn what a
    /// program learns from SYNs.
    pub keys: &'static [&'static str],
    /// Parameters that have one value in the kernel.
    pub fixed: &'static [(&'static str, &'static str)],
    /// Parameters that `attach` sets otherwise than a scenario does, unless it is told.
    pub usual: &'static [(&'static str, &'static str)],
    /// The same, for connections that the model of an observation does not have: there the sender of data opens each.
    pub usual_on_machines: &'static [(&'static str, &'static str)],
    /// The parameter with the fewest segments of a window, if it may be one.
    pub least_window: Option<&'static str>,
    /// The parameter with the bytes that all senders together may have on their way, if it has one.
    pub budget: Option<&'static str>,
    /// Whether it changes ACKs, which may come in by another device than their data leave by.
    pub changes_acks: bool,
    /// Its name among the cures of `observe`; `None` if the observed senders would not react to it.
    pub cure: Option<&'static str>,
    /// The kernel features that its program needs beyond those of every program at a port.
    pub needs: Needs,
    /// Who runs it.
    pub runs: Runs,
    /// Parameters that Linux has otherwise than these texts, or why it has no such law.
    pub instead: fn(&ParamTexts<'_>) -> Result<Vec<Instead>, String>,
    /// Numbers of its state that `status` reports.
    pub readings: &'static [Reading],
    /// Lines of `status` for people, with readings in braces.
    pub lines: &'static [&'static str],
}

/// Where a law stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Site {
    /// At the port in front of whose link the queue is.
    Port,
    /// At the device by which the ACKs of a receiver leave.
    Receiver,
}

/// A kernel feature that a law needs beyond those of every program at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// A ring buffer, by which user space learns of segments.
    RingBuffer,
    /// Helpers of the kernel that only loading its program shows.
    Loading {
        /// What `doctor` calls the check.
        check: &'static str,
        /// What helps if the kernel refuses.
        remedy: &'static str,
    },
}

/// Who runs a law.
#[derive(Clone, Copy)]
pub enum Runs {
    /// The kernel alone.
    Kernel(fn(&ParamTexts<'_>, &KernelPort) -> Result<Loadable, SettingError>),
    /// User space: it hears of every segment and assigns windows, once per slot.
    UserSpace(fn(&ParamTexts<'_>) -> Result<Decider, SettingError>),
}

/// The facts about its port or receiver that a law is told.
#[derive(Clone, Copy, Debug)]
pub struct KernelPort {
    /// Bytes that the queue has room for.
    pub buffer_bytes: u64,
    /// Bytes of a full packet on the wire.
    pub packet_bytes: u64,
    /// Largest payload of a segment.
    pub mss: u16,
}

/// A receiver's role that user space plays beside the kernel.
#[derive(Clone)]
pub struct Decider {
    /// The time from one decision to the next.
    pub slot: Span,
    /// The window of a connection, in segments, before the first decision.
    pub first_window: u32,
    /// Makes the role of a host.
    pub receiver: Arc<dyn Fn(&HostInfo) -> Receiver + Send + Sync>,
}

/// A parameter with the value that it has on Linux.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instead {
    /// The full name of the parameter.
    pub key: &'static str,
    /// Its text.
    pub text: String,
    /// The value and why it is another one, for people.
    pub why: String,
}

/// A number of the state of a law.
pub struct Reading {
    /// What programs call it.
    pub key: &'static str,
    /// The name and the help of the metric that has it, if one has.
    pub metric: Option<(&'static str, &'static str)>,
    /// The words for one and for zero, if it is a yes-or-no value.
    pub words: Option<[&'static str; 2]>,
    /// Reads it from the maps of the law.
    pub read: fn(&[u8]) -> Option<u64>,
}

/// The keys by which some packets are served first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bands {
    /// The priority of the flows of a group; 0 is the highest.
    pub priority: &'static str,
    /// How many priorities there are.
    pub levels: &'static str,
}

/// Every kernel law with its scheme: laws at ports before laws at receivers, and among each those first that need no
/// answer of the hosts.
pub fn kernel_laws() -> Vec<(&'static Scheme, &'static KernelLaw)> {
    let laws = all()
        .iter()
        .filter_map(|scheme| Some((*scheme, scheme.linux.law?)));
    let mut laws: Vec<_> = laws.collect();
    laws.sort_by_key(|(_, law)| (law.site, !law.changes_acks, law.is_attachable()));
    laws
}

/// The law that `attach` calls so, with its scheme.
pub fn attachable(name: &str) -> Option<(&'static Scheme, &'static KernelLaw)> {
    let mut laws = kernel_laws().into_iter();
    laws.find(|(_, law)| law.name == name && law.is_attachable())
}

/// The names of all laws that can be attached.
pub fn attachable_names() -> Vec<&'static str> {
    let laws = kernel_laws().into_iter();
    let laws = laws.filter(|(_, law)| law.is_attachable());
    laws.map(|(_, law)| law.name).collect()
}

/// The schemes whose senders Linux has, those first that need no marks.
pub fn controls() -> Vec<(&'static Scheme, &'static str)> {
    let controls = all()
        .iter()
        .filter_map(|scheme| Some((*scheme, scheme.linux.control?)));
    let mut controls: Vec<_> = controls.collect();
    controls.sort_by_key(|(scheme, _)| scheme.needs_marking);
    controls
}

/// The scheme of the congestion control that the kernel calls so.
pub fn of_control(control: &str) -> Option<&'static Scheme> {
    let mut all = all().iter();
    all.find(|scheme| scheme.linux.control == Some(control))
        .copied()
}

/// The metric of a window that is the same for every connection.
pub(crate) const WINDOW_BYTES: (&str, &str) = (
    "tailwater_window_bytes",
    "Window that the law grants every connection.",
);

/// Why Linux has no scheme that gives packets of one flow several priorities.
pub(crate) const ONE_PRIORITY: &str =
    ", which gives packets of one flow several priorities, but a socket has only one: use qos";

/// Whether this key is the priority of a group's flows, which every socket has for itself.
pub fn sets_priority(key: &str) -> bool {
    let mut all = all().iter();
    all.any(|scheme| {
        scheme
            .linux
            .bands
            .is_some_and(|bands| bands.priority == key)
    })
}

impl Linux {
    /// Of a scheme that only the simulator has.
    pub const NOTHING: Self = Self {
        control: None,
        settings: &[],
        law: None,
        bands: None,
        lacks: "",
    };
}

impl KernelLaw {
    /// A law at a port that changes ACKs, without settings and readings: the defaults of the others.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        site: Site::Port,
        keys: &[],
        fixed: &[],
        usual: &[],
        usual_on_machines: &[],
        least_window: None,
        budget: None,
        changes_acks: true,
        cure: None,
        needs: Needs::Nothing,
        runs: Runs::Kernel(|_, _| Ok(Loadable::of_settings("", Vec::new()))),
        instead: |_| Ok(Vec::new()),
        readings: &[],
        lines: &[],
    };

    /// Every parameter that `attach` sets otherwise than a scenario does, unless it is told.
    pub fn attached(&self) -> impl Iterator<Item = &'static (&'static str, &'static str)> + use<> {
        self.usual.iter().chain(self.usual_on_machines)
    }

    /// Whether `attach` has it: the kernel runs it alone.
    pub const fn is_attachable(&self) -> bool {
        matches!(self.runs, Runs::Kernel(_))
    }

    /// Whether the law follows this parameter, or has a value of its own for it.
    pub fn follows(&self, key: &str) -> bool {
        self.keys.contains(&key) || self.fixed.iter().any(|(own, _)| *own == key)
    }
}

impl fmt::Debug for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a window every {}", self.slot)
    }
}

impl fmt::Debug for KernelLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_is_known(name: &str) -> bool {
        // The threshold of marks is the switch's, and not a parameter of a scheme.
        name == "switch.ecn_threshold"
            || all()
                .iter()
                .any(|scheme| scheme.keys.iter().any(|key| key.name == name))
    }

    #[test]
    fn rows_name_keys_that_exist_and_values_that_are_correct() {
        for scheme in all() {
            let linux = &scheme.linux;
            let law = linux.law.into_iter();
            let given = law.flat_map(|law| law.fixed.iter().chain(law.attached()));
            for (name, text) in linux.settings.iter().chain(given) {
                let mut keys = scheme.keys.iter();
                let key = keys.find(|key| key.name == *name);
                let key = key.unwrap_or_else(|| panic!("{scheme:?} has no {name}"));
                assert_eq!((key.check)(text), Ok(()), "{name}");
                assert_ne!(key.default, *text, "{name}: that is its default");
            }
            if let Some(law) = linux.law {
                let more = law.least_window.iter().chain(&law.budget);
                for name in law.keys.iter().chain(more) {
                    assert!(key_is_known(name), "{}: {name}", law.name);
                    assert!(law.follows(name), "{}: {name}", law.name);
                }
                assert!(law.attached().all(|(key, _)| law.keys.contains(key)));
            }
        }
    }

    #[test]
    fn every_reading_that_a_line_shows_is_read_from_the_first_memory() {
        let texts = |key: &str| match key {
            "switch.ecn_threshold" => "20KB".to_owned(),
            key => {
                let mut keys = all().iter().flat_map(|scheme| scheme.keys);
                keys.find(|own| own.name == key)
                    .expect("a parameter")
                    .default
                    .to_owned()
            }
        };
        let port = KernelPort {
            buffer_bytes: 64_000,
            packet_bytes: 1_514,
            mss: 1_460,
        };
        for (scheme, law) in kernel_laws() {
            let Runs::Kernel(load) = law.runs else {
                continue;
            };
            let loadable = load(&texts, &port).expect("correct defaults");
            // The state of a receiver lies behind its settings.
            let memory = [loadable.memory, vec![0; 128]].concat();
            assert!(!law.readings.is_empty(), "{scheme:?}");
            for reading in law.readings {
                assert!((reading.read)(&memory).is_some(), "{}", reading.key);
            }
            let shown = law.lines.concat();
            for key in shown.split('{').skip(1) {
                let key = key.split('}').next().expect("a brace closes");
                assert!(
                    law.readings.iter().any(|reading| reading.key == key),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn laws_have_names_of_their_own_and_those_of_ports_come_first() {
        let laws = kernel_laws();
        let names: std::collections::BTreeSet<_> = laws.iter().map(|(_, law)| law.name).collect();
        assert_eq!(names.len(), laws.len());
        assert!(laws.is_sorted_by_key(|(_, law)| law.site));
        let all = attachable_names();
        let place = |name: &str| all.iter().position(|own| *own == name);
        assert!(place("hscc") < place("mark") && place("mark") < place("rcc"));
        let (mark, _) = attachable("mark").expect("a law of ports");
        assert_eq!(mark.name, "dctcp", "whose senders answer marks");
        assert!(attachable("ictcp").is_none(), "user space runs it");
    }
}
