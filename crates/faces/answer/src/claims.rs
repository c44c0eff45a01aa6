//! Claims and verdicts as text: for people, for programs, for spreadsheets.

use std::fmt::Write;

use claims::judge::{
    Counts, Finding, Judged, JudgedFigure, OtherReading, Standing, TriedCause, Verdict, digits,
};
use claims::{ClaimKind, Paper};
use comfy_table::{Cell, Table};
use serde_json::{Value, json};

use crate::layout::{self, Tone};

/// Papers with their figures that have been judged.
pub type Books<'a> = [(&'a Paper, Vec<JudgedFigure<'a>>)];

/// One table for each figure, and a line for each paper; `styled` colours the verdicts.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(books: &Books<'_>, styled: bool) -> String {
    let mut out = String::new();
    write(&mut out, books, styled).expect("writing to a string succeeds");
    out
}

fn write(out: &mut String, books: &Books<'_>, styled: bool) -> std::fmt::Result {
    for (paper, figures) in books {
        if !out.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}", paper.name, paper.title)?;
        for figure in figures {
            writeln!(out)?;
            let what = figure.experiment;
            let section = what.section.as_ref();
            let section = section.map_or_else(String::new, |section| format!(", {section}"));
            let head = format!("{}: {} ({}{section})", what.id(), what.title, what.figure);
            layout::paragraph(out, 0, &head);
            if let Some(claim) = figure.claims.first() {
                layout::paragraph(out, 0, &format!("Scale: {}.", claim.scale));
            }
            if !figure.claims.is_empty() {
                let table = layout::drawn(&claims(&figure.claims), styled);
                writeln!(out, "\n{}", table.trim_end())?;
            }
            if let Some(bias) = &figure.bias {
                layout::paragraph(out, 0, &format!("Ours: {bias}."));
            }
        }
        let all = figures.iter().flat_map(|figure| &figure.claims);
        writeln!(out, "\n{}: {}", paper.name, Counts::of(all))?;
    }
    if books.len() > 1 {
        writeln!(out, "\n{}", papers(books).trim_fmt())?;
    }
    Ok(())
}

/// The first verdicts on a figure, a line each. `more` says that causes will be tried for them.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn verdicts(figure: &str, claims: &[Judged], more: bool) -> String {
    let mut out = format!("{figure}: {}", Counts::of(claims.iter()));
    if more {
        out += "; causes are tried next";
    }
    let widest = claims
        .iter()
        .map(|claim| claim.finding.verdict.name().len());
    let widest = widest.max().unwrap_or(0);
    for judged in claims {
        let (finding, id) = (&judged.finding, &judged.claim.id);
        let verdict = finding.verdict.name();
        let (here, paper) = (ours(finding), &finding.paper);
        write!(out, "\n  {verdict:widest$}  {id}: {here} (paper: {paper})")
            .expect("writing to a string succeeds");
    }
    out
}

/// A line for each paper with its number of claims and the number for each verdict.
fn papers(books: &Books<'_>) -> Table {
    let mut table = layout::ruled();
    let verdicts = Verdict::ALL.map(|verdict| verdict.name().to_owned());
    let head = ["paper", "claims"].map(str::to_owned).into_iter();
    let more = [
        "by the code",
        "weaker form",
        "order of events",
        "own checks",
        "counted elsewhere",
    ];
    let more = more.map(str::to_owned);
    table.set_header(head.chain(verdicts).chain(more));
    for (paper, figures) in books {
        let counts = Counts::of(figures.iter().flat_map(|figure| &figure.claims));
        let numbers = [counts.claims()].into_iter().chain(counts.verdicts);
        let numbers = numbers.map(|number| number.to_string());
        let more = [
            split(counts.by_code),
            split(counts.weaker),
            counts.order.to_string(),
            counts.own.to_string(),
            counts.elsewhere.to_string(),
        ];
        table.add_row([paper.name.clone()].into_iter().chain(numbers).chain(more));
    }
    layout::pad(&mut table);
    table
}

/// The numbers of reproduced, partly reproduced and not reproduced claims: `96/18/17`.
fn split([reproduced, partly, not, _]: [usize; Verdict::ALL.len()]) -> String {
    format!("{reproduced}/{partly}/{not}")
}

/// The claims of a figure.
fn claims(claims: &[Judged]) -> Table {
    let mut table = layout::ruled();
    table.set_header(["claim", "paper", "ours", "verdict"]);
    for claim in claims {
        let verdict = claim.finding.verdict;
        table.add_row([
            Cell::new(description(claim)),
            Cell::new(&claim.finding.paper),
            Cell::new(ours(&claim.finding)),
            Cell::new(layout::bold(verdict.name(), tone(verdict))),
        ]);
    }
    layout::fix(&mut table, COLUMNS);
    table
}

/// The claim's name, its statement, the reason for its verdict, and the causes that were tried.
fn description(judged: &Judged) -> String {
    let claim = &judged.claim;
    let mut text = format!("{}\n", claim.id);
    let mut add = |line: &str| layout::wrap(&mut text, 2, COLUMNS[0], line);
    add(&format!("{} ({})", claim.says, claim.place));
    let finding = &judged.finding;
    if finding.verdict != Verdict::Reproduced {
        add(&finding.reason);
    }
    if judged.standing != Standing::Counted {
        add(&judged.standing.to_string());
    }
    let missed = finding.verdict.is_missed();
    let folded = |tried: &&TriedCause| missed && !tried.explains();
    for tried in judged.causes.iter().filter(|tried| !folded(tried)) {
        add(&cause(tried, missed));
    }
    for read in judged.readings.iter().filter(|read| !read.set.is_empty()) {
        add(&reading(read));
    }
    if judged.hangs_on_order() {
        add(&order(judged));
    }
    match judged.causes.iter().filter(folded).count() {
        0 => {}
        1 => add("tried 1 explanation that is not the cause; the report has it"),
        count => add(&format!(
            "tried {count} explanations that are not the cause; the report has them"
        )),
    }
    // A blank line between claims.
    text
}

fn cause(tried: &TriedCause, missed: bool) -> String {
    let explains = if missed { "cause" } else { "tried" };
    let (says, set, ours) = (&tried.says, &tried.set, ours(&tried.finding));
    format!("{explains}: {says} ({set}: {ours}; {})", tried.weighs())
}

/// The verdict on a claim by another reading of the paper.
fn reading(read: &OtherReading) -> String {
    let (name, set, verdict) = (&read.name, &read.set, read.finding.verdict);
    format!("by {name}: {verdict}, {} ({set})", ours(&read.finding))
}

/// The verdicts of a claim that depends on the order of events.
fn order(judged: &Judged) -> String {
    let late = judged.phases.iter();
    let late = late.map(|late| {
        let (name, verdict) = (&late.name, late.finding.verdict);
        format!(
            "{verdict}, {} with link.jitter = {name}",
            ours(&late.finding)
        )
    });
    let late: Vec<String> = late.collect();
    format!("hangs on the order of events: {}", late.join("; "))
}

/// Our result; a number with half its 95 % interval.
fn ours(finding: &Finding) -> String {
    let (Some(value), Some((low, high))) = (finding.value, finding.interval) else {
        return finding.ours.clone();
    };
    // The interval has the digits of the number.
    let number = digits(value);
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half = (high - low) / 2.0;
    let number = format!("{number} \u{b1} {half:.decimals$} {}", finding.unit);
    number.trim_end().to_owned()
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Reproduced => Tone::Good,
        Verdict::Partly => Tone::Middle,
        Verdict::NotReproduced => Tone::Bad,
        Verdict::NotTestable => Tone::Plain,
    }
}

/// Widths of the columns of a table.
const COLUMNS: [usize; 4] = [52, 14, 16, 14];

/// One object with every claim.
pub fn json(books: &Books<'_>) -> String {
    let claims = books.iter().flat_map(|(_, figures)| figures);
    let claims = claims.flat_map(|figure| {
        let claims = figure.claims.iter();
        claims.map(|claim| object(claim, figure))
    });
    let object = json!({
        "version": sim::VERSION,
        "claims": claims.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn object(judged: &Judged, figure: &JudgedFigure<'_>) -> Value {
    let (claim, finding) = (&judged.claim, &judged.finding);
    let causes = judged.causes.iter().map(|tried| {
        json!({
            "id": tried.id,
            "says": tried.says,
            "set": tried.set,
            "ours": ours_value(&tried.finding),
            "interval": tried.finding.interval,
            "verdict": tried.finding.verdict,
            "explained": tried.effect.explains,
            "broken": tried.effect.breaks,
            "over": tried.over,
            "explains": tried.explains(),
        })
    });
    let explained = judged.explained_by().map(|tried| tried.says.as_str());
    let explained: Vec<_> = explained.collect();
    json!({
        "id": judged.id,
        "paper_name": figure.experiment.paper,
        "figure": figure.experiment.name,
        "where": claim.place,
        "kind": claim.kind.name(),
        "says": claim.says,
        "paper": paper(judged),
        "ours": ours_value(finding),
        "unit": finding.unit,
        "interval": finding.interval,
        "verdict": finding.verdict,
        "counted": judged.standing == Standing::Counted,
        "own": claim.own,
        "weaker": claim.weaker,
        "readings": judged.readings.iter().map(read_object).collect::<Vec<_>>(),
        "phases": judged.phases.iter().map(read_object).collect::<Vec<_>>(),
        "hangs_on_order": judged.hangs_on_order(),
        "counted_in": figure.experiment.counted_in,
        "reason": finding.reason,
        "cause": (!explained.is_empty()).then(|| explained.join("; ")),
        "causes": causes.collect::<Vec<_>>(),
        "seeds": judged.seeds,
        "scale": judged.scale,
        "figure_bias": figure.bias.as_ref().map(ToString::to_string),
        "figure_ratios": figure.bias,
    })
}

/// The verdict on a claim by one reading.
fn read_object(read: &OtherReading) -> Value {
    json!({
        "name": read.name,
        "says": read.says,
        "set": read.set,
        "ours": ours_value(&read.finding),
        "interval": read.finding.interval,
        "verdict": read.finding.verdict,
    })
}

/// The paper's number, a range as two numbers, or its statement in a few words.
fn paper(judged: &Judged) -> Value {
    match &judged.claim.kind {
        ClaimKind::Number(number) if number.paper.0 < number.paper.1 => json!(number.paper),
        ClaimKind::Number(number) => json!(number.paper.0),
        _ => json!(judged.finding.paper),
    }
}

/// The measured number, or the result in a few words.
fn ours_value(finding: &Finding) -> Value {
    finding
        .value
        .map_or_else(|| json!(finding.ours), |value| json!(value))
}

/// One line for each claim.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(books: &Books<'_>) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = [
        "id", "kind", "where", "says", "paper", "ours", "unit", "low", "high", "verdict",
        "standing", "reason", "cause", "seeds", "scale", "readings", "phases",
    ];
    let mut write = |row: &[String]| out.write_record(row).expect("writing to memory succeeds");
    write(&head.map(str::to_owned));
    let figures = books.iter().flat_map(|(_, figures)| figures);
    for judged in figures.flat_map(|figure| &figure.claims) {
        let (claim, finding) = (&judged.claim, &judged.finding);
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let explained = judged.explained_by().map(|tried| tried.says.as_str());
        let (low, high) = finding.interval.unzip();
        write(&[
            judged.id.clone(),
            claim.kind.name().to_owned(),
            claim.place.clone(),
            claim.says.clone(),
            finding.paper.clone(),
            finding
                .value
                .map_or_else(|| finding.ours.clone(), |value| value.to_string()),
            finding.unit.clone(),
            number(low),
            number(high),
            finding.verdict.to_string(),
            judged.standing.to_string(),
            finding.reason.clone(),
            explained.collect::<Vec<_>>().join("; "),
            judged.seeds.to_string(),
            judged.scale.clone(),
            verdicts_by(&judged.readings),
            verdicts_by(&judged.phases),
        ]);
    }
    let bytes = out.into_inner().expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("text goes in and comes out")
}

/// Readings with their verdicts: `text: reproduced; code: partly`.
fn verdicts_by(readings: &[OtherReading]) -> String {
    let readings = readings.iter();
    let readings = readings.map(|read| format!("{}: {}", read.name, read.finding.verdict));
    readings.collect::<Vec<_>>().join("; ")
}
