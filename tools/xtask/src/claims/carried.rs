//! Keeps causes and orders of events on the page when a figure is judged again without them.

use super::shown::{CAUSE, CAUSES, HEAD, ORDER, OURS, PHASE, Shown, TRIED};

impl Shown {
    /// Takes over the causes and the order of events from the page's version of the figure, if its files are unchanged
    /// and it was now judged without them. Nothing is taken over for a claim with another verdict.
    pub(super) fn carry(&mut self, before: &Self) {
        let ((_, now), (version, then)) = (self.judged_by(), before.judged_by());
        if now.is_none() || now != then {
            return;
        }
        let version = version.to_owned();
        if !self.has_phase() && before.has_phase() {
            self.carry_order(before, &version);
        }
        let is_tried = |figure: &Self| [CAUSE, TRIED].iter().any(|mark| figure.text.contains(mark));
        if !is_tried(self) && is_tried(before) {
            self.carry_causes(before, &version);
        }
    }

    fn carry_causes(&mut self, before: &Self, version: &str) {
        let mut is_any = false;
        self.change_lines(|own, line| {
            let id = detail(line)?;
            let tried = before
                .tried(id)
                .filter(|_| own.verdict(id) == before.verdict(id))?;
            is_any = true;
            Some(format!("{line}{tried}"))
        });
        if is_any {
            let known = before.text.lines().find(|line| line.starts_with(CAUSES));
            let since = known.map_or_else(|| format!("{CAUSES}{version}."), str::to_owned);
            self.insert(&since);
        }
    }

    fn carry_order(&mut self, before: &Self, version: &str) {
        let known = before.text.lines().find(|line| line.starts_with(PHASE));
        let known = known.unwrap_or_default();
        let since = if known.contains(WITH_VERSION) {
            known.to_owned()
        } else {
            format!("{}{WITH_VERSION}{version}.", known.trim_end_matches('.'))
        };
        self.change_lines(|own, line| {
            let mut cells: Vec<String> = line.split(" | ").map(str::to_owned).collect();
            let id = cells.get(1)?.clone();
            let says = before
                .says(&id)
                .filter(|_| own.verdict(&id) == before.verdict(&id))?;
            cells[2] = format!("{}. {}", cells[2], &says[says.find(ORDER)?..]);
            Some(cells.join(" | "))
        });
        self.insert(&since);
    }

    /// Replaces the lines for which `change` returns a new line.
    fn change_lines(&mut self, mut change: impl FnMut(&Self, &str) -> Option<String>) {
        let lines = self.text.lines();
        let lines = lines.map(|line| change(self, line).unwrap_or_else(|| line.to_owned()) + "\n");
        self.text = lines.collect();
    }

    /// Inserts a paragraph before the line with our bias, or before the table if there is none.
    fn insert(&mut self, paragraph: &str) {
        let lines = self.text.split_inclusive('\n');
        let is_next = |line: &&str| line.starts_with(OURS) || line.starts_with(HEAD);
        let above: usize = lines.take_while(|line| !is_next(line)).map(str::len).sum();
        self.text.insert_str(above, &format!("{paragraph}\n\n"));
    }

    /// The causes that were tried for a claim, beginning with the full stop before them.
    fn tried(&self, id: &str) -> Option<&str> {
        let line = self.text.lines().find(|line| detail(line) == Some(id))?;
        let marks = [CAUSE, TRIED].map(|mark| line.find(&format!(". {mark}")));
        Some(&line[marks.into_iter().flatten().min()?..])
    }
}

/// The name of the claim in a line of details, in the line's notation.
fn detail(line: &str) -> Option<&str> {
    let (id, _) = line.strip_prefix("- ")?.split_once(": ")?;
    id.starts_with('`').then_some(id)
}

/// The words before the version on a line about the order of events.
const WITH_VERSION: &str = ", with version ";
