//! Writes the results of an emulation as lines of the protocol.

use machine::kernel;
use plan::PointSpec;
use protocol::{
    BedLine, CaptureLine, EmulationLine, Line, PointLine, Settings, SkippedLine, TwinLine,
};

use crate::report::{CaptureReport, NetworkReport, Report, RunReport, TwinReport};

/// The line of a report.
pub(crate) fn line(report: Report<'_>) -> Line {
    match report {
        Report::Begins { scenario, runs } => Line::Emulation(EmulationLine {
            scenario: scenario.name().to_owned(),
            runs: runs.get(),
            version: sim::VERSION.to_owned(),
        }),
        Report::LeftOut { point, reason } => Line::Skipped(SkippedLine {
            scheme: point.scheme.clone(),
            set: set(point),
            reason,
        }),
        Report::Network(network) => Line::Bed(network_line(network)),
        Report::Capture(capture) => Line::Capture(capture_line(capture)),
        Report::Run(run) => Line::Point(Box::new(run_line(*run))),
        Report::Twin(twin) => Line::Twin(twin_line(twin)),
    }
}

fn network_line(network: NetworkReport<'_>) -> BedLine {
    BedLine {
        set: set(network.point),
        kernel: kernel::version(),
        hosts: network.hosts,
        switches: network.switches,
        rate_bps: network.rate_bps,
        scenario_rate_bps: network.scenario_rate_bps,
        burst_bytes: network.burst_bytes,
        rtt_us: network.rtt_us,
        different: network.different,
    }
}

fn capture_line(capture: CaptureReport<'_>) -> CaptureLine {
    let CaptureReport {
        point,
        file,
        captured,
    } = capture;
    CaptureLine {
        scheme: point.scheme.clone(),
        set: set(point),
        file,
        packets: captured.packets,
        lost: captured.lost.into(),
        left_out: captured.left_out,
    }
}

fn run_line(run: RunReport<'_>) -> PointLine {
    let mut line = PointLine {
        scheme: run.point.scheme.clone(),
        seed: run.seed,
        run: run.run,
        set: set(run.point),
        results: run.results,
        fct_us: run.fct_us,
        flows: run.flows,
        ended_us: run.ended_us,
        queue: None,
        arrivals: None,
        losses: None,
    };
    if let Some(series) = run.series {
        line.queue = Some(series.queue);
        line.arrivals = Some(series.arrivals);
        line.losses = series.losses;
    }
    line
}

fn twin_line(twin: TwinReport<'_>) -> TwinLine {
    TwinLine {
        scheme: twin.point.scheme.clone(),
        set: set(twin.point),
        file: twin.file,
        toml: twin.toml,
        starts: twin.starts,
    }
}

/// The settings of a point that have several values.
fn set(point: &PointSpec) -> Settings {
    point.set.iter().cloned().collect()
}
