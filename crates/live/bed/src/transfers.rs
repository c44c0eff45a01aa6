//! Runs a scenario of two hosts with our TCP against the kernel's: its senders are endpoints of the simulator, and a
//! stock receiver reads their data from a TUN device.
//!
//! The path has the delay and the rate of the scenario, which our side of the device adds. So nothing is scaled, and
//! the twin is the scenario itself. Results have the same form as those of a bed of namespaces.

use base::Span;
use base::cast::real;
use machine::{interrupt, kernel};
use plan::PointSpec;
use plan::keys::{self, TopologyKind, WorkloadKind};
use plan::workload::Plan;
use protocol::{FlowRow, Instead, Line, LinuxMetrics, LinuxRun, Results};
use scenario::{Problem, Problems, Scenario};
use tun::{Done, Impairment, Session, Setup, Side, Transfer};

use crate::counters::Cores;
use crate::error::EmulateError;
use crate::lines;
use crate::measure;
use crate::order::Order;
use crate::report::{NetworkReport, Report, RunReport};
use crate::validity;

/// Makes the transfer of every point of `scenario`, whose seeds are the runs, and reports each result. Of `order`, only
/// the number of runs and the wish for twins matter.
///
/// # Errors
/// If a point has more than one flow between two hosts, or the machine refuses.
pub fn transfers(
    scenario: &Scenario,
    order: &Order,
    tell: &mut dyn FnMut(Line),
) -> Result<(), EmulateError> {
    for point in scenario.points() {
        check(point)?;
    }
    let report = &mut |report: Report<'_>| tell(lines::line(report));
    let runs = order.runs;
    report(Report::Begins { scenario, runs });
    let mut sets: Vec<&PointSpec> = Vec::new();
    for point in scenario.points() {
        if sets.iter().all(|other| other.set != point.set) {
            sets.push(point);
        }
    }
    for first in sets {
        let alike = scenario.points().iter();
        let alike: Vec<_> = alike.filter(|point| point.set == first.set).collect();
        of_set(&alike, order, report)?;
    }
    Ok(())
}

/// Refuses a point that is not a transfer between two hosts.
fn check(point: &PointSpec) -> Result<(), Problems> {
    let (keys, plan) = (&point.keys, Plan::of(point));
    let is_one = plan.flows.len() == 1 && plan.flows[0].size.is_some();
    let is_incast = keys.workload.kind == WorkloadKind::Incast;
    if keys.topology.kind == TopologyKind::Star && is_incast && is_one {
        return Ok(());
    }
    let problem = Problem::new("a TUN device connects two hosts with one flow");
    let help = "set topology.kind=star, workload.kind=incast and workload.senders=1";
    Err(problem.help(help).into())
}

/// Runs points that only differ in scheme and seed.
fn of_set(
    points: &[&PointSpec],
    order: &Order,
    report: &mut dyn FnMut(Report<'_>),
) -> Result<(), EmulateError> {
    let first = points[0];
    let mut schemes: Vec<&str> = Vec::new();
    for point in points {
        if !schemes.contains(&point.scheme.as_str()) {
            schemes.push(&point.scheme);
        }
    }
    let mut session = Session::open(setup(first))?;
    report(Report::Network(describe(first)));
    let of_scheme = |scheme: &str| {
        let own = points.iter().filter(move |point| point.scheme == scheme);
        own.copied().collect::<Vec<_>>()
    };
    let known: Vec<&str> = (schemes.into_iter())
        .filter(|scheme| match Session::check(scheme, &settings(first)) {
            Ok(()) => true,
            Err(problems) => {
                let reasons = problems.0.iter().map(ToString::to_string);
                let reasons: Vec<_> = reasons.collect();
                let (point, reason) = (of_scheme(scheme)[0], reasons.join("; "));
                report(Report::LeftOut { point, reason });
                false
            }
        })
        .collect();
    for run in 0..order.runs.get() {
        for scheme in &known {
            interrupt::check()?;
            let own = of_scheme(scheme);
            let point = own[run as usize % own.len()];
            let ran = live_run(&mut session, point, run)?;
            report(Report::Run(Box::new(ran)));
        }
    }
    for scheme in known.iter().filter(|_| order.simulate) {
        let ran = simulated(of_scheme(scheme)[0])?;
        report(Report::Run(Box::new(ran)));
    }
    Ok(())
}

fn setup(point: &PointSpec) -> Setup {
    let keys = &point.keys;
    let buffer = keys.tcp.receive_buffer.in_bytes(keys.tcp.mss.0.into());
    Setup {
        impairment: Impairment {
            delay: delay(point),
            rate: Some(keys.link.rate),
            ..Impairment::NONE
        },
        seed: point.seed,
        receive_buffer: usize::try_from(buffer).ok(),
        sets: settings(point),
        ..Setup::default()
    }
}

/// The delay from one host to the other, over two links of a star.
fn delay(point: &PointSpec) -> Span {
    point.keys.link.delay * LINKS
}

/// Settings of our side.
fn settings(point: &PointSpec) -> Vec<String> {
    let own = keys::all_keys().iter().filter(|key| {
        let group = keys::group(key.name);
        let is_part = point.bundle.split('+').any(|part| part == group);
        (group == "tcp" || is_part) && point.text(key.name) != key.default
    });
    own.map(|key| format!("{}={}", key.name, point.text(key.name)))
        .collect()
}

fn describe(point: &PointSpec) -> NetworkReport<'_> {
    let rate = point.keys.link.rate.as_bps();
    let instead = "the kernel's receiver acknowledges by its own rules; the twin's receiver follows the scenario";
    NetworkReport {
        point,
        hosts: 2,
        switches: 0,
        rate_bps: rate,
        scenario_rate_bps: rate,
        burst_bytes: None,
        rtt_us: (delay(point) * LINKS).as_micros(),
        different: vec![Instead {
            key: "tcp.delayed_ack".to_owned(),
            instead: instead.to_owned(),
        }],
    }
}

/// One run of one scheme.
fn live_run<'a>(
    session: &mut Session,
    point: &'a PointSpec,
    run: u32,
) -> Result<RunReport<'a>, EmulateError> {
    let size = Plan::of(point).flows[0].size.unwrap_or(0);
    let transfer = Transfer {
        scheme: point.scheme.clone(),
        size,
        sender: Side::Ours,
        opener: Side::Ours,
    };
    let cores = Cores::read()?;
    let done = session.run(&[transfer])?.remove(0);
    let busy_share = Cores::read()?.busy_since(&cores);
    let fct_us = done.arrived_ms.map(|ms| ms * 1e3);
    let reasons = reasons(&done, busy_share);
    let results = Results::Linux {
        metrics: Box::new(metrics(&done, size, fct_us)),
        live: Box::new(LinuxRun {
            kernel: kernel::version(),
            rate_bps: point.keys.link.rate.as_bps(),
            valid: reasons.is_empty(),
            reasons,
            busy_share,
            fast_recoveries: Some(done.fast_recoveries),
            low_acks: done.low_acks,
            ..LinuxRun::default()
        }),
    };
    Ok(RunReport {
        point,
        seed: point.seed,
        run,
        results,
        fct_us: fct_us.into_iter().collect(),
        flows: Some(vec![FlowRow {
            start_us: Some(0.0),
            completion_us: fct_us,
            received: if done.right { size } else { 0 },
            retransmissions: u32::try_from(done.retransmissions).ok(),
            timeouts: u32::try_from(done.timeouts).ok(),
            ..FlowRow::default()
        }]),
        ended_us: fct_us,
        series: None,
    })
}

/// Why a transfer is invalid; empty if it is valid.
fn reasons(done: &Done, busy_share: f64) -> Vec<String> {
    let mut reasons: Vec<String> = done.failure.iter().cloned().collect();
    if !done.right {
        reasons.push("the received bytes differ from the sent bytes".to_owned());
    }
    reasons.extend(validity::busy(busy_share));
    reasons
}

/// The known metrics of a transfer. The device drops nothing, and segments are not counted.
fn metrics(done: &Done, size: u64, fct_us: Option<f64>) -> LinuxMetrics {
    let [mean, p50, p95, p99, max] = measure::statistics(&Vec::from_iter(fct_us));
    LinuxMetrics {
        goodput_bps: fct_us.map(|us| real(size) * 8e6 / us),
        timeouts: Some(done.timeouts),
        retransmissions: Some(done.retransmissions),
        drops: Some(0),
        flows_completed: u64::from(fct_us.is_some()),
        flows_failed: u64::from(fct_us.is_none()),
        flows_unfinished: 0,
        fct_mean_us: mean,
        fct_p50_us: p50,
        fct_p95_us: p95,
        fct_p99_us: p99,
        fct_max_us: max,
        ..LinuxMetrics::default()
    }
}

/// The twin: it has nothing random, so it runs once.
fn simulated(point: &PointSpec) -> Result<RunReport<'_>, EmulateError> {
    let outcome = sim::run::run(point).map_err(|error| EmulateError::Failed(error.to_string()))?;
    let flow = &outcome.flows[0];
    let results = Results::Simulated {
        metrics: Box::new(outcome.metrics.clone()),
    };
    Ok(RunReport {
        point,
        seed: point.seed,
        run: 0,
        results,
        fct_us: flow.fct_us.get().into_iter().collect(),
        flows: Some(vec![measure::simulated_row(flow, 0.0)]),
        ended_us: Some(outcome.cost.simulated_us),
        series: None,
    })
}

/// Links from one host of a star to another.
const LINKS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Overrides, Source};

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            "schemes = [\"rc3\"]\n[link]\nrate = \"200Mbps\"\ndelay = \"5ms\"\n\
             [tcp]\ninitial_window = 4\nreceive_buffer = \"2MB\"\n[workload]\n{more}"
        );
        Scenario::load(Source::new("two", text), &Overrides::default()).unwrap()
    }

    #[test]
    fn the_way_has_the_delay_and_the_rate_of_the_scenario() {
        let scenario = scenario("senders = 1\nsize = \"10KB\"\n");
        let point = &scenario.points()[0];
        assert!(check(point).is_ok());
        let setup = setup(point);
        assert_eq!(setup.impairment.delay, Span::from_millis(10));
        assert_eq!(setup.impairment.rate.unwrap().as_bps(), 200_000_000);
        assert_eq!(setup.receive_buffer, Some(2_000_000));
        assert!(setup.sets.contains(&"tcp.initial_window=4".to_owned()));
        assert!(
            setup.sets.iter().all(|set| set.starts_with("tcp.")),
            "{:?}",
            setup.sets
        );
        assert!(Session::check("rc3", &setup.sets).is_ok());
        assert!((describe(point).rtt_us - 20_000.0).abs() < 1e-9);
    }

    #[test]
    fn more_than_one_flow_is_refused() {
        let several = scenario("senders = 2\nsize = \"10KB\"\n");
        let refused = check(&several.points()[0]).unwrap_err().to_string();
        assert!(refused.contains("two hosts with one flow"), "{refused}");
    }

    #[test]
    fn a_transfer_with_wrong_bytes_does_not_count() {
        let done = Done {
            right: true,
            orderly: true,
            failure: None,
            took_ms: Some(40.0),
            arrived_ms: Some(30.0),
            fast_recoveries: 0,
            timeouts: 0,
            retransmissions: 0,
            low_acks: None,
        };
        assert_eq!(reasons(&done, 0.5), [""; 0]);
        assert_eq!(
            metrics(&done, 3_000, Some(30_000.0)).goodput_bps,
            Some(800_000.0)
        );
        assert_eq!(reasons(&done, 1.0), ["cores 100 % busy"]);
        let wrong = Done {
            right: false,
            ..done
        };
        assert_eq!(
            reasons(&wrong, 0.5),
            ["the received bytes differ from the sent bytes"]
        );
    }
}
