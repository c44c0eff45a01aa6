//! One simulation, with every setting, and the groups of flows in it.

use std::fmt::Write;
use std::sync::Arc;

use base::Span;
use base::setting::Key;
use schemes::{Bundle, Derived, Role, Roles, Scheme};
use tcp::EcnMode;

use crate::Texts;
use crate::keys::{
    Ecmp, Keys, LossPattern, RankOrder, TopologyKind, Workload, WorkloadKind, all_keys, group,
};

/// One simulation: a scheme, a seed and every setting.
#[derive(Clone, Debug)]
pub struct PointSpec {
    /// Index among the points of the scenario.
    pub index: usize,
    /// The label of the scheme: its composition or the name of a variant.
    pub scheme: String,
    /// The composition of schemes, as [`Bundle::parse`](schemes::Bundle::parse) reads it.
    pub bundle: String,
    /// Seed of the random streams.
    pub seed: u64,
    /// Swept keys and keys set on the command line, with their texts. Keys of the trace are left out because they
    /// change no result.
    pub set: Vec<(String, String)>,
    /// The text of every key; shared by the seeds of a point.
    pub texts: Texts,
    /// Every setting that is not a scheme's own, with types. The settings of workload and endpoints are in `groups`.
    pub keys: Arc<Keys>,
    /// The flows: at least one group.
    pub groups: Arc<[Group]>,
}

/// Flows with settings of their own, in a network shared with other groups.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name; empty if the scenario has no groups.
    pub name: Arc<str>,
    /// The composition of schemes that its hosts follow.
    pub bundle: String,
    /// The text of every key.
    pub texts: Texts,
    /// Every setting; those of workload and endpoints are the group's own.
    pub keys: Arc<Keys>,
}

impl Group {
    /// The roles of its hosts.
    ///
    /// # Panics
    /// If its schemes were not checked when the point was made.
    pub fn roles(&self) -> Roles {
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let roles = bundle.build(&|key| self.texts[key].to_string());
        roles.expect("the scenario checked the schemes' settings")
    }

    /// The text of the queues' marking threshold, if its endpoints react to marks; empty if its schemes have queues
    /// with their own rule of marking.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn marking(&self) -> Option<String> {
        let roles = self.roles();
        let acts = match roles.ecn {
            Some(mode) => mode != EcnMode::Off,
            None => self.keys.tcp.ecn,
        };
        acts.then(|| match roles.queue {
            Some(_) => String::new(),
            None => self.texts["switch.ecn_threshold"].to_string(),
        })
    }

    /// The schemes of its composition that fill any of `roles`.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn schemes_with(&self, roles: &[Role]) -> Vec<&'static Scheme> {
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let fills =
            |scheme: &&&'static Scheme| roles.iter().any(|role| scheme.roles.contains(role));
        bundle.parts().iter().filter(fills).copied().collect()
    }

    /// The scheme whose role its receiving hosts play, if one has any.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn receiver_role(&self) -> Option<&'static Scheme> {
        self.roles().receiver.as_ref()?;
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let decides = |scheme: &&&'static Scheme| scheme.roles.contains(&Role::Receiver);
        let mut parts = bundle.parts().iter();
        // A part that only observes has the role if no part decides.
        parts.clone().find(decides).or(parts.next()).copied()
    }
}

impl PointSpec {
    /// The text of the setting called `key`.
    ///
    /// # Panics
    /// If no such key is declared.
    pub fn text(&self, key: &str) -> &str {
        &self.texts[key]
    }

    /// The number from which the order of simultaneous events is drawn, unless `run.tie_order` sets it. It is the seed
    /// if anything else is drawn from the seed; otherwise it is constant, so that a simulation without randomness has
    /// one result.
    pub fn order_seed(&self) -> u64 {
        let usual = if self.is_random() { self.seed } else { 1 };
        self.keys.run.tie_order.0.unwrap_or(usual)
    }

    /// Whether a result of `point` depends on random numbers from its seed. If so, the order of simultaneous events is
    /// random, too; see [`PointSpec::order_seed`]. A trace counts as random, because the observed flows once were; the
    /// trace of a run gives the same result again with the run's seed.
    pub fn is_random(&self) -> bool {
        let point = self;
        let topology = &point.keys.topology;
        let several_paths = match topology.kind {
            TopologyKind::LeafSpine => topology.spines.0 > 1,
            TopologyKind::FatTree | TopologyKind::Graph => true,
            TopologyKind::Star
            | TopologyKind::Dumbbell
            | TopologyKind::Chain
            | TopologyKind::Tree => false,
        };
        let paths = several_paths && topology.spread() != Ecmp::Off;
        let bottleneck = &point.keys.bottleneck;
        let shares = [
            bottleneck.ack_loss,
            bottleneck.reordering,
            bottleneck.duplication,
            point.keys.switch.loss,
        ];
        let links = bottleneck.loss.0 > 0.0 && bottleneck.loss_pattern != LossPattern::Periodic
            || shares.iter().any(|share| share.0 > 0.0)
            || topology.exceptions.0.iter().any(|one| one.own.loss.0 > 0.0)
            || topology.faults.0.iter().any(|one| one.kind.is_random())
            || point.keys.link.jitter.0 != Some(Span::ZERO)
            || point.keys.switch.burst_lateness > Span::ZERO
            || point.keys.host.burst_lateness > Span::ZERO;
        let marks = point.keys.switch.ecn_max.0.is_some();
        let drawn = |group: &Group| {
            let workload = &group.keys.workload;
            matches!(workload.kind, WorkloadKind::Poisson | WorkloadKind::Trace)
                || workload.jitter > Span::ZERO
                || workload
                    .delay
                    .0
                    .map_or(workload.kind == WorkloadKind::Burst, |law| law.is_random())
                || workload.size.is_random()
                || (workload.kind == WorkloadKind::Collective && is_drawn(workload))
                || group.roles().random
        };
        paths || links || marks || point.groups.iter().any(drawn)
    }

    /// The settings of this point that its simulation reads. Points of a scenario with the same essence have the same
    /// outcome, so one simulation serves all of them: for example NewReno under all values of a DCTCP setting. The
    /// marking threshold is always part of it, because its crossings are counted for every scheme. O(settings).
    pub fn essence(&self) -> String {
        format!("{}\n{}", self.seed, self.essence_but_seed())
    }

    /// The [essence](Self::essence) without the seed: the same for all seeds of a row. O(settings).
    pub fn essence_but_seed(&self) -> String {
        let parts: Vec<&Scheme> = self.groups.iter().flat_map(parts).collect();
        let sees = |(place, key): &(usize, &&Key)| {
            let mut keys = parts.iter().flat_map(|part| part.keys);
            !are_of_schemes()[*place] || keys.any(|own| own.name == key.name)
        };
        let seen = all_keys().iter().enumerate().filter(sees);
        let seen: Vec<usize> = seen.map(|(place, _)| place).collect();
        let mut out = String::new();
        let groups = self.groups.iter();
        let all = groups.map(|group| (&*group.name, &*group.bundle, &group.texts));
        for (name, bundle, texts) in all.chain([("", "", &self.texts)]) {
            writeln!(out, "[{name}] {bundle}").expect("writing to a string succeeds");
            for place in &seen {
                out.extend([texts.at(*place), "\n"]);
            }
        }
        out
    }
}

/// For each of [`all_keys`], whether it belongs to a scheme.
fn are_of_schemes() -> &'static [bool] {
    static ARE: Derived<Vec<bool>> = Derived::new(|| {
        let groups = all_keys().iter().map(|key| group(key.name));
        let is_one = |name| schemes::all().iter().any(|scheme| scheme.name == name);
        groups.map(is_one).collect()
    });
    ARE.get()
}

/// Whether a collective uses random numbers from the seed.
fn is_drawn(workload: &Workload) -> bool {
    workload.rank_order == RankOrder::Random
        || workload.stragglers > 0
        || workload.compute.is_random()
}

fn parts(group: &Group) -> Vec<&'static Scheme> {
    let bundle = Bundle::parse(&group.bundle).expect("the scenario checked the schemes");
    bundle.parts().to_vec()
}
