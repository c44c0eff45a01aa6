//! By which files a figure was judged: a digest that its lines on the page carry, so that a figure whose file has
//! changed since is found.

use toml::{Table, Value};

use crate::repository::Repository;

/// The digest of a figure named `PAPER/FIGURE`, as its files are now; `None` if there is no such figure.
pub(super) fn of(repository: &Repository, name: &str) -> Option<String> {
    let (paper, figure) = name.split_once('/')?;
    let file = |name: &str| -> Option<Table> {
        let text = repository.read(&format!("experiments/{paper}/{name}.toml"));
        text.ok()?.parse().ok()
    };
    digest(figure, &file)
}

/// The digest of a figure in files that are found by name: its own, that of the figure whose runs it shows, and the
/// tables that they share with others. Notes decide nothing.
fn digest(figure: &str, file: &dyn Fn(&str) -> Option<Table>) -> Option<String> {
    let paper = file("paper").unwrap_or_default();
    let mut own = file(figure)?;
    own.remove("notes");
    let shared = paper.get("common").and_then(Value::as_table);
    let mut text = String::new();
    for (name, table) in shared.into_iter().flatten() {
        let asked = names(own.get("common")).any(|own| own == name);
        if asked || names(table.get("figures")).any(|listed| listed == figure) {
            let mut table = table.as_table().cloned().unwrap_or_default();
            table.remove("figures");
            text += &serde_json::to_string(&table).ok()?;
        }
    }
    text += &serde_json::to_string(&own).ok()?;
    if has_large_reduction(&own) {
        text += BY_WHAT_REMAINS;
    }
    if let Some(runs) = own.get("uses").and_then(Value::as_str) {
        text += &digest(runs, file)?;
    }
    Some(format!("{:016x}", fnv(text.as_bytes())))
}

/// Whether a claim is about a reduction by more than half, which older versions judged as any other number.
fn has_large_reduction(figure: &Table) -> bool {
    let claims = figure.get("claim").and_then(Value::as_array);
    let mut claims = claims.into_iter().flatten();
    claims.any(|claim| {
        let paper = claim.get("paper");
        let integer = paper.and_then(Value::as_integer).map(|paper| paper > 50);
        let is_most = integer.or(paper.and_then(Value::as_float).map(|paper| paper > 50.0));
        let compare = claim.get("compare").and_then(Value::as_str);
        compare == Some("reduction") && is_most == Some(true)
    })
}

/// The rule by which such a claim is judged: what was judged by another is stale.
const BY_WHAT_REMAINS: &str = "what remains";

/// The names in a text or a list of texts.
fn names(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    value.into_iter().chain(list).filter_map(Value::as_str)
}

/// FNV-1a of 64 bits: short, and the same everywhere.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_changes_with_its_file_its_runs_and_what_it_shares_and_not_with_notes() {
        let paper =
            "[common.a]\nx = 1\n[common.b]\nfigures = [\"fig1\"]\nx = 2\n[common.c]\nx = 3\n";
        let of = |paper: &str, fig1: &str| {
            let file = |name: &str| {
                let text = match name {
                    "paper" => paper,
                    "fig1" => fig1,
                    "fig2" => "uses = \"fig1\"\n",
                    _ => return None,
                };
                Some(text.parse().unwrap())
            };
            ["fig1", "fig2"].map(|name| digest(name, &file).unwrap())
        };
        let fig1 = "common = \"a\"\nnotes = \"n\"\nseeds = 1\n";
        let before = of(paper, fig1);
        assert_eq!(of(paper, &fig1.replace("\"n\"", "\"m\"")), before);
        assert_eq!(of(&paper.replace("x = 3", "x = 4"), fig1), before);
        let listed = paper.replace("[\"fig1\"]", "[\"fig1\", \"fig3\"]");
        assert_eq!(of(&listed, fig1), before);
        for [one, other] in [
            of(&paper.replace("x = 1", "x = 4"), fig1),
            of(&paper.replace("x = 2", "x = 4"), fig1),
            of(paper, &fig1.replace("seeds = 1", "seeds = 2")),
        ] {
            assert_ne!(one, before[0]);
            assert_ne!(other, before[1]);
        }
    }
}
