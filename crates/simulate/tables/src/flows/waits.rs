//! Flows that wait for others: the columns `id`, `after` and `delay_us`.

use std::collections::BTreeMap;

use base::Span;

use super::moment::LATEST;
use super::number::Decimal;

/// The flows that must be done before a flow of a trace starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How many of `on` must be done before it starts. It is the number of all unless the trace gives another, as in `2
    /// of 3+4+5`.
    pub needs: u32,
    /// The flows that it waits for, by the index of their rows, with the delay after each.
    pub on: Vec<(u32, Span)>,
}

/// The waits of a trace, and for each row the index of its wait, if it has one.
pub(super) type Resolved = (Vec<Wait>, Vec<Option<u32>>);

/// The names of flows and their waits, while rows are read.
#[derive(Default)]
pub(super) struct Waits {
    /// Rows by their ids.
    ids: BTreeMap<String, u32>,
    pending: Vec<Pending>,
}

/// A row that waits for others, which may come later in the file.
struct Pending {
    row: u32,
    line: u64,
    text: String,
}

impl Waits {
    /// The flow of this row is called `id`.
    pub(super) fn name(&mut self, id: &str, row: u32) -> Result<(), String> {
        if id.contains(['+', '@']) || id.contains(char::is_whitespace) {
            return Err(format!(
                "the id {id:?} has a space, + or @, which separate ids in the column after: choose an id without these"
            ));
        }
        match self.ids.insert(id.to_owned(), row) {
            None => Ok(()),
            Some(_) => Err(format!(
                "another flow has the id {id} already: ids must differ"
            )),
        }
    }

    /// The flow of this row, found at `line`, waits for the flows in `text`.
    pub(super) fn wait(&mut self, (row, line): (u32, u64), text: &str) {
        let text = text.to_owned();
        self.pending.push(Pending { row, line, text });
    }

    /// Finds the awaited flows, and for each of `rows` rows the index of its wait, if it has one. If some flow would
    /// never start, the error has the line and the cause. O(n log n), and O(1) if no flow waits.
    pub(super) fn resolve(self, rows: usize) -> Result<Resolved, (u64, String)> {
        if self.pending.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (mut waits, mut of) = (Vec::new(), vec![None; rows]);
        for pending in &self.pending {
            let wait = self
                .read(pending)
                .map_err(|cause| (pending.line, format!("after: {cause}")))?;
            of[pending.row as usize] = Some(place(waits.len()));
            waits.push(wait);
        }
        let lacking = lacking(&of, &waits);
        let Some(stuck) = lacking.iter().position(|needs| *needs > 0) else {
            return Ok((waits, of));
        };
        let circle = circle(&of, &waits, &lacking, place(stuck));
        let names: BTreeMap<u32, &str> = self
            .ids
            .iter()
            .map(|(name, row)| (*row, name.as_str()))
            .collect();
        let names: Vec<&str> = circle.iter().map(|row| names[row]).collect();
        let line = self.pending.iter().find(|pending| pending.row == circle[0]);
        Err((
            line.map_or(0, |pending| pending.line),
            format!(
                "after: flows that wait for each other never start: {} waits for {}; remove one of these ids from the \
                 column after",
                names[0],
                names[1..].join(", which waits for ")
            ),
        ))
    }

    fn read(&self, pending: &Pending) -> Result<Wait, String> {
        let text = pending.text.as_str();
        let (needs, list) = match text.split_once(" of ") {
            Some((needs, list)) => (Some(needs.trim()), list),
            None => (None, text),
        };
        let mut on = Vec::new();
        for part in list.split('+').map(str::trim) {
            let (id, delay) = part.split_once('@').unwrap_or((part, "0"));
            let Some(row) = self.ids.get(id.trim()).copied() else {
                return Err(format!(
                    "no flow has the id {:?}: the column id names flows, and + joins ids, as in 3+4",
                    id.trim()
                ));
            };
            let delay = Decimal::parse(delay.trim()).filter(|delay| !delay.negative);
            let delay = delay.and_then(|delay| delay.times(MICROSECOND));
            let delay = delay.filter(|(ps, _)| *ps < LATEST).ok_or_else(|| {
                format!("after @ expected a time in microseconds, as in 3@12.5, not {part:?}")
            })?;
            let delay = u64::try_from(delay.0).expect("less than the latest start");
            on.push((row, Span::from_ps(delay)));
        }
        let all = place(on.len());
        let needs = match needs {
            None => all,
            Some(text) => {
                let needs = text.parse::<u32>().ok();
                needs
                    .filter(|needs| (1..=all).contains(needs))
                    .ok_or_else(|| {
                        format!("with {all} flows, a flow can wait for 1 to {all} of them, not for {text:?}")
                    })?
            }
        };
        if needs < all && on.iter().any(|(_, delay)| *delay != on[0].1) {
            return Err(format!(
                "{text:?} awaits some of several flows, whose times behind @ must then be the same"
            ));
        }
        Ok(Wait { needs, on })
    }
}

/// The number of completions that each row lacks. It is above 0 for rows that never start. O(rows + waits).
fn lacking(of: &[Option<u32>], waits: &[Wait]) -> Vec<u32> {
    let mut followers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (row, own) in (0_u32..).zip(of) {
        for (before, _) in own.iter().flat_map(|wait| &waits[*wait as usize].on) {
            followers.entry(*before).or_default().push(row);
        }
    }
    let needed = |wait: &Option<u32>| wait.map_or(0, |wait| waits[wait as usize].needs);
    let mut needs: Vec<u32> = of.iter().map(needed).collect();
    let starts = (0_u32..).zip(&needs).filter(|(_, needs)| **needs == 0);
    let mut ready: Vec<u32> = starts.map(|(row, _)| row).collect();
    while let Some(done) = ready.pop() {
        for follower in followers.remove(&done).unwrap_or_default() {
            let left = &mut needs[follower as usize];
            if *left == 1 {
                ready.push(follower);
            }
            *left = left.saturating_sub(1);
        }
    }
    needs
}

/// A circle of rows, found from a row that never starts. Each row waits for the next one; the last is the first again.
fn circle(of: &[Option<u32>], waits: &[Wait], lacking: &[u32], stuck: u32) -> Vec<u32> {
    let (mut way, mut at) = (Vec::new(), stuck);
    loop {
        let known = way.iter().position(|row| *row == at);
        way.push(at);
        if let Some(first) = known {
            way.drain(..first);
            return way;
        }
        let wait = of[at as usize].expect("it never starts");
        let mut on = waits[wait as usize].on.iter().map(|(row, _)| *row);
        at = on
            .find(|row| lacking[*row as usize] > 0)
            .expect("a flow that never starts waits for another that does not");
    }
}

fn place(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^30 flows")
}

const MICROSECOND: u64 = 1_000_000;
