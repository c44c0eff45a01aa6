//! Simulations from a program: one point, a sweep, a scheme of one's own, and a run folder.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use tailwater::prelude::*;
use tailwater::{
    Access, Destination, Monitor, Point, RunOptions, Scenario, run, run_folder, sweep,
};

// ANCHOR: point
/// One simulation, and numbers of its outcome.
pub fn point() -> Result<String, Box<dyn Error>> {
    let point = Point::builder("dctcp")
        .set("workload.senders", 40)
        .set("workload.size", "64KiB")
        .seed(1)
        .build()?;
    let outcome = run(&point)?;
    let late = outcome.flows.iter().filter(|flow| flow.timeouts > 0);
    Ok(format!(
        "{} at {} senders: {:.0} Mbit/s, {} flows with timeouts\n",
        point.scheme(),
        point.get("workload.senders").unwrap_or_default(),
        outcome.metrics.goodput_bps / 1e6,
        late.count(),
    ))
}
// ANCHOR_END: point

// ANCHOR: sweep
/// A sweep over schemes and senders, on all cores.
pub fn table() -> Result<String, Box<dyn Error>> {
    let scenario = Scenario::builder("incast")
        .schemes(["newreno", "dctcp", "steady"])
        .set("workload.senders", "10,40")
        .seeds(1)
        .build()?;
    let mut table = String::new();
    for (point, result) in sweep(&scenario, &RunOptions::default())? {
        let metrics = result?.metrics;
        writeln!(
            table,
            "{:8} {:>2} senders: slowest {:.1} ms",
            point.scheme(),
            point.get("workload.senders").unwrap_or_default(),
            metrics.fct_max_us / 1e3,
        )?;
    }
    Ok(table)
}
// ANCHOR_END: sweep

// ANCHOR: scheme
/// NewReno that never has more than a few segments outstanding.
pub const SCHEME: Scheme = Scheme {
    name: "steady",
    summary: "NewReno with a bounded window",
    roles: &[Role::Sender],
    keys: Params::KEYS,
    build: &|text| Ok(Roles::of_sender(Params::read(text)?, Steady::new)),
    origin: Some(tailwater::origin!()),
    ..Scheme::PLAIN
};

settings! {
    /// Parameters.
    pub struct Params in "steady" {
        /// Most segments outstanding.
        pub most: Count = "2",
    }
}

struct Steady {
    inner: NewReno,
    most_bytes: u64,
}

impl Steady {
    fn new(params: &Params, flow: &FlowInfo) -> Box<Self> {
        Box::new(Self {
            inner: NewReno::new(&flow.config),
            most_bytes: u64::from(params.most.0) * u64::from(flow.config.mss),
        })
    }
}

impl SenderCc for Steady {
    fn window(&self) -> u64 {
        self.inner.window().min(self.most_bytes)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.inner.on_ack(ack);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.inner.on_loss(loss, in_flight, now);
    }
}
// ANCHOR_END: scheme

// ANCHOR: folder
/// The run folder that `tailwater run` would write, with hints on the way.
pub fn folder(path: &Path) -> Result<String, Box<dyn Error>> {
    let scenario = Scenario::builder("incast")
        .schemes(["newreno", "steady"])
        .build()?;
    let to = Destination::new(path).access(Access::Resume);
    let folder = run_folder(&scenario, to, &RunOptions::default().monitor(&Hints))?;
    let report = folder.path().join("report.html");
    Ok(format!("a report is there: {}\n", report.is_file()))
}

struct Hints;

impl Monitor for Hints {
    fn on_hint(&self, line: &str) {
        eprintln!("{line}");
    }
}
// ANCHOR_END: folder
