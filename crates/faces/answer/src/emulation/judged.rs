//! Judges claims of a figure on Linux and in the simulator, as further lines of the emulation.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use claims::judge::{self, Bench, Finding, Verdict, digits};
use claims::{Claim, Experiment, Live, MeasuredRun};
use protocol::{ClaimLine, ClaimResult, ClaimValue};
use scenario::{Problems, Scenario};

use super::measured::{measured, untold};
use super::runs::{Emulation, WORLDS};
use super::table::instead;

/// A figure that has a test bed.
#[derive(Clone, Copy, Debug)]
pub struct BedFigure<'a> {
    /// The figure.
    pub figure: &'a Experiment,
    /// How it runs there.
    pub live: &'a Live,
    /// The figure whose runs it uses; mostly itself.
    pub run: &'a Experiment,
}

impl BedFigure<'_> {
    /// Its claims that are judged here.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        let claims = self.figure.claims.iter();
        claims.filter(|claim| self.live.claims.contains(&claim.id))
    }
}

/// A line for each claim that is judged live, for each of the figures with the same runs. Tables of single flows are in
/// `folder` only meanwhile.
pub fn judge(
    beds: &[BedFigure<'_>],
    (scenario, folder): (&Scenario, &Path),
    emulated: &Emulation,
) -> Result<Vec<Vec<ClaimLine>>, Problems> {
    let folders = WORLDS.map(|world| folder.join(world.name()));
    let measured = |place: usize| measured(scenario, &folders[place], (WORLDS[place], emulated));
    let worlds = [measured(0)?, measured(1)?];
    let figures = beds.iter().map(|bed| {
        let scale = scale(bed.live, scenario, emulated);
        let claims = bed.claims();
        let judged = claims.map(|claim| line(bed.figure, claim, &worlds, (emulated, &scale)));
        judged.collect::<Result<Vec<_>, _>>()
    });
    let judged = figures.collect::<Result<Vec<_>, _>>()?;
    drop(worlds);
    for folder in folders {
        // Nobody reads the remaining files.
        drop(fs::remove_dir_all(folder));
    }
    Ok(judged)
}

/// The scale at which the figure ran, in one sentence.
fn scale(live: &Live, scenario: &Scenario, emulated: &Emulation) -> String {
    let mut rates: Vec<String> = Vec::new();
    for rate in emulated.beds.iter().map(instead) {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    let (rates, runs) = (rates.join(" or "), scenario.seeds());
    let runs = crate::words::counted(runs as usize, "run");
    format!("{}; {rates}, {runs} of each scheme", live.scale)
}

fn line(
    figure: &Experiment,
    claim: &Claim,
    [linux, simulated]: &[MeasuredRun; 2],
    (emulated, scale): (&Emulation, &str),
) -> Result<ClaimLine, Problems> {
    let found = [finding(claim, linux)?, finding(claim, simulated)?];
    let (verdict, reason, valid) = verdict(claim, linux, &found[0], emulated);
    let [mut linux, simulated] = found.each_ref().map(told);
    if valid == 0 {
        "-".clone_into(&mut linux.text);
    }
    let [Finding { paper, unit, .. }, _] = found;
    Ok(ClaimLine {
        id: format!("{}/{}", figure.id(), claim.id),
        paper_name: figure.paper.clone(),
        figure: figure.name.clone(),
        title: figure.title.clone(),
        claim: claim.id.clone(),
        kind: claim.kind.name().to_owned(),
        says: claim.says.clone(),
        r#where: claim.place.clone(),
        paper,
        unit,
        linux,
        simulated,
        verdict,
        reason,
        valid_runs: valid as u64,
        own: claim.own.clone(),
        scale: scale.to_owned(),
    })
}

fn finding(claim: &Claim, runs: &MeasuredRun) -> Result<Finding, Problems> {
    let bench = Bench {
        own: runs,
        others: BTreeMap::new(),
        changed: None,
    };
    judge::judge(claim, &bench)
}

/// The result on Linux or in the simulator, for programs and in words.
fn told(finding: &Finding) -> ClaimResult {
    let number = finding.value.filter(|value| value.is_finite());
    let words = || ClaimValue::Words(finding.ours.clone());
    ClaimResult {
        ours: number.map_or_else(words, ClaimValue::Number),
        interval: finding.interval,
        verdict: finding.verdict.to_string(),
        reason: finding.reason.clone(),
        text: self::words(finding),
    }
}

/// A number with half its interval, or a few words.
fn words(finding: &Finding) -> String {
    let (Some(value), Some((low, high))) = (finding.value, finding.interval) else {
        return finding.ours.clone();
    };
    let half = digits((high - low) / 2.0);
    let text = format!("{} \u{b1} {half} {}", digits(value), finding.unit);
    text.trim_end().to_owned()
}

/// The verdict with its reason, and the smallest number of valid runs of a scheme.
fn verdict(
    claim: &Claim,
    linux: &MeasuredRun,
    finding: &Finding,
    emulated: &Emulation,
) -> (String, String, usize) {
    let summary = linux.run().summary();
    let mut fewest = (usize::MAX, String::new());
    for operand in claim.kind.operands() {
        let mut skipped = emulated.skipped.iter();
        if let Some(line) = skipped.find(|line| line.scheme == operand.scheme) {
            let reason = format!("{} did not run: {}", operand.scheme, line.reason);
            return (Verdict::NotTestable.to_string(), reason, 0);
        }
        let lacks = untold(&operand.measure.of, emulated, &operand.scheme);
        if let Some(reason) = lacks {
            return (Verdict::NotTestable.to_string(), reason, 0);
        }
        for row in linux.rows(&operand.scheme, &[&claim.at, &operand.at]) {
            let points = &summary.rows[row].points;
            let failures = summary.failures.iter();
            let failed: Vec<_> = failures
                .filter(|failure| points.contains(&failure.point))
                .collect();
            let valid = points.len() - failed.len();
            if valid < fewest.0 {
                let why = failed.first().map_or("", |failure| failure.error.as_str());
                fewest = (valid, format!("{}: {why}", operand.scheme));
            }
        }
    }
    let (valid, why) = fewest;
    let runs = summary.seeds as usize;
    if valid < LEAST.min(runs) {
        let reason = format!("{valid} of {runs} runs are valid of {why}");
        return (NOT_VALID.to_owned(), reason, valid);
    }
    (finding.verdict.to_string(), finding.reason.clone(), valid)
}

/// The verdict on runs that only show the limits of the machine.
const NOT_VALID: &str = "not valid";

/// The number of runs of each scheme that a verdict needs.
const LEAST: usize = 3;

#[cfg(test)]
mod tests;
