//! Claims judged on real stacks, as text.

use std::fmt::Write;

use claims::judge::Verdict;
use comfy_table::{
    Cell, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use csv::Writer;
use serde_json::{Value, json};

use crate::{Emulated, settings, title, validity, word};

/// A table for each figure, with the network it ran on and whether its runs count.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(figures: &[Emulated]) -> String {
    let mut out = String::new();
    for emulated in figures {
        if !out.is_empty() {
            out.push('\n');
        }
        write(&mut out, emulated).expect("writing to a string succeeds");
    }
    out
}

fn write(out: &mut String, emulated: &Emulated) -> std::fmt::Result {
    let claims: Vec<&Value> = emulated.of_kind("claim").collect();
    if let Some(first) = claims.first() {
        let (paper, figure) = (word(first, "paper_name"), word(first, "figure"));
        text::paragraph(
            out,
            0,
            &format!("{paper}/{figure}: {}", word(first, "title")),
        );
        text::paragraph(out, 0, &format!("Scale: {}.", word(first, "scale")));
    }
    for set in emulated.sets() {
        let Some(bed) = emulated.of_kind("bed").find(|bed| bed["set"] == *set) else {
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
        text::paragraph(out, 0, &validity(emulated, set));
    }
    let grid = grid(&claims).trim_fmt();
    writeln!(out, "\n{}", grid.trim_end())?;
    let counts = counted(&claims);
    writeln!(out, "\n{counts}")
}

fn grid(claims: &[&Value]) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('-');
    table.load_style(TableStyle::new().header_separator(rule));
    table.force_no_tty();
    table.set_header(["claim", "paper", "Linux", "twin", "verdict"]);
    for claim in claims {
        let world = |name: &str| claim[name]["text"].as_str().unwrap_or_default().to_owned();
        table.add_row([
            Cell::new(description(claim)),
            Cell::new(word(claim, "paper")),
            Cell::new(world("linux")),
            Cell::new(world("simulated")),
            Cell::new(word(claim, "verdict")),
        ]);
    }
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(text::WIDTH).unwrap_or(u16::MAX));
    let fixed = |width| {
        let width = u16::try_from(width + 1).unwrap_or(u16::MAX);
        ColumnConstraint::Absolute(Width::Fixed(width))
    };
    table.set_constraints(COLUMNS.map(fixed));
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table
}

/// The claim's name, what it says, and why it got its verdict.
fn description(claim: &Value) -> String {
    let mut text = format!("{}\n", word(claim, "claim"));
    let mut add = |line: &str| text::wrap(&mut text, 2, COLUMNS[0], line);
    add(&format!(
        "{} ({})",
        word(claim, "says"),
        word(claim, "where")
    ));
    if word(claim, "verdict") != Verdict::Reproduced.name() {
        add(word(claim, "reason"));
    }
    if let Some(own) = claim["own"].as_str() {
        add(&format!("our own check: {own}"));
    }
    text
}

/// How many claims have which verdict.
fn counted(claims: &[&Value]) -> String {
    let mut verdicts: Vec<(&str, usize)> = Vec::new();
    for claim in claims {
        let own = word(claim, "verdict");
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
        text::counted(claims.len(), "claim"),
        parts.join(", ")
    )
}

/// Whether a claim of the paper is not reproduced, even in part, by runs that are valid.
pub fn misses_any(emulated: &Emulated) -> bool {
    let mut claims = emulated.of_kind("claim");
    claims.any(|claim| claim["own"].is_null() && claim["verdict"] == Verdict::NotReproduced.name())
}

/// One object with every claim, and every network that the figures ran on.
pub fn json(figures: &[Emulated]) -> String {
    let of = |kind| {
        let lines = figures.iter().flat_map(|emulated| emulated.of_kind(kind));
        let lines = lines.map(|line| {
            let mut line = line.clone();
            if let Value::Object(fields) = &mut line {
                fields.remove("type");
            }
            line
        });
        Value::Array(lines.collect())
    };
    let object = json!({
        "version": sim::VERSION,
        "claims": of("claim"),
        "networks": of("bed"),
        "skipped": of("skipped"),
    });
    format!("{object:#}\n")
}

/// One line for each claim.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(figures: &[Emulated]) -> String {
    let mut out = Writer::from_writer(Vec::new());
    let plain = [
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
    ];
    let head = plain.into_iter().chain(["linux", "simulated"]);
    out.write_record(head).expect("writing to memory succeeds");
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    for claim in figures
        .iter()
        .flat_map(|emulated| emulated.of_kind("claim"))
    {
        let plain = plain.map(|name| text(&claim[name])).into_iter();
        let worlds = ["linux", "simulated"].map(|world| text(&claim[world]["ours"]));
        out.write_record(plain.chain(worlds))
            .expect("writing to memory succeeds");
    }
    let bytes = out.into_inner().expect("flushing to memory succeeds");
    String::from_utf8(bytes).expect("fields are text")
}

/// Widths of the columns of a table.
const COLUMNS: [usize; 5] = [38, 13, 15, 15, 14];
