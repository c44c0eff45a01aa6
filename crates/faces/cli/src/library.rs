//! Simulations for programs: the supported items of `api`, each with an example.

pub use api::{
    Allowance, Destination, Error, Monitor, Point, PointBuilder, RunOptions, Scenario,
    ScenarioBuilder, run, run_folder, sweep,
};

/// ```
/// use tailwater::{Access, Destination};
///
/// // Continues the run that the folder holds, or begins one.
/// let to = Destination::new("results/mine".as_ref()).access(Access::Resume);
/// # assert!(format!("{to:?}").contains("Resume"));
/// ```
pub use api::Access;
/// ```
/// use tailwater::{Point, run};
///
/// let ring = [("kind", "collective"), ("algorithm", "ring"), ("ranks", "4"), ("size", "1MB")];
/// let point = ring.into_iter().fold(Point::builder("dctcp"), |point, (key, value)| {
///     point.set(&format!("workload.{key}"), value)
/// });
/// let outcome = run(&point.build()?)?;
/// let all = &outcome.collectives[0];
/// assert!(all.completed == 1 && all.mean_us > all.ideal_us);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::CollectiveMetrics;
/// ```
/// use tailwater::{Point, run};
///
/// let outcome = run(&Point::builder("newreno").set("workload.senders", 4).build()?)?;
/// let slowest = outcome.flows.iter().filter_map(|flow| flow.fct_us.get()).fold(0.0, f64::max);
/// assert!((slowest - outcome.metrics.fct_max_us).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::FlowRecord;
/// ```
/// use tailwater::{Access, Destination, RunOptions, Scenario, run_folder};
///
/// let path = std::env::temp_dir().join(format!("tailwater-read-{}", std::process::id()));
/// let scenario = Scenario::builder("incast").schemes(["newreno"]).build()?;
/// let to = Destination::new(&path).access(Access::Scratch).report(false);
/// let folder = run_folder(&scenario, to, &RunOptions::default())?;
/// let mut flows = 0;
/// folder.flows(&mut |_point, flow| flows += u32::from(flow.fct_us.get().is_some()))?;
/// assert!(flows > 0 && folder.tables().contains(&"flows"));
/// # drop(folder);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::Folder;
/// ```
/// use tailwater::{Scenario, RunOptions, sweep};
///
/// let text = r#"
///     schemes = ["newreno"]
///     workload.senders = 2
///     [group.short]
///     workload.size = "10KB"
///     [group.long]
///     workload.size = "100KB"
/// "#;
/// let outcomes = sweep(&Scenario::toml(text).build()?, &RunOptions::default())?;
/// let groups = &outcomes[0].1.as_ref().expect("a small network").groups;
/// let time = |name| groups.iter().find(|group| group.group == name).map(|group| group.fct_p50_us);
/// assert!(time("short") < time("long"));
/// # Ok::<(), tailwater::Error>(())
/// ```
pub use api::GroupMetrics;
/// ```
/// use tailwater::{Point, run};
///
/// let point = Point::builder("dctcp").set("workload.kind", "collective").set("workload.ranks", 4);
/// let outcome = run(&point.build()?)?;
/// let last = outcome.collectives[0].held_up.as_ref().expect("it was complete");
/// assert!(last.step < last.steps && last.took_us > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::HeldUp;
/// ```
/// use tailwater::Measured;
///
/// assert_eq!(Measured::from(Some(2.5)).get(), Some(2.5));
/// assert_eq!(Measured::from(None).get(), None);
/// ```
pub use api::Measured;
/// ```
/// use tailwater::{Point, run};
///
/// let of = |scheme| run(&Point::builder(scheme).set("workload.senders", 20).build().expect("a scheme"));
/// let (newreno, dctcp) = (of("newreno")?.metrics, of("dctcp")?.metrics);
/// assert!(dctcp.queue_mean_bytes < newreno.queue_mean_bytes);
/// assert_eq!(newreno.marks, 0);
/// # Ok::<(), tailwater::PointFailure>(())
/// ```
pub use api::Metrics;
/// ```
/// use tailwater::{Outcome, Point, run};
///
/// /// The goodput of each flow, in bytes per microsecond.
/// fn goodputs(outcome: &Outcome) -> Vec<f64> {
///     let flows = outcome.flows.iter();
///     flows.filter_map(|flow| Some(flow.received_bytes as f64 / flow.fct_us.get()?)).collect()
/// }
///
/// let outcome = run(&Point::builder("newreno").set("workload.senders", 4).build()?)?;
/// assert_eq!(goodputs(&outcome).len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::Outcome;
/// ```
/// use tailwater::{Outcomes, RunOptions, Scenario, sweep};
///
/// /// The label of the scheme whose slowest flow ended first.
/// fn fastest(outcomes: &Outcomes) -> Option<&str> {
///     let done = outcomes.iter().filter_map(|(point, result)| Some((point, result.as_ref().ok()?)));
///     let time = |(_, outcome): &(_, &tailwater::Outcome)| outcome.metrics.fct_max_us;
///     let first = done.min_by(|a, b| time(a).total_cmp(&time(b)));
///     first.map(|(point, _)| point.scheme())
/// }
///
/// let scenario = Scenario::builder("incast").schemes(["newreno", "rcc"]).build()?;
/// assert!(fastest(&sweep(&scenario, &RunOptions::default())?).is_some());
/// # Ok::<(), tailwater::Error>(())
/// ```
pub use api::Outcomes;
/// ```
/// use tailwater::{Point, PointFailure, RunError, run};
///
/// let point = Point::builder("newreno")
///     .set("workload.kind", "poisson")
///     .set("workload.duration", "1ns")
///     .build()?;
/// assert!(matches!(run(&point), Err(PointFailure::Run(RunError::NoFlow))));
/// # Ok::<(), tailwater::Error>(())
/// ```
pub use api::PointFailure;
/// ```
/// use tailwater::{Point, run};
///
/// let outcome = run(&Point::builder("newreno").set("workload.senders", 20).build()?)?;
/// let bottleneck = outcome.ports.iter().find(|port| port.bottleneck).expect("one port has the queue");
/// assert_eq!(bottleneck.queue_max_bytes, outcome.metrics.queue_max_bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::PortRecord;
/// ```
/// use tailwater::{Point, run};
///
/// let outcome = run(&Point::builder("newreno").set("workload.senders", 4).build()?)?;
/// assert!(outcome.cost.events > 0 && outcome.cost.packet_hops >= outcome.cost.events / 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::RunCost;
/// ```
/// use tailwater::{PointFailure, RunError};
///
/// /// Whether another seed may have an outcome where this one has none.
/// fn depends_on_seed(failure: &PointFailure) -> bool {
///     matches!(failure, PointFailure::Run(RunError::NoFlow))
/// }
/// assert!(depends_on_seed(&PointFailure::Run(RunError::NoFlow)));
/// ```
pub use api::RunError;
/// ```
/// use tailwater::{RunOptions, Scenario, Silent, sweep};
///
/// let scenario = Scenario::builder("incast").schemes(["newreno"]).build()?;
/// let silently = RunOptions::default().monitor(&Silent);
/// assert_eq!(sweep(&scenario, &silently)?.len(), scenario.points().count());
/// # Ok::<(), tailwater::Error>(())
/// ```
pub use api::Silent;
/// ```
/// use tailwater::{Point, run};
///
/// let outcome = run(&Point::builder("newreno").set("workload.senders", 20).build()?)?;
/// let drops: u64 = outcome.tiers.iter().map(|tier| tier.drops).sum();
/// assert_eq!(drops, outcome.metrics.drops);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use api::TierMetrics;
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use tailwater::{Error, Monitor, RunOptions, Scenario, Stage, StageWork, sweep};
///
/// /// Knows how many simulations each stage has, before it begins.
/// #[derive(Default)]
/// struct Announced(AtomicUsize);
///
/// impl Monitor for Announced {
///     fn during(&self, stage: &Stage<'_>, work: StageWork<'_>) -> Result<(), Error> {
///         self.0.fetch_add(stage.simulations(), Ordering::Relaxed);
///         work()
///     }
/// }
///
/// let scenario = Scenario::builder("incast").set("workload.senders", "4,8").build()?;
/// let announced = Announced::default();
/// sweep(&scenario, &RunOptions::default().monitor(&announced))?;
/// assert_eq!(announced.0.into_inner(), scenario.points().count());
/// # Ok::<(), tailwater::Error>(())
/// ```
pub use api::{Stage, StageWork};
/// ```
/// use tailwater::{RegistrationError, prelude::*, register};
///
/// const TAKEN: Scheme = Scheme {
///     name: "dctcp",
///     origin: Some(tailwater::origin!()),
///     ..Scheme::PLAIN
/// };
/// assert!(matches!(register(TAKEN), Err(RegistrationError::Taken("dctcp"))));
/// ```
pub use schemes::RegistrationError;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The sources whose items have examples in their own documentation.
    const SOURCES: [&str; 8] = [
        "error.rs",
        "folder.rs",
        "monitor.rs",
        "options.rs",
        "point.rs",
        "request.rs",
        "scenario.rs",
        "sweep.rs",
    ];

    #[test]
    fn every_item_of_the_library_has_an_example() {
        let own = include_str!("library.rs");
        let own = own.split("#[cfg(test)]").next().unwrap_or(own);
        let mut shown = with_examples(own);
        for file in SOURCES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/src");
            let text = std::fs::read_to_string(folder.join(file)).expect("a source of `api`");
            shown.extend(with_examples(&text));
        }
        let uses = own.split("pub use ").skip(1);
        let uses = uses.filter_map(|rest| rest.split_once(';'));
        let names: Vec<&str> = uses.flat_map(|(names, _)| words(names).skip(1)).collect();
        assert!(names.len() > 25, "{names:?}");
        let lacking: Vec<&&str> = names
            .iter()
            .filter(|name| !shown.contains(**name))
            .collect();
        assert!(lacking.is_empty(), "no example of {lacking:?}");
    }

    /// The names of public items that directly follow documentation with an example.
    fn with_examples(text: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut has_example = false;
        for line in text.lines() {
            if line.starts_with("///") {
                has_example |= line.contains("```");
            } else if line.starts_with("pub ") && has_example {
                names.extend(words(line).map(str::to_owned));
                has_example = false;
            } else if !line.starts_with('#') {
                has_example = false;
            }
        }
        names
    }

    fn words(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty())
    }
}
