//! Figures in the form of the page. Figures that are not run again stay in this form.

use std::fmt;

/// A figure in the form of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shown {
    /// Its full name, as in `rcc/fig5a`.
    pub(super) name: String,
    /// The text below its heading.
    pub(super) text: String,
}

/// A claim in the form of a row of the page's table; each field has the text of its cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    verdict: &'a str,
    id: &'a str,
    says: &'a str,
    /// Our number.
    here: &'a str,
    /// The verdict by the published code, if that reading differs from the text.
    code: Option<&'a str>,
    /// Whether it has another verdict under any other reading.
    other: bool,
}

/// How a claim counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    Counted,
    Own,
    Elsewhere,
    Weaker,
    Order,
}

impl<'a> Row<'a> {
    /// From a line of a table of claims with these headings; `None` for other lines.
    fn of(line: &'a str, headings: &[&str]) -> Option<Self> {
        let line = line.strip_prefix("| ")?.trim_end_matches(" |");
        let cells: Vec<&str> = line.split(" | ").collect();
        let [verdict, id, says, _, here, ..] = cells[..] else {
            return None;
        };
        let mut row = Self {
            verdict,
            id,
            says,
            here,
            code: None,
            other: false,
        };
        for (heading, cell) in headings.iter().zip(&cells) {
            let read = cell.split(": ").next().unwrap_or_default();
            match heading.strip_prefix(BY) {
                Some("code") => row.code = Some(read),
                Some(_) => row.other |= read != verdict,
                None => {}
            }
        }
        VERDICTS.contains(&row.verdict).then_some(row)
    }

    fn standing(self) -> Standing {
        let marks = [
            (OWN, Standing::Own),
            (ELSEWHERE, Standing::Elsewhere),
            (WEAKER, Standing::Weaker),
            (ORDER, Standing::Order),
        ];
        let mut marks = marks.into_iter();
        let found = marks.find(|(mark, _)| self.says.contains(mark));
        found.map_or(Standing::Counted, |(_, standing)| standing)
    }

    /// Whether a reader asks why.
    fn is_missed(self) -> bool {
        MISSED.contains(&self.verdict)
    }
}

/// The number of claims for each verdict.
#[derive(Clone, Copy, Default)]
struct Split([usize; VERDICTS.len()]);

impl Split {
    fn add(&mut self, verdict: &str) {
        let place = VERDICTS.iter().position(|known| *known == verdict);
        self.0[place.expect("a row has one of them")] += 1;
    }
}

impl fmt::Display for Split {
    /// The numbers of reproduced, partly reproduced and not reproduced claims: `96 / 18 / 17`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [reproduced, partly, not, _] = self.0;
        write!(f, "{reproduced} / {partly} / {not}")
    }
}

impl Shown {
    pub(super) fn paper(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    fn row(&self, id: &str) -> Option<Row<'_>> {
        self.rows().find(|row| row.id == id)
    }

    /// The verdict on a claim, given by its name in the cell.
    pub(super) fn verdict(&self, id: &str) -> Option<&str> {
        self.row(id).map(|row| row.verdict)
    }

    /// The cell with the paper's statement.
    pub(super) fn says(&self, id: &str) -> Option<&str> {
        self.row(id).map(|row| row.says)
    }

    /// The verdict on a claim with this name and our number, unless the figure is stale.
    pub(super) fn finding(&self, id: &str) -> Option<(&str, &str)> {
        let row = self.row(&format!("`{id}`")).filter(|_| !self.is_stale())?;
        Some((row.verdict, row.here))
    }

    /// The claims, by the lines of its table.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let head = self.text.lines().find(|line| line.starts_with(HEAD));
        let head = head.unwrap_or_default();
        let head = head.trim_start_matches("| ").trim_end_matches(" |");
        let headings: Vec<&str> = head.split(" | ").collect();
        let lines = self.text.lines();
        lines.filter_map(move |line| Row::of(line, &headings))
    }

    /// Why the claim `id` does not hold, with the cause if it is known, without the trials.
    fn why(&self, id: &str) -> Option<&str> {
        let mut lines = self.text.lines();
        let start = format!("- {id}: ");
        let all = lines.find_map(|line| line.strip_prefix(&start))?;
        Some(
            all.split_once(TRIED)
                .map_or(all, |(why, _)| why.trim_end_matches(". ")),
        )
    }

    /// The version that judged it, and the digest of its files at that time, if the page has it.
    pub(super) fn judged_by(&self) -> (&str, Option<&str>) {
        let mut lines = self.text.lines();
        let line = lines.find_map(|line| line.strip_prefix(VERSION));
        let line = line.unwrap_or_default().trim_end_matches('.');
        let parts = line.split_once(FILE);
        parts.map_or((line, None), |(version, file)| (version, Some(file)))
    }

    /// Marks it as stale if its files have another digest now.
    pub(super) fn compare(&mut self, now: Option<&str>) {
        let (_, then) = self.judged_by();
        let stale = now.is_some() && then != now;
        if stale != self.is_stale() {
            let (scale, rest) = self.text.split_once("\n\n").unwrap_or(("", &self.text));
            let rest = rest.strip_prefix(STALE).unwrap_or(rest);
            let stale = if stale { STALE } else { "" };
            self.text = format!("{scale}\n\n{stale}{rest}");
        }
    }

    /// Whether its verdicts belong to an older version of its file.
    fn is_stale(&self) -> bool {
        self.text.contains(STALE)
    }

    /// Whether it was also judged with random lateness of links.
    pub(super) fn has_phase(&self) -> bool {
        self.text.lines().any(|line| line.starts_with(PHASE))
    }
}

/// The figures of an existing page.
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

/// The line of a paper in the first table. Stale figures only count in their own column.
pub(super) fn counts(paper: &str, figures: &[&Shown]) -> String {
    let (mut text, mut code, mut weaker) = (Split::default(), Split::default(), Split::default());
    let (mut others, mut order, mut checks, mut elsewhere, mut stale) = (0, 0, 0, 0, 0);
    let mut versions: Vec<&str> = Vec::new();
    for figure in figures {
        let (version, _) = figure.judged_by();
        if figure.is_stale() {
            stale += figure.rows().count();
            continue;
        }
        if !versions.contains(&version) {
            versions.push(version);
        }
        for row in figure.rows() {
            match row.standing() {
                Standing::Own => checks += 1,
                Standing::Elsewhere => elsewhere += 1,
                Standing::Weaker => weaker.add(row.verdict),
                Standing::Order => order += 1,
                Standing::Counted => {
                    text.add(row.verdict);
                    code.add(row.code.unwrap_or(row.verdict));
                    others += usize::from(row.other);
                }
            }
        }
    }
    let claims: usize = text.0.iter().sum();
    let untestable = text.0[VERDICTS.len() - 1];
    let current = figures.iter().filter(|figure| !figure.is_stale());
    let (tried, of) = current.fold((0, 0), |(tried, of), figure| {
        (tried + usize::from(figure.has_phase()), of + 1)
    });
    let order = match tried {
        0 => "not tried".to_owned(),
        _ if tried == of => order.to_string(),
        _ => format!("{order} (tried on {tried} of {of} figures)"),
    };
    format!(
        "| [{paper}](#{paper}) | {claims} | {text} | {code} | {others} | {weaker} | {order} | {checks} | {untestable} | \
         {elsewhere} | {stale} | {} |\n",
        versions.join(", ")
    )
}

/// The columns of the first table.
pub(super) const COLUMNS: [&str; 12] = [
    "paper",
    "claims",
    "by the text",
    "by the code",
    "otherwise by another reading",
    "weaker form",
    "hangs on the order of events",
    "own checks",
    "not testable",
    "counted elsewhere",
    "stale",
    "version",
];

/// The claims of a paper that do not hold, with the reasons, because readers look for these first. Empty if all hold.
pub(super) fn misses(figures: &[&Shown]) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for figure in figures.iter().filter(|figure| !figure.is_stale()) {
        let missed = figure
            .rows()
            .filter(|row| row.is_missed() && row.standing() == Standing::Counted);
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

/// The claims that depend on the order of events; empty if there are none.
pub(super) fn on_order(figures: &[&Shown]) -> String {
    let current = figures.iter().filter(|figure| !figure.is_stale());
    let lines = current.flat_map(|figure| {
        let rows = figure.rows();
        rows.filter(|row| row.standing() == Standing::Order)
            .map(|row| {
                let link = format!("[{}](#{})", row.id, figure.name.replace('/', ""));
                format!("| {} | {link} | {} |\n", row.verdict, row.says)
            })
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\nWhat hangs on the order of events, with the verdict without random lateness of links first:\n\n\
         | verdict | claim | what the paper says |\n|---|---|---|\n{lines}"
    )
}

/// The beginning of the line with the version that judged a figure.
pub(super) const VERSION: &str = "Version: ";

/// The words in that line before the digest of the figure's files.
pub(super) const FILE: &str = ", file ";

/// The words below the scale of a figure whose files have changed.
const STALE: &str = "Stale: the file of this figure has changed since it was judged.\n\n";

/// The beginning of the line about random lateness of links.
pub(super) const PHASE: &str = "Order of events: ";

/// The beginning of the line about the version that tried the causes, if it is an earlier one.
pub(super) const CAUSES: &str = "Causes: tried with version ";

/// The beginning of the line about the overall deviation of our numbers.
pub(super) const OURS: &str = "Ours: ";

/// The word before a cause that explains a difference.
pub(super) const CAUSE: &str = "Cause: ";

/// The beginning of the table of claims.
pub(super) const HEAD: &str = "| verdict | claim |";

/// The beginning of the heading of a column with another reading.
pub(super) const BY: &str = "by ";

/// The words before the reason in the line of a claim that is weaker than the paper's.
pub(super) const WEAKER: &str = "Weaker form: ";

/// The words before the other verdicts in the line of a claim that depends on the order of events.
pub(super) const ORDER: &str = "Hangs on the order of events: ";

/// The words before the reason in the line of a check of our own.
pub(super) const OWN: &str = "Our own check: ";

/// The words before settings that do not explain a difference.
pub(super) const TRIED: &str = "Tried and not the cause: ";

/// The words before the figure in the line of a claim that another paper counts.
pub(super) const ELSEWHERE: &str = "Counted in ";

/// The names of verdicts in results.
pub(super) const VERDICTS: [&str; 4] = ["reproduced", "partly", "not reproduced", "not testable"];

/// The verdicts that need a reason, the worst first.
pub(super) const MISSED: [&str; 2] = ["not reproduced", "partly"];
