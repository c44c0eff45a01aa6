//! Points that cannot differ: their settings differ in nothing that their simulations see.

use std::fmt::Write;

use schemes::{Bundle, Scheme};

use crate::keys::{all_keys, group};
use crate::{Group, PointSpec};

impl PointSpec {
    /// What the simulation of this point sees of its settings. Points of a scenario that have the same essence have
    /// the same outcome, so that one simulation tells it for all: those of NewReno under every value of a setting
    /// of DCTCP, say. Where queues begin to mark, every simulation sees, for crossings are counted whoever sends.
    /// O(settings).
    pub fn essence(&self) -> String {
        let parts: Vec<&Scheme> = self.groups.iter().flat_map(parts).collect();
        let of_scheme = |key: &str| {
            let mut schemes = schemes::all().iter();
            schemes.any(|scheme| scheme.name == group(key))
        };
        let sees = |key: &str| {
            let mut keys = parts.iter().flat_map(|part| part.keys);
            !of_scheme(key) || keys.any(|own| own.name == key)
        };
        let seen: Vec<&str> = all_keys()
            .iter()
            .map(|key| key.name)
            .filter(|key| sees(key))
            .collect();
        let mut out = format!("{}\n", self.seed);
        let all = self
            .groups
            .iter()
            .map(|group| (&*group.name, &*group.bundle, &group.texts));
        for (name, bundle, texts) in all.chain([("", "", &self.texts)]) {
            writeln!(out, "[{name}] {bundle}").expect("writing to a string succeeds");
            for key in &seen {
                writeln!(out, "{}", &texts[key]).expect("writing to a string succeeds");
            }
        }
        out
    }
}

fn parts(group: &Group) -> Vec<&'static Scheme> {
    let bundle = Bundle::parse(&group.bundle).expect("the scenario checked the schemes");
    bundle.parts().to_vec()
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, PointSpec, Scenario, Source};

    fn points(schemes: &str, sets: &[&str]) -> Vec<PointSpec> {
        let overrides = Overrides {
            schemes: Some(schemes.to_owned()),
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Overrides::default()
        };
        let scenario = Scenario::load(Source::new("test.toml", "seeds = 1\n"), &overrides);
        scenario.unwrap().points().to_vec()
    }

    /// Whether the two values of an axis give simulations that cannot differ.
    fn same(schemes: &str, set: &str) -> bool {
        let points = points(schemes, &[set]);
        assert_eq!(points.len(), 2);
        points[0].essence() == points[1].essence()
    }

    #[test]
    fn a_scheme_does_not_see_the_settings_of_another() {
        assert!(same("newreno", "dctcp.g=0.0625,0.125"));
        assert!(!same("dctcp", "dctcp.g=0.0625,0.125"));
        assert!(!same("dctcp+rwndq", "rwndq.interval=50us,100us"));
        assert!(!same("newreno", "tcp.min_rto=1ms,10ms"));
        assert!(!same("newreno", "switch.ecn_threshold=20pkt,40pkt"));
    }

    #[test]
    fn schemes_and_seeds_are_never_the_same() {
        let points = points("newreno,cubic", &["workload.jitter=1us"]);
        assert_ne!(points[0].essence(), points[1].essence());
        let again = PointSpec {
            seed: 2,
            ..points[0].clone()
        };
        assert_ne!(points[0].essence(), again.essence());
    }
}
