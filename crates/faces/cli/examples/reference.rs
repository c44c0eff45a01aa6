//! Prints a page of the reference, `reference schemes|keys|results`, or the list of what a scenario can
//! choose, `reference choices`.
//!
//! `cargo xtask docs` writes `docs/reference` and a section of `docs/concepts/model.md` with it. Everything comes from the registry of schemes
//! and the tables of settings and columns; nothing is simulated.

#![expect(clippy::print_stdout, reason = "the page is what it is for")]

use base::setting::Key;
use base::{DataSize, Fraction, Quantity as _, Rate, Span, WireSize};
use plan::keys::{all_keys, group, profile};
use plan::series;
use schemes::{Role, Scheme};
use sim::columns;

fn main() {
    let page = match std::env::args().nth(1).as_deref() {
        Some("schemes") => schemes(),
        Some("keys") => keys(),
        Some("results") => results_reference(),
        Some("choices") => choices(),
        _ => panic!("usage: reference schemes|keys|results|choices"),
    };
    print!("{page}");
}

fn schemes() -> String {
    let mut page = head("Schemes", "the registry, `crates/core/schemes`");
    page += &row(["scheme", "what it does", "published in"]);
    page += RULE_3;
    for scheme in schemes::all() {
        let name = format!("[{0}](#{0})", scheme.name);
        page += &row([&name, scheme.summary, scheme.reference]);
    }
    for scheme in schemes::all() {
        page += &section(scheme);
    }
    page
}

fn section(scheme: &Scheme) -> String {
    let roles: Vec<String> = scheme.roles.iter().map(Role::to_string).collect();
    let marking = if scheme.needs_marking {
        ", and needs queues that mark"
    } else {
        ""
    };
    let mut text = format!(
        "\n## {0}\n\n{1}. Decides {2}{marking}. Source: `crates/core/schemes/src/{0}.rs`.\n\n",
        scheme.name,
        scheme.summary,
        enumerate(&roles)
    );
    for (key, value) in scheme.tcp {
        let setting = ["`", key, " = ", value, "`"].concat();
        text += &[
            "Its hosts have ",
            &setting,
            ", whatever `tcp.profile`, unless it is given.\n\n",
        ]
        .concat();
    }
    if scheme.keys.is_empty() {
        text += "It has no settings of its own.\n";
    } else if scheme.group() != scheme.name {
        let group = scheme.group();
        text += &["Its settings are those of [", group, "](#", group, ").\n"].concat();
    } else {
        text += &settings(scheme.keys.iter());
    }
    text
}

/// "one, two and three".
fn enumerate(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn keys() -> String {
    let mut page = head(
        "Settings",
        "the declarations of settings, `crates/simulate/plan/src/keys.rs`",
    );
    page += "Each is a key of a scenario file and of `--set`; several values make a sweep. A full packet on \
             the wire has `tcp.mss` + `net.header_bytes` bytes, a full segment of payload `tcp.mss`. The settings \
             of schemes are in [schemes.md](schemes.md).\n";
    page += "\n## Kinds of values\n\n";
    for (name, expected) in kinds() {
        page += &["- **", name, "**: ", &expected, ".\n"].concat();
    }
    let keys: Vec<&Key> = own_keys().collect();
    for members in keys.chunk_by(|one, other| group(one.name) == group(other.name)) {
        page += &["\n## ", group(members[0].name), "\n\n"].concat();
        page += &settings(members.iter().copied());
    }
    page += "\n## What profiles set\n\nValues under `tcp.profile = \"linux\"` where they are not the defaults, those of \
             `\"paper\"`. Header and payload follow from timestamps.\n\n";
    page += &row(["key", "paper", "linux"]);
    page += RULE_3;
    for key in all_keys() {
        if let Some(linux) = profile::of_linux(key.name) {
            let cells = [key.name, key.default, linux].map(|text| format!("`{text}`"));
            page += &row(cells.each_ref().map(String::as_str));
        }
    }
    page
}

fn settings<'a>(keys: impl Iterator<Item = &'a Key>) -> String {
    let mut table = row(["key", "default", "value", "meaning"]);
    table += RULE_4;
    for key in keys {
        let (name, default) = (format!("`{}`", key.name), format!("`{}`", key.default));
        table += &row([&name, &default, &value(key), key.help]);
    }
    table
}

/// Kinds of values that many settings have, by the names that tables give them, and how they are written.
fn kinds() -> [(&'static str, String); 5] {
    [
        ("time", Span::expected()),
        ("rate", Rate::expected()),
        ("size", WireSize::expected()),
        ("size of payload", DataSize::expected()),
        ("share", Fraction::expected()),
    ]
}

/// How the value of a setting is written, where that is a kind of value by its name.
fn value(key: &Key) -> String {
    let text = (key.expected)();
    let kinds = kinds();
    let kind = kinds.iter().find(|(_, expected)| text.contains(expected));
    kind.map_or(text.clone(), |(name, expected)| {
        text.replace(expected, &format!("a [{name}](keys.md#kinds-of-values)"))
    })
}

/// What a scenario can choose: every setting that takes one of a few words, TCP's switches, and schemes
/// by what they decide.
fn choices() -> String {
    let mut page = String::from("A setting that takes one of a few words:\n\n");
    for key in own_keys().filter(|key| !(key.choices)().is_empty()) {
        page += &["- `", key.name, "`\n"].concat();
        for (word, help) in (key.choices)() {
            page += &["  - *", word, "*: ", help, "\n"].concat();
        }
    }
    page += "\nMechanisms of TCP that a setting switches on or off:\n\n";
    page += &row(["key", "default", "meaning"]);
    page += RULE_3;
    let switches = own_keys().filter(|key| group(key.name) == "tcp");
    for key in switches.filter(|key| ["true", "false"].contains(&key.default)) {
        let (name, default) = (format!("`{}`", key.name), format!("`{}`", key.default));
        page += &row([&name, &default, key.help]);
    }
    page += "\nSchemes by what they decide:\n\n";
    page += &row(["what", "schemes"]);
    page += "|---|---|\n";
    for role in &Role::ALL {
        let schemes = schemes::all().iter();
        let deciding = schemes.filter(|scheme| scheme.roles.contains(role));
        let names: Vec<String> = deciding
            .map(|scheme| format!("[{0}](../reference/schemes.md#{0})", scheme.name))
            .collect();
        page += &row([&role.to_string(), &names.join(", ")]);
    }
    page
}

/// Settings that are not those of a scheme.
fn own_keys() -> impl Iterator<Item = &'static Key> {
    let own = |key: &&Key| {
        schemes::all()
            .iter()
            .all(|scheme| scheme.name != group(key.name))
    };
    all_keys().iter().copied().filter(own)
}

fn results_reference() -> String {
    let mut page = head(
        "Results",
        "the table of columns, `crates/simulate/sim/src/columns.rs`",
    );
    page += "Members of `metrics` in the JSON, columns of the CSV.\n\n";
    page += &row(["name", "unit", "meaning"]);
    page += RULE_3;
    for column in columns::METRICS.iter().chain(columns::COST) {
        page += &row([&format!("`{}`", column.name), column.unit, column.help]);
    }
    let tables = [
        ("Flows", "flows", "flow", results::flow_fields()),
        ("Ports", "ports", "port", results::port_fields()),
    ];
    for (title, name, what, fields) in tables {
        let intro = format!(
            "Columns of `{name}.parquet`, which has a row for each {what} of each point. A column for \
             each setting that results show follows `seed`, named like the setting."
        );
        page += &["\n## ", title, "\n\n", &intro, "\n\n"].concat();
        page += &row(["name", "unit", "meaning"]);
        page += RULE_3;
        for field in results::leading_fields().into_iter().chain(fields) {
            page += &row([&format!("`{}`", field.name), field.unit, field.help]);
        }
    }
    page += "\n## Series\n\nColumns of `series.parquet`. Each row is one sample of one quantity of a port, a \
             flow or a host, or one event; a quantity that was not recorded has no column. A column for each \
             setting that results show follows `seed`, named like the setting.\n\n";
    page += &row(["name", "unit", "meaning"]);
    page += RULE_3;
    for field in results::leading_fields() {
        page += &row([&format!("`{}`", field.name), field.unit, field.help]);
    }
    for column in series::FIXED.iter().skip(1) {
        page += &row([&format!("`{}`", column.name), column.unit, column.help]);
    }
    for column in series::all() {
        page += &row([&format!("`{}`", column.name), column.unit, &column.help]);
    }
    page
}

fn head(title: &str, source: &str) -> String {
    format!("# {title}\n\nGenerated by `cargo xtask docs` from {source}.\n\n")
}

fn row<const N: usize>(cells: [&str; N]) -> String {
    format!(
        "| {} |\n",
        cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
    )
}

const RULE_3: &str = "|---|---|---|\n";
const RULE_4: &str = "|---|---|---|---|\n";
