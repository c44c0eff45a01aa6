//! What a scheme is.

mod bundle;
mod hold;
pub mod linux;
mod outside;

use std::fmt;
use std::sync::Arc;

use base::setting::{Key, SettingError};
use base::{Extension, Rate, Span};
use fabric::{Discipline, Limit, PortId, Strict, SwitchHook};
use tcp::{
    Config, EcnMode, Endpoint, Gauge, HostHelper, Identity, LowPriority, Orders, SenderHelper,
};

use crate::{Receiver, Sender};
pub use bundle::{Bundle, BundleError};
pub use hold::{Cause, Hold, give_up, given_up};
use linux::Linux;
pub use outside::{Derived, Origin, RegistrationError, all, register};

/// A registered scheme.
#[derive(Clone, Copy)]
pub struct Scheme {
    /// Its name in scenarios and results.
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// How it works, in about five sentences; may be empty.
    pub how: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// The roles it fills; the others are plain.
    pub roles: &'static [Role],
    /// Whether it needs switches that mark packets.
    pub needs_marking: bool,
    /// Its parameters; those of another scheme if it is that one's mechanism with other switches.
    pub keys: &'static [Key],
    /// The columns that its roles report to traces, those of plain roles that they pass on
    /// included.
    pub gauges: &'static [Gauge],
    /// Settings of TCP that it rests on, with their texts: its hosts have them unless the scenario gives others,
    /// whatever the profile.
    pub tcp: &'static [(&'static str, &'static str)],
    /// Makes its roles from the texts of its parameters.
    pub build: &'static BuildRoles,
    /// Its counterpart in Linux.
    pub linux: Linux,
    /// Whose code it is; `None`: this crate's.
    pub origin: Option<Origin>,
}

/// Makes the roles of a scheme from the texts of its parameters.
pub type BuildRoles = dyn Fn(&ParamTexts<'_>) -> Result<Roles, SettingError> + Send + Sync;

/// The text of every parameter, by full key name.
pub type ParamTexts<'a> = dyn Fn(&str) -> String + 'a;
/// Makes the sender of a connection.
pub type MakeSender = Box<dyn Fn(&FlowInfo) -> Sender + Send + Sync>;
/// Makes the receiver control of a host.
pub type MakeReceiver = Box<dyn Fn(&HostInfo) -> Receiver + Send + Sync>;

/// Makes the hook of a port.
pub type MakeHook = Box<dyn Fn(&PortInfo) -> Box<dyn SwitchHook> + Send + Sync>;
/// Makes the discipline of a switch's queue around, or in place of, that of the scenario.
pub type MakeQueue = Box<dyn Fn(&PortInfo, Discipline) -> Discipline + Send + Sync>;
/// Makes what a host adds below TCP.
pub type MakeHost = Box<dyn Fn(&HostInfo) -> Box<dyn HostHelper> + Send + Sync>;

base::names! {
    /// A role a scheme can fill.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Role {
        /// Congestion control of a sender, per connection.
        Sender = "the sender's congestion control",
        /// The part of a receiver's or switch's scheme that runs at the sending host, beside any sender.
        Helper = "what is added to the sender",
        /// Control of a receiving host over all its connections.
        Receiver = "the receiver's control",
        /// How endpoints use congestion marks.
        Marks = "the use of marks",
        /// The order in which a sender sends its data, and the priority of each segment.
        SendOrder = "what is sent when",
        /// A layer of an end host below TCP, which every segment of all its connections passes.
        Host = "what hosts add below TCP",
        /// How ports queue: the discipline of switches, and whether ports have priorities.
        Queue = "how switches queue",
        /// The processing of packets in switches, besides queueing.
        Switch = "what switches do to packets",
    }
}

/// The roles of a scheme or composition, ready to be played.
#[derive(Default)]
pub struct Roles {
    /// Makes the sender of a connection.
    pub sender: Option<MakeSender>,
    /// Additions at the sending ends of connections, whichever scheme has the sender.
    pub helper: Option<Helper>,
    /// Makes the receiver control of a host.
    pub receiver: Option<MakeReceiver>,
    /// How endpoints use congestion marks; `None`: as the scenario says.
    pub ecn: Option<EcnMode>,
    /// Segments of the first window; `None`: as the scenario says.
    pub initial_window: Option<u32>,
    /// Makes what a host adds below TCP.
    pub host: Option<MakeHost>,
    /// Makes the discipline of a switch port.
    pub queue: Option<MakeQueue>,
    /// Strict priorities of switch ports; `None`: none.
    pub priorities: Option<Strict>,
    /// Whether the ports of hosts have these priorities, too.
    pub priorities_at_hosts: bool,
    /// Switches that have no priorities after all.
    pub plain_switches: PlainSwitches,
    /// The data that connections also send at low priorities; `None` if they send none.
    pub low_priority: Option<LowPriority>,
    /// Makes the hook of a switch port.
    pub hook: Option<MakeHook>,
    /// Parameters that concern hosts alone, in which groups that share switches may differ.
    pub of_hosts: Vec<&'static str>,
    /// The scheme that measures queues in shares of their buffer, which must then have a bound.
    pub shares_buffer: Option<&'static str>,
    /// Whether switches draw from the run's seed.
    pub random: bool,
    /// Whether senders need to know their way ([`Config::hops`] and [`Config::base_rtt`]).
    pub knows_way: bool,
    /// Parameters that are correct one by one and wrong together.
    pub misfits: Vec<Misfit>,
    /// Timers that fire again and again, by which the work of a simulation grows with its time.
    pub timers: Vec<Ticker>,
    /// The lock that a thread holds while it simulates with these roles, if they need one.
    pub hold: Option<&'static dyn Hold>,
}

/// Additions of a scheme of receivers at the sending ends of its connections.
///
/// It is no sender and wraps none: what the sender of a composition is told of never passes through it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Helper {
    /// Whether the SYN carries the size of the flow in the header space of schemes; 0: not known.
    pub tells_size: bool,
    /// The least that orders of the receiver to send again do.
    pub orders: Orders,
    /// Whether only the advertised window limits a sender where no part of the composition has one; if not, NewReno's
    /// congestion window does, too.
    pub is_unlimited: bool,
}

/// A timer that fires again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticker {
    /// The parameter that it follows.
    pub key: &'static str,
    /// The time from one firing to the next, at least or in most networks.
    pub every: Span,
    /// The objects that have one each.
    pub each: TickerOf,
}

/// The objects that have a ticker of the scheme each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TickerOf {
    /// Every port of a switch.
    Port,
    /// Every flow.
    Flow,
}

/// Switches that a scheme's priorities have not reached.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PlainSwitches {
    /// Their share of all switches; the run's seed draws which ones they are.
    pub share: f64,
    /// Whether the hosts behind them have no priorities either.
    pub hosts: bool,
    /// Whether they drop what has a low priority, as at the border of a network that does not take it.
    pub drop_low: bool,
}

/// Parameters of a scheme that contradict each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// Their keys, the one to change first.
    pub keys: &'static [&'static str],
    /// The fault, as one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// Facts about a connection that its sender gets when it is made.
#[derive(Clone, Copy, Debug)]
pub struct FlowInfo {
    /// Bytes it will send, if that is known.
    pub size: Option<u64>,
    /// Settings of the endpoint.
    pub config: Config,
}

/// Facts about a host that its receiver role gets when it is made.
#[derive(Clone, Copy, Debug)]
pub struct HostInfo {
    /// Rate of its link.
    pub rate: Rate,
    /// Largest payload of a segment.
    pub mss: u16,
    /// Bytes of a full packet on the wire.
    pub packet_bytes: u64,
}

/// The facts about a switch port that its role is told.
#[derive(Clone, Copy, Debug)]
pub struct PortInfo {
    /// The port.
    pub port: PortId,
    /// Rate of its transmitter.
    pub rate: Rate,
    /// One-way delay of its wire.
    pub delay: Span,
    /// How much may wait.
    pub limit: Limit,
    /// Bytes of a full packet on the wire.
    pub packet_bytes: u64,
    /// Bytes of a packet beside its payload.
    pub header_bytes: u32,
    /// Largest payload of a segment.
    pub mss: u16,
    /// Seed of the run, for random streams of the port.
    pub seed: u64,
}

impl Scheme {
    /// A scheme that fills no role: the defaults of all others.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        how: "",
        reference: "",
        roles: &[],
        needs_marking: false,
        keys: &[],
        gauges: &[],
        tcp: &[],
        build: &|_| Ok(Roles::default()),
        linux: Linux::NOTHING,
        origin: None,
    };

    /// The same; in a page, which explains no scheme and attaches none to a kernel, without the texts and laws for that.
    pub(crate) const fn carried(self) -> Self {
        if !cfg!(page) {
            return self;
        }
        let linux = Linux {
            settings: self.linux.settings,
            ..Linux::NOTHING
        };
        Self {
            how: "",
            linux,
            ..self
        }
    }

    /// The table its parameters are in: its own name, or that of the scheme whose parameters it reads.
    pub fn group(&self) -> &'static str {
        let table = self.keys.first().and_then(|key| key.name.split_once('.'));
        table.map_or(self.name, |(group, _)| group)
    }
}

impl Roles {
    /// Those of a scheme that fills the sender alone.
    pub fn of_sender<P, S>(params: P, make: fn(&P, &FlowInfo) -> S) -> Self
    where
        P: Send + Sync + 'static,
        S: Into<Sender> + 'static,
    {
        Self {
            sender: Some(Box::new(move |flow| make(&params, flow).into())),
            ..Self::default()
        }
    }

    /// The sender of a connection: the scheme's or the plain one.
    pub fn make_sender(&self, flow: &FlowInfo) -> Sender {
        match &self.sender {
            Some(make) => make(flow),
            None if self.helper.is_some_and(|helper| helper.is_unlimited) => tcp::Unlimited.into(),
            None => tcp::NewReno::new(&flow.config).into(),
        }
    }

    /// An end of a connection with this sender, and with the additions of the helper, if there is
    /// one.
    pub fn make_endpoint(
        &self,
        identity: Identity,
        config: impl Into<Arc<Config>>,
        flow: &FlowInfo,
        sender: Sender,
    ) -> Endpoint<Sender> {
        let endpoint = Endpoint::new(identity, config, sender);
        match &self.helper {
            Some(helper) => endpoint.with_helper(helper.of(flow)),
            None => endpoint,
        }
    }

    /// The roles that are filled.
    pub fn filled(&self) -> Vec<Role> {
        let filled = |role: &&Role| match role {
            Role::Sender => self.sender.is_some(),
            Role::Helper => self.helper.is_some(),
            Role::Receiver => self.receiver.is_some(),
            Role::Marks => self.ecn.is_some(),
            Role::SendOrder => self.low_priority.is_some(),
            Role::Host => self.host.is_some(),
            Role::Queue => self.queue.is_some() || self.priorities.is_some(),
            Role::Switch => self.hook.is_some(),
        };
        Role::ALL.iter().filter(filled).copied().collect()
    }

    /// Whether switches have a part in this.
    pub fn in_switches(&self) -> bool {
        self.hook.is_some() || self.queue.is_some() || self.priorities.is_some()
    }

    /// The receiver control of a host: the scheme's or the plain one.
    pub fn make_receiver(&self, host: &HostInfo) -> Receiver {
        match &self.receiver {
            Some(make) => make(host),
            None => tcp::Plain.into(),
        }
    }
}

impl Helper {
    /// Its additions to this flow.
    fn of(self, flow: &FlowInfo) -> SenderHelper {
        SenderHelper {
            announcement: self
                .tells_size
                .then(|| Extension::from_u64(flow.size.unwrap_or(0))),
            orders: self.orders,
        }
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Makes the registry and the enums that hold the state of every scheme's roles inline.
///
/// Each name is a module with a constant `SCHEME`. In braces are the types of its own that play a role.
macro_rules! schemes {
    ($($name:ident $({ $(sender: $sender:ident)? $(,)? $(receiver: $receiver:ident)? })?),+ $(,)?) => {
        /// The schemes of this crate, in the order in which lists show them.
        const BUILT_IN: &[&Scheme] = &[$(&$name::SCHEME.carried()),+];

        players! {
            /// The sender role of any scheme, by the scheme's name.
            Sender plays tcp::SenderCc, plainly as tcp::NewReno, unlimited as tcp::Unlimited
            $($($(, $name as $name::$sender)?)?)+
        }

        players! {
            /// The receiver role of any scheme, by the scheme's name.
            Receiver plays tcp::ReceiverCc, plainly as tcp::Plain
            $($($(, $name as $name::$receiver)?)?)+
        }
    };
}

/// Makes the enum of all types that play a role.
macro_rules! players {
    (
        $(#[$documentation:meta])*
        $players:ident plays $role:path, plainly as $plain:path
        $(, $name:ident as $type:path)*
    ) => {
        $(#[$documentation])*
        #[expect(non_camel_case_types, missing_docs, reason = "variants are the schemes' names")]
        pub enum $players {
            /// The plain role, of schemes that have none of their own.
            Plain($plain),
            $($name($type),)*
            /// One from outside this crate.
            Custom(Box<dyn $role + Send>),
        }

        impl tcp::Plays<dyn $role> for $players {
            #[inline(always)]
            fn as_role(&self) -> &(dyn $role + 'static) {
                match self {
                    Self::Plain(role) => role,
                    $(Self::$name(role) => role,)*
                    Self::Custom(role) => role.as_ref(),
                }
            }

            #[inline(always)]
            fn as_role_mut(&mut self) -> &mut (dyn $role + 'static) {
                match self {
                    Self::Plain(role) => role,
                    $(Self::$name(role) => role,)*
                    Self::Custom(role) => role.as_mut(),
                }
            }

            #[inline(always)]
            fn tell<T>(&mut self, event: impl FnOnce(&mut (dyn $role + 'static)) -> T) -> T {
                match self {
                    Self::Plain(role) => event(role),
                    _ => event(self.as_role_mut()),
                }
            }
        }

        impl From<$plain> for $players {
            fn from(role: $plain) -> Self {
                Self::Plain(role)
            }
        }

        impl<R: $role + Send + 'static> From<Box<R>> for $players {
            fn from(role: Box<R>) -> Self {
                Self::Custom(role)
            }
        }

        $(impl From<$type> for $players {
            fn from(role: $type) -> Self {
                Self::$name(role)
            }
        })*
    };
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Seq, Time};

    use super::*;

    fn defaults(key: &str) -> String {
        let mut keys = all().iter().flat_map(|scheme| scheme.keys);
        let key = keys.find(|candidate| candidate.name == key);
        key.expect("a key of a scheme").default.to_owned()
    }

    #[test]
    fn schemes_fill_only_roles_that_they_declare() {
        for scheme in all() {
            let roles = (scheme.build)(&defaults).expect("declared defaults are correct");
            for role in roles.filled() {
                assert!(scheme.roles.contains(&role), "{scheme:?} fills {role:?}");
            }
        }
    }

    #[test]
    fn parts_that_decide_the_same_do_not_compose() {
        for (text, role) in [
            ("newreno+dctcp", Role::Sender),
            ("dctcp+cubic", Role::Sender),
            ("rcc+ictcp", Role::Helper),
            ("rcc+dctcp", Role::Marks),
            ("rcc+newreno+rcc", Role::Helper),
        ] {
            match Bundle::parse(text) {
                Err(BundleError::Conflict { role: both, .. }) => assert_eq!(both, role),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_only_observes_a_receiver_yields_to_its_control() {
        let text = |key: &str| match key {
            "dctcp.receiver_alpha" => "200us".to_owned(),
            other => defaults(other),
        };
        let host = HostInfo {
            rate: Rate::from_bps(1_000_000_000),
            mss: 1446,
            packet_bytes: 1500,
        };
        for bundle in ["ictcp+dctcp", "dctcp+ictcp"] {
            let roles = Bundle::parse(bundle).unwrap().build(&text).unwrap();
            let receiver = roles.make_receiver(&host);
            assert!(matches!(receiver, Receiver::ictcp(_)), "{bundle}");
        }
    }

    #[test]
    fn a_helper_tells_the_size_in_the_syn_whoever_the_sender_is() {
        let config = Config::default();
        let identity = Identity {
            flow: FlowId(0),
            local: HostId(0),
            remote: HostId(1),
            initial_seq: Seq(0),
        };
        let told = |text: &str, size: Option<u64>| {
            let bundle = Bundle::parse(text).expect("parts with different roles");
            let roles = bundle.build(&defaults).expect("correct defaults");
            let flow = FlowInfo { size, config };
            let sender = roles.make_sender(&flow);
            let mut endpoint = roles.make_endpoint(identity, config, &flow, sender);
            endpoint.connect();
            let syn = endpoint.poll(Time::ZERO).expect("a SYN");
            syn.extension.as_u64()
        };
        for scheme in ["rcc", "rdtcp", "rcc+newreno", "cubic+rcc"] {
            assert_eq!(told(scheme, Some(32_768)), 32_768, "{scheme}");
            assert_eq!(told(scheme, None), 0, "{scheme}");
        }
        for scheme in ["cubic", "ictcp"] {
            assert_eq!(told(scheme, Some(32_768)), 0, "{scheme}");
        }
    }

    #[test]
    fn a_helper_leaves_a_composition_its_sender_in_either_order() {
        use tcp::Plays;

        let flow = FlowInfo {
            size: None,
            config: Config::default(),
        };
        let window = |text: &str| {
            let bundle = Bundle::parse(text).expect("parts with different roles");
            let roles = bundle.build(&defaults).expect("correct defaults");
            roles.make_sender(&flow).as_role().window()
        };
        let initial = u64::from(flow.config.mss) * u64::from(flow.config.initial_window);
        assert_eq!(window("rcc"), u64::MAX);
        assert_eq!(window("rcc+newreno"), initial);
        assert_eq!(window("newreno+rcc"), initial);
        assert_eq!(window("rcc+cubic"), initial);
        assert_eq!(window("ictcp+cubic"), initial);
    }
}
