//! The text of files and arguments has no effect on a terminal or a spreadsheet.

use std::fs;

use crate::workspace::Workspace;

/// Red, a hidden beginning of a line, and text from right to left.
const EVIL: [&str; 3] = ["\u{1b}[31m", "\u{9b}2K", "\u{202e}"];

#[test]
fn names_that_would_change_a_terminal_or_be_a_formula_are_refused() {
    let workspace = Workspace::new("evil-names");
    let group = |name: &str| format!("schemes = \"newreno\"\n[group.\"{name}\"]\n[group.b]\n");
    let variant = |name: &str| format!("[variant.\"{name}\"]\nbase = \"newreno\"\n");
    let title = |name: &str| format!("title = \"{name}\"\nschemes = \"newreno\"\n");
    let name = |name: &str| format!("name = \"{name}\"\nschemes = \"newreno\"\n");
    let refused = |text: String| {
        fs::write(workspace.path("evil.toml"), text).expect("a file");
        let told = workspace.refusal("run evil.toml --no-save");
        assert!(told.contains("evil.toml:"), "{told}");
        assert_harmless(&told);
    };
    for evil in ["\\u001b[31m", "\\u009b2K", "\\u202e"] {
        for text in [group, variant, title, name] {
            refused(text(&format!("a{evil}")));
        }
    }
    for formula in ["=1+1", "-1+1", "@SUM(1)", "+1"] {
        for text in [group, variant] {
            refused(text(formula));
        }
    }
}

#[test]
fn what_a_message_quotes_has_no_effect() {
    let workspace = Workspace::new("evil-texts");
    for evil in EVIL {
        // A line that is no TOML, a comment beside a mistake, the name of a file, an argument.
        fs::write(workspace.path("a.toml"), format!("x = \"{evil}\" y\n")).expect("a file");
        let b = format!("schemes = \"newreno\" # {evil}\nworkload.senders = 0 # {evil}\n");
        fs::write(workspace.path("b.toml"), b).expect("a file");
        for words in [
            "run a.toml --no-save".to_owned(),
            "run b.toml --no-save".to_owned(),
            format!("run {evil}.toml --no-save"),
            format!("run incast --no-save --scheme {evil}"),
            format!("run incast --no-save --set workload.size={evil}"),
            format!("explain {evil}"),
            format!("export {evil} flows"),
            format!("merge {evil}"),
        ] {
            assert_harmless(&workspace.refusal(&words));
        }
        let output = workspace.output(&format!("model rwndq -o nowhere{evil}/a.svg"));
        assert_harmless(&String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_table_for_spreadsheets_has_no_formulas() {
    let workspace = Workspace::new("evil-cells");
    let trace = "start_us,size_bytes,sender,receiver\n10,1000,1,0\n";
    fs::write(workspace.path("=1+1.csv"), trace).expect("a file");
    let run = "run trace --scheme newreno --set workload.trace==1+1.csv";
    let text = workspace.answer(&format!("{run} --no-save --format csv"));
    assert_no_formulas(&text);
    workspace.answer(&format!("{run} --out folder"));
    for table in ["flows", "ports"] {
        assert_no_formulas(&workspace.answer(&format!("export folder {table}")));
    }
}

fn assert_harmless(text: &str) {
    let effect = |c: char| base::shown::is_unseen(c);
    assert!(!text.contains(effect), "{text:?}");
    assert!(!text.is_empty());
}

fn assert_no_formulas(text: &str) {
    let mut cells = 0;
    for cell in text.lines().flat_map(|line| line.split(',')) {
        let begins = cell
            .trim_start_matches('"')
            .starts_with(['=', '+', '-', '@']);
        assert!(!begins || cell.parse::<f64>().is_ok(), "{cell} in {text}");
        cells += 1;
    }
    assert!(cells > 20, "{text}");
}
