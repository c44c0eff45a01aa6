//! A hash of everything by which a figure is judged. Verdicts are stored with it, so that those of changed figures are
//! found.

use serde::Deserialize;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};

use crate::rows::write_out;
use crate::shared::joined;

/// The digest of the figure called `figure`. `file` returns the texts of the paper's files by their names without
/// ending. `None` if the figure does not exist or cannot be read. The digest covers the tables that are judged,
/// together with those of the figure whose runs it uses. The notation, notes, plots and the order of claims have no
/// influence.
pub fn digest(figure: &str, file: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    Some(format!("{:016x}", fnv(judged(figure, file)?.as_bytes())))
}

fn judged(figure: &str, file: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let text = joined(figure, &file(figure)?, file("paper").as_deref()).ok()?;
    let mut tables = DeTable::parse(&text).ok()?.into_inner();
    if !write_out(&mut tables).is_empty() {
        return None;
    }
    let tables = ValueDeserializer::from(Spanned::new(0..0, DeValue::Table(tables)));
    let mut tables = Table::deserialize(tables).ok()?;
    for key in APART {
        tables.remove(key);
    }
    let claims = tables.get_mut("claim").and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten().filter_map(Value::as_table_mut) {
        // It follows from the other keys.
        claim.remove("kind");
    }
    for (_, list) in &mut tables {
        // Other lists than those of tables with an id stay unchanged.
        let id = |table: &Value| table.get("id").and_then(Value::as_str).map(str::to_owned);
        list.as_array_mut()
            .into_iter()
            .for_each(|list| list.sort_by_key(id));
    }
    let runs = tables.get("uses").and_then(Value::as_str);
    let runs = runs.map_or(Some(String::new()), |runs| judged(runs, file))?;
    Some(serde_json::to_string(&tables).ok()? + &runs)
}

/// FNV-1a with 64 bits: short, and the same on all machines.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Keys without influence on verdicts. Shared tables have been added before.
const APART: [&str; 3] = ["common", "notes", "plot"];

#[cfg(test)]
mod tests {
    use super::*;

    /// The digests of two figures; the second shows the runs of the first.
    fn both(paper: &str, fig1: &str) -> [String; 2] {
        let file = |name: &str| match name {
            "paper" => Some(paper.to_owned()),
            "fig1" => Some(fig1.to_owned()),
            "fig2" => Some("uses = \"fig1\"\n".to_owned()),
            _ => None,
        };
        ["fig1", "fig2"].map(|name| digest(name, &file).unwrap())
    }

    const PAPER: &str = "[common.a.link]\nx = 1\n[common.b]\nfigures = [\"fig1\"]\n[common.b.tcp]\nx = 2\n[common.c.run]\nx = 3\n";

    const FIGURE: &str = "common = \"a\"\nnotes = \"n\"\nseeds = 1\n[[plot]]\nkind = \"bars\"\n\
                          [[claim]]\nid = \"c1\"\nkind = \"number\"\npaper = 1\n[[claim]]\nid = \"c2\"\npaper = 2\n";

    #[test]
    fn another_figure_has_another_digest() {
        let before = both(PAPER, FIGURE);
        for [one, other] in [
            both(&PAPER.replace("x = 1", "x = 4"), FIGURE),
            both(&PAPER.replace("x = 2", "x = 4"), FIGURE),
            both(PAPER, &FIGURE.replace("seeds = 1", "seeds = 2")),
            both(PAPER, &FIGURE.replace("paper = 2", "paper = 3")),
        ] {
            assert_ne!(one, before[0]);
            assert_ne!(other, before[1]);
        }
    }

    #[test]
    fn the_same_figure_in_other_words_has_the_same_digest() {
        let before = both(PAPER, FIGURE);
        let alone = "notes = \"m\"\nseeds = 1\n[tcp]\nx = 2\n[link]\nx = 1\n\
                     [[claim]]\nid = \"c{paper}\"\npaper = \"{paper}\"\neach = [{ paper = 2 }, { paper = 1 }]\n";
        assert_eq!(both("", alone), before);
        assert_eq!(both(&PAPER.replace("x = 3", "x = 4"), FIGURE), before);
        let listed = PAPER.replace("[\"fig1\"]", "[\"fig1\", \"fig3\"]");
        assert_eq!(both(&listed, FIGURE), before);
    }

    #[test]
    fn what_cannot_be_read_has_no_digest() {
        let file = |name: &str| match name {
            "rows" => Some("[[claim]]\neach = 1\n".to_owned()),
            "shared" => Some("common = \"a\"\n".to_owned()),
            _ => None,
        };
        assert_eq!(
            ["rows", "shared", "none"].map(|name| digest(name, &file)),
            [const { None }; 3]
        );
    }
}
