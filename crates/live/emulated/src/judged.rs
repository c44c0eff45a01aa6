//! Claims of a figure judged in both worlds, as lines beside what the other program told.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use claims::judge::{self, Bench, Finding, Verdict, digits};
use claims::{Claim, Experiment, Live, Measured, Of};
use scenario::{Problems, Scenario};
use serde_json::{Value, json};

use crate::instead;
use crate::measured::{measured, unnoticed, untold};

/// A figure that has a test bed.
#[derive(Clone, Copy, Debug)]
pub struct Bed<'a> {
    /// The figure.
    pub figure: &'a Experiment,
    /// How it runs there.
    pub live: &'a Live,
    /// The figure whose runs it shows: mostly itself.
    pub run: &'a Experiment,
}

impl Bed<'_> {
    /// Its claims that are judged.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        let claims = self.figure.claims.iter();
        claims.filter(|claim| self.live.claims.contains(&claim.id))
    }
}

/// A line for each claim that is judged live, figure by figure of those with the same runs. Tables of single flows are in
/// `folder` only meanwhile.
pub fn judge(
    beds: &[Bed<'_>],
    (scenario, folder): (&Scenario, &Path),
    lines: &[Value],
) -> Result<Vec<Vec<Value>>, Problems> {
    let folders = WORLDS.map(|world| folder.join(world));
    let measured = |place: usize| measured(scenario, &folders[place], (WORLDS[place], lines));
    let worlds = [measured(0)?, measured(1)?];
    let figures = beds.iter().map(|bed| {
        let scale = scale(bed.live, scenario, lines);
        let claims = bed.claims();
        let judged = claims.map(|claim| line(bed.figure, claim, &worlds, (lines, &scale)));
        judged.collect::<Result<Vec<_>, _>>()
    });
    let judged = figures.collect::<Result<Vec<_>, _>>()?;
    drop(worlds);
    for folder in folders {
        // What stays is read by nobody.
        drop(fs::remove_dir_all(folder));
    }
    Ok(judged)
}

/// At what scale the figure ran, in one sentence.
fn scale(live: &Live, scenario: &Scenario, lines: &[Value]) -> String {
    let mut rates: Vec<String> = Vec::new();
    let beds = lines.iter().filter(|line| line["type"] == "bed");
    for rate in beds.map(instead) {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    let (rates, runs) = (rates.join(" or "), scenario.seeds());
    let runs = text::counted(runs as usize, "run");
    format!("{}; {rates}, {runs} of each scheme", live.scale)
}

fn line(
    figure: &Experiment,
    claim: &Claim,
    [linux, simulated]: &[Measured; 2],
    (lines, scale): (&[Value], &str),
) -> Result<Value, Problems> {
    let found = [finding(claim, linux)?, finding(claim, simulated)?];
    let (verdict, reason, valid) = verdict(claim, linux, &found[0], lines);
    let [mut linux, simulated] = found.each_ref().map(told);
    if valid == 0 {
        linux["text"] = "-".into();
    }
    Ok(json!({
        "type": "claim",
        "id": format!("{}/{}", figure.id(), claim.id),
        "paper_name": figure.paper,
        "figure": figure.name,
        "title": figure.title,
        "claim": claim.id,
        "kind": claim.kind.name(),
        "where": claim.place,
        "says": claim.says,
        "paper": found[0].paper,
        "unit": found[0].unit,
        "linux": linux,
        "simulated": simulated,
        "verdict": verdict,
        "reason": reason,
        "valid_runs": valid,
        "own": claim.own,
        "scale": scale,
    }))
}

fn finding(claim: &Claim, runs: &Measured) -> Result<Finding, Problems> {
    let bench = Bench {
        own: runs,
        others: BTreeMap::new(),
        changed: None,
    };
    judge::judge(claim, &bench)
}

/// What came out in one world, for programs and in words.
fn told(finding: &Finding) -> Value {
    let number = finding.value.filter(|value| value.is_finite());
    json!({
        "ours": number.map_or_else(|| json!(finding.ours), |value| json!(value)),
        "interval": finding.interval,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "text": words(finding),
    })
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

/// The verdict with its reason, and the valid runs of the scheme that has the fewest.
fn verdict(
    claim: &Claim,
    linux: &Measured,
    finding: &Finding,
    lines: &[Value],
) -> (String, String, usize) {
    let summary = linux.folder().summary();
    let mut fewest = (usize::MAX, String::new());
    for operand in claim.kind.operands() {
        let mut skipped = lines.iter().filter(|line| line["type"] == "skipped");
        if let Some(line) = skipped.find(|line| line["scheme"] == operand.scheme) {
            let reason = line["reason"].as_str().unwrap_or_default();
            let reason = format!("{} did not run: {reason}", operand.scheme);
            return (Verdict::NotTestable.to_string(), reason, 0);
        }
        let lacks = match &operand.measure.of {
            Of::Flows { column, .. } => untold(column, lines, &operand.scheme),
            Of::Events { .. } => unnoticed(lines, &operand.scheme),
            _ => None,
        };
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

const WORLDS: [&str; 2] = ["linux", "simulated"];

/// The verdict on runs that say something about the machine instead.
const NOT_VALID: &str = "not valid";

/// Runs of each scheme that a verdict needs.
const LEAST: usize = 3;

#[cfg(test)]
mod tests;
