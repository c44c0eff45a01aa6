//! Figures as the page shows them, which is how those stay that are not run again.

/// A figure as the page shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shown {
    /// Its full name, as in `rcc/fig5a`.
    pub(super) name: String,
    /// What stands below its heading.
    pub(super) text: String,
}

/// A claim as a table of the page shows it, each part as it stands in its cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    verdict: &'a str,
    id: &'a str,
    says: &'a str,
}

impl<'a> Row<'a> {
    /// From a line of a table of claims; `None` of other lines.
    fn of(line: &'a str) -> Option<Self> {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let row = Self {
            verdict: cells.next()?,
            id: cells.next()?,
            says: cells.next()?,
        };
        VERDICTS.contains(&row.verdict).then_some(row)
    }

    /// Whether the totals count it.
    fn is_counted(self) -> bool {
        !self.says.contains(OWN) && !self.says.contains(ELSEWHERE)
    }

    /// Whether a reader asks why.
    fn is_missed(self) -> bool {
        MISSED.contains(&self.verdict)
    }
}

impl Shown {
    pub(super) fn paper(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The claims, by the lines of its table.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.text.lines().filter_map(Row::of)
    }

    /// Why the claim called `id` does not hold, and the cause if one is known, without what was tried.
    fn why(&self, id: &str) -> Option<&str> {
        let mut lines = self.text.lines();
        let start = format!("- {id}: ");
        let all = lines.find_map(|line| line.strip_prefix(&start))?;
        Some(
            all.split_once(TRIED)
                .map_or(all, |(why, _)| why.trim_end_matches(". ")),
        )
    }

    /// The version that judged it.
    fn version(&self) -> &str {
        let mut lines = self.text.lines();
        let version = lines.find_map(|line| line.strip_prefix(VERSION));
        version.unwrap_or_default().trim_end_matches('.')
    }
}

/// The figures of a page that was written before.
pub(super) fn figures(page: &str) -> Vec<Shown> {
    let figures = page.split("\n### ").skip(1).filter_map(|part| {
        let (name, text) = part.split_once("\n\n")?;
        let (text, _) = text.split_once("\n## ").unwrap_or((text, ""));
        Some(Shown {
            name: name.to_owned(),
            text: format!("{}\n", text.trim_end_matches('\n')),
        })
    });
    figures.collect()
}

/// The line of a paper in the first table.
pub(super) fn counts(paper: &str, figures: &[&Shown]) -> String {
    let (mut verdicts, mut checks, mut elsewhere) = ([0; VERDICTS.len()], 0, 0);
    let mut versions: Vec<&str> = Vec::new();
    for figure in figures {
        if !versions.contains(&figure.version()) {
            versions.push(figure.version());
        }
        for row in figure.rows() {
            if row.says.contains(OWN) {
                checks += 1;
            } else if row.says.contains(ELSEWHERE) {
                elsewhere += 1;
            } else {
                let place = VERDICTS.iter().position(|verdict| *verdict == row.verdict);
                verdicts[place.expect("a row has one of them")] += 1;
            }
        }
    }
    format!(
        "| [{paper}](#{paper}) | {} | {} | {checks} | {elsewhere} | {} |\n",
        verdicts.iter().sum::<usize>(),
        verdicts.map(|count| count.to_string()).join(" | "),
        versions.join(", ")
    )
}

/// What does not hold of a paper, with the reasons: what a reader looks for first. Nothing if all holds.
pub(super) fn misses(figures: &[&Shown]) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for figure in figures {
        let missed = figure
            .rows()
            .filter(|row| row.is_missed() && row.is_counted());
        for row in missed {
            let order = MISSED.iter().position(|verdict| *verdict == row.verdict);
            let why = figure.why(row.id).unwrap_or_default();
            let link = format!("[{}](#{})", row.id, figure.name.replace('/', ""));
            let line = format!("| {} | {link} | {} | {why} |\n", row.verdict, row.says);
            lines.push((order.unwrap_or_default(), line));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.sort_by_key(|(order, _)| *order);
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    format!(
        "\nWhat does not hold:\n\n| verdict | claim | what the paper says | why |\n|---|---|---|---|\n{lines}"
    )
}

/// How the line begins that says which version judged a figure.
pub(super) const VERSION: &str = "Version: ";

/// What the line of a check of our own says before its reason.
pub(super) const OWN: &str = "Our own check: ";

/// What stands before settings that do not explain a difference.
pub(super) const TRIED: &str = "Tried and not the cause: ";

/// What the line of a claim that another paper counts says before the figure.
pub(super) const ELSEWHERE: &str = "Counted in ";

/// Verdicts as results name them.
pub(super) const VERDICTS: [&str; 4] = ["reproduced", "partly", "not reproduced", "not testable"];

/// Those of which a reader asks why, the worst first.
pub(super) const MISSED: [&str; 2] = ["not reproduced", "partly"];
