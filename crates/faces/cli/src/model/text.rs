//! The answer of a model as text.

use std::fmt::Write;

use ::report::{Figure, ModelPage, Rows};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde_json::{Map, Value, json};
use theory::answer::{self, Answer, AnswerCell, AnswerColumn, Model};

use super::settings::Settings;

/// The tables with explanations, for people.
pub(super) fn tables(
    model: &Model,
    settings: &Settings<'_>,
    answer: &Answer,
    plain: bool,
) -> String {
    let mut out = format!("{}: {} ({})\n", model.name, model.summary, model.source);
    let assignments: Vec<_> = settings
        .all()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    ::answer::paragraph(
        &mut out,
        0,
        &format!("Settings: {}.", assignments.join(", ")),
    );
    for table in &answer.tables {
        out.push('\n');
        writeln!(out, "{}", aligned(table)).expect("writing to a string succeeds");
    }
    out.push('\n');
    for note in &answer.notes {
        ::answer::paragraph(&mut out, 0, note);
    }
    if plain {
        let name = model.name;
        ::answer::paragraph(
            &mut out,
            0,
            &format!(
                "Change a setting with --set KEY=VALUE, draw with -o {name}.svg or {name}.html; \
                 `tailwater model {name} --list` lists both."
            ),
        );
    }
    out
}

fn aligned(table: &answer::AnswerTable) -> String {
    let mut shown = Table::new();
    let rule = LineStyle::none().fill('-');
    shown.load_style(TableStyle::new().header_separator(rule));
    let rows = rows(table);
    shown.set_header(rows.heads);
    for row in rows.rows {
        shown.add_row(row);
    }
    let numbers = |column: usize| {
        let mut cells = table.rows.iter().map(|(_, cells)| &cells[column]);
        cells.any(|cell| matches!(cell, AnswerCell::Number(_)))
    };
    for (index, column) in shown.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let right = index > 0 && numbers(index - 1);
        column.set_cell_alignment(if right {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
    }
    shown.trim_fmt()
}

/// A table as texts.
fn rows(table: &answer::AnswerTable) -> Rows {
    let heads = table.columns.iter().map(|column| {
        if column.unit.is_empty() {
            column.name.to_owned()
        } else {
            format!("{} ({})", column.name, column.unit)
        }
    });
    let rows = table.rows.iter().map(|(case, cells)| {
        let cells = cells.iter().map(|cell| match cell {
            AnswerCell::Number(value) => number(*value),
            AnswerCell::Text(text) => text.clone(),
        });
        std::iter::once(case.clone()).chain(cells).collect()
    });
    Rows {
        heads: std::iter::once(table.case.to_owned())
            .chain(heads)
            .collect(),
        rows: rows.collect(),
    }
}

/// Four significant digits, or all digits of a whole number; a dash for a missing value.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    // A value closer to zero is a rounding error.
    if value.abs() < 1e-9 {
        return "0".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let decimals = usize::try_from((3 - power_of_ten(value)).max(0)).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// The power of ten of the first digit.
fn power_of_ten(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or(0)
}

/// Settings with their meaning, and figures.
pub(super) fn list(model: &Model, figures: &[Figure]) -> String {
    let mut out = format!(
        "{}: {} ({})\n\nSettings, for --set:\n",
        model.name, model.summary, model.source
    );
    let assignments: Vec<_> = model
        .keys
        .iter()
        .map(|key| format!("{} = {}", key.name, key.default))
        .collect();
    let helps = model.keys.iter().map(|key| key.help.trim_end_matches('.'));
    out.push_str(&::answer::pairs(
        assignments.iter().map(String::as_str).zip(helps),
    ));
    out.push_str("\nFigures, for --figure:\n");
    let figures = figures.iter();
    out.push_str(&::answer::pairs(
        figures.map(|figure| (figure.name.as_str(), figure.title.as_str())),
    ));
    out
}

/// All data, including curves, for programs.
pub(super) fn json(
    model: &Model,
    settings: &Settings<'_>,
    answer: &Answer,
    figures: &[Figure],
) -> String {
    let tables: Map<String, Value> = answer
        .tables
        .iter()
        .map(|table| {
            let rows: Vec<Value> = table.rows.iter().map(|row| object(table, row)).collect();
            (table.name.to_owned(), json!(rows))
        })
        .collect();
    let figures: Vec<Value> = figures
        .iter()
        .map(|figure| {
            let lines = figure.lines.iter().map(|line| {
                let points = line.points.iter().map(|point| json!([point.x, point.y]));
                json!({ "label": line.label, "points": points.collect::<Vec<_>>() })
            });
            json!({
                "name": figure.name,
                "title": figure.title,
                "x": figure.x.title(),
                "y": figure.y.title(),
                "lines": lines.collect::<Vec<_>>(),
            })
        })
        .collect();
    let settings: Map<String, Value> = settings
        .all()
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect();
    let whole = json!({
        "model": model.name,
        "version": sim::VERSION,
        "settings": settings,
        "tables": tables,
        "notes": answer.notes,
        "figures": figures,
    });
    format!("{whole:#}\n")
}

fn object(table: &answer::AnswerTable, (case, cells): &(String, Vec<AnswerCell>)) -> Value {
    let mut members = Map::new();
    members.insert(table.case.to_owned(), json!(case));
    for (column, cell) in table.columns.iter().zip(cells) {
        members.insert(
            column.name.to_owned(),
            match cell {
                // What is no number is null.
                AnswerCell::Number(value) => json!(value),
                AnswerCell::Text(text) => json!(text),
            },
        );
    }
    Value::Object(members)
}

/// A line for every number, or for every point of a figure.
pub(super) fn csv(answer: &Answer, figure: Option<&Figure>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: &[&str]| {
        writer
            .write_record(cells)
            .expect("writing to memory succeeds");
    };
    if let Some(figure) = figure {
        row(&["line", &figure.x.title(), &figure.y.title()]);
        for line in &figure.lines {
            for point in &line.points {
                row(&[&line.label, &point.x.to_string(), &point.y.to_string()]);
            }
        }
    } else {
        row(&["table", "case", "quantity", "value", "unit"]);
        for table in &answer.tables {
            for (case, cells) in &table.rows {
                for (AnswerColumn { name, unit }, cell) in table.columns.iter().zip(cells) {
                    let value = match cell {
                        AnswerCell::Number(value) if value.is_finite() => value.to_string(),
                        AnswerCell::Number(_) => String::new(),
                        AnswerCell::Text(text) => text.clone(),
                    };
                    row(&[table.name, case, name, &value, unit]);
                }
            }
        }
    }
    let bytes = writer.into_inner().expect("writing to memory succeeds");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Everything as a page.
pub(super) fn page(
    model: &Model,
    settings: &Settings<'_>,
    answer: &Answer,
    figures: &[Figure],
) -> ModelPage {
    ModelPage {
        name: model.name.to_owned(),
        title: format!("{} ({})", model.summary, model.source),
        sentences: answer.notes.clone(),
        tables: answer.tables.iter().map(rows).collect(),
        settings: settings
            .all()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect(),
        figures: figures.to_vec(),
        version: format!("tailwater {}", sim::VERSION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (16.6, "16.60"),
            (0.592_592, "0.5926"),
            (-133.84, "-133.8"),
            (48_356.3, "48356"),
            (36.0, "36"),
            (0.0, "0"),
            (-1e-17, "0"),
            (f64::NAN, "-"),
            (0.000_123_456, "0.0001235"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
