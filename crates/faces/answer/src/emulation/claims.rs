//! Claims judged on real stacks, as text.

use std::fmt::Write;

use claims::judge::Verdict;
use comfy_table::{Cell, Table};
use csv::Writer;
use protocol::{ClaimLine, ClaimValue};
use serde_json::json;

use super::runs::{Emulation, settings};
use super::table::{title, validity};
use crate::{layout, words};

/// A table for each figure, with its network and the validity of its runs.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(figures: &[Emulation]) -> String {
    let mut out = String::new();
    for emulated in figures {
        if !out.is_empty() {
            out.push('\n');
        }
        write(&mut out, emulated).expect("writing to a string succeeds");
    }
    out
}

fn write(out: &mut String, emulated: &Emulation) -> std::fmt::Result {
    if let Some(first) = emulated.claims.first() {
        let (paper, figure, title) = (&first.paper_name, &first.figure, &first.title);
        layout::paragraph(out, 0, &format!("{paper}/{figure}: {title}"));
        layout::paragraph(out, 0, &format!("Scale: {}.", first.scale));
    }
    for set in emulated.sets() {
        let Some(bed) = emulated.bed(set) else {
            continue;
        };
        writeln!(out)?;
        writeln!(out, "{}", title(emulated, bed))?;
        let swept: Vec<String> = settings(set)
            .filter(|line| emulated.is_swept(line))
            .collect();
        if !swept.is_empty() {
            writeln!(out, "{}", swept.join(", "))?;
        }
        layout::paragraph(out, 0, &validity(emulated, set));
    }
    let grid = grid(&emulated.claims).trim_fmt();
    writeln!(out, "\n{}", grid.trim_end())?;
    let counts = counted(&emulated.claims);
    writeln!(out, "\n{counts}")
}

fn grid(claims: &[ClaimLine]) -> Table {
    let mut table = layout::ruled();
    table.set_header(["claim", "paper", "Linux", "twin", "verdict"]);
    for claim in claims {
        table.add_row([
            Cell::new(description(claim)),
            Cell::new(&claim.paper),
            Cell::new(&claim.linux.text),
            Cell::new(&claim.simulated.text),
            Cell::new(&claim.verdict),
        ]);
    }
    layout::fix(&mut table, COLUMNS);
    table
}

/// The claim's name, its statement, and the reason for its verdict.
fn description(claim: &ClaimLine) -> String {
    let mut text = format!("{}\n", claim.claim);
    let mut add = |line: &str| layout::wrap(&mut text, 2, COLUMNS[0], line);
    add(&format!("{} ({})", claim.says, claim.r#where));
    if claim.verdict != Verdict::Reproduced.name() {
        add(&claim.reason);
    }
    if let Some(own) = &claim.own {
        add(&format!("our own check: {own}"));
    }
    text
}

/// The number of claims for each verdict.
fn counted(claims: &[ClaimLine]) -> String {
    let mut verdicts: Vec<(&str, usize)> = Vec::new();
    for claim in claims {
        let own = claim.verdict.as_str();
        match verdicts.iter_mut().find(|(verdict, _)| *verdict == own) {
            Some((_, count)) => *count += 1,
            None => verdicts.push((own, 1)),
        }
    }
    let parts: Vec<String> = verdicts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    format!(
        "{}: {}",
        words::counted(claims.len(), "claim"),
        parts.join(", ")
    )
}

/// Whether valid runs do not reproduce a claim of the paper, not even in part.
pub fn misses_any(emulated: &Emulation) -> bool {
    let mut claims = emulated.claims.iter();
    claims.any(|claim| claim.own.is_none() && claim.verdict == Verdict::NotReproduced.name())
}

/// One object with every claim and every network of the figures.
pub fn json(figures: &[Emulation]) -> String {
    let claims = figures.iter().flat_map(|emulated| &emulated.claims);
    let networks = figures.iter().flat_map(|emulated| &emulated.beds);
    let skipped = figures.iter().flat_map(|emulated| &emulated.skipped);
    let object = json!({
        "version": sim::VERSION,
        "claims": claims.collect::<Vec<_>>(),
        "networks": networks.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

/// One line for each claim.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(figures: &[Emulation]) -> String {
    let mut out = Writer::from_writer(Vec::new());
    let head = [
        "id",
        "kind",
        "where",
        "says",
        "paper",
        "unit",
        "verdict",
        "reason",
        "valid_runs",
        "scale",
        "linux",
        "simulated",
    ];
    out.write_record(head).expect("writing to memory succeeds");
    for claim in figures.iter().flat_map(|emulated| &emulated.claims) {
        let runs = claim.valid_runs.to_string();
        let [linux, simulated] = [&claim.linux, &claim.simulated].map(|found| value(&found.ours));
        let row = [
            &claim.id,
            &claim.kind,
            &claim.r#where,
            &claim.says,
            &claim.paper,
            &claim.unit,
            &claim.verdict,
            &claim.reason,
            &runs,
            &claim.scale,
            &linux,
            &simulated,
        ];
        out.write_record(row).expect("writing to memory succeeds");
    }
    let bytes = out.into_inner().expect("flushing to memory succeeds");
    String::from_utf8(bytes).expect("fields are text")
}

/// A JSON number, or a few words.
fn value(ours: &ClaimValue) -> String {
    match ours {
        ClaimValue::Number(number) => json!(number).to_string(),
        ClaimValue::Words(words) => words.clone(),
    }
}

/// Widths of the columns of a table.
const COLUMNS: [usize; 5] = [38, 13, 15, 15, 14];
