//! GOAL, the text form of the schedules of `LogGOPSim` and ATLAHS: the sends, receives and calculations of each rank,
//! and their dependencies.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 8000
//! l2: send 65536b to 1 tag 7
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 65536b from 0 tag 7
//! }
//! ```
//!
//! A `send` is a flow. A `recv` ends with the flow of the matching `send`: the next one between the same two ranks with
//! the same tag, in the order of the file; -1 as rank or tag matches any. `a requires b` means that a starts when b
//! ends. A `send` ends when the flow is complete at its receiver. A `calc` delays the operations that wait for it by
//! its nanoseconds; calculations of one processor that could run at the same time do run at the same time. `a irequires
//! b` means that a starts when b starts.

use std::collections::{BTreeMap, VecDeque};

use crate::hosts::{HostIndex, Hosts};
use crate::moments::{BEGINNING, Moments, behind, join};
use crate::words::{Word, Words};
use crate::{FileKind, Imported, ImportedFlow};

/// Whether a file with this first line is such a schedule.
pub(crate) fn is_one(first: &str) -> bool {
    first.split_whitespace().next() == Some("num_ranks")
}

/// An operation of a rank.
struct RankOperation<'a> {
    word: Word<'a>,
    what: Action,
    /// Operations that must have ended, or must have begun.
    after: Vec<u32>,
    with: Vec<u32>,
}

enum Action {
    Send {
        to: u32,
        bytes: u64,
        tag: i64,
    },
    Recv {
        from: i64,
        tag: i64,
    },
    /// Picoseconds.
    Calc(u128),
}

/// A file while it is read.
#[derive(Default)]
struct Schedule<'a> {
    ranks: u32,
    operations: Vec<RankOperation<'a>>,
    rank_of: Vec<u32>,
}

pub(crate) fn read(text: &str) -> Result<Imported, String> {
    let schedule = Schedule::of(text)?;
    let matched = schedule.matched()?;
    schedule.into_imported(&matched)
}

impl<'a> Schedule<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let mut schedule = Self::default();
        let mut rank: Option<u32> = None;
        let mut next = 0;
        let mut labels: BTreeMap<&str, u32> = BTreeMap::new();
        let mut last = (1, 1);
        for (number, line) in (1_usize..).zip(text.lines()) {
            let line = line.split("//").next().unwrap_or_default();
            let mut words = Words::of(number, line);
            let Some(first) = words.next() else { continue };
            last = (number, line.chars().count());
            match (first.text, rank) {
                ("num_ranks", None) => {
                    let count = words.need("the number of ranks")?;
                    let ranks = u32::try_from(count.whole("num_ranks")?).ok();
                    schedule.ranks = ranks.ok_or_else(|| count.wrong("at most 2^32 ranks"))?;
                }
                ("rank", None) => {
                    let word = words.need("the number of the rank")?;
                    let number = word.whole("a rank")?;
                    if number != u64::from(next) || next >= schedule.ranks {
                        return Err(word.wrong(format!(
                            "expected rank {next} of {}, not {number}: ranks must be in order, each once",
                            schedule.ranks
                        )));
                    }
                    let brace = words.need("the brace {")?;
                    if brace.text != "{" {
                        return Err(
                            brace.wrong(format!("a brace {{ opens the rank, not {:?}", brace.text))
                        );
                    }
                    (rank, next) = (Some(next), next + 1);
                    labels.clear();
                }
                ("}", Some(_)) => rank = None,
                (_, Some(rank)) => schedule.line((rank, &mut labels), first, words)?,
                (other, None) => {
                    return Err(first.wrong(format!(
                        "a rank begins with \"rank {next} {{\", not {other:?}"
                    )));
                }
            }
        }
        if rank.is_some() || next < schedule.ranks {
            return Err(format!(
                "line {}, column {}: the file ends in rank {} of {}: the rest is missing",
                last.0,
                last.1,
                next.saturating_sub(u32::from(rank.is_some())),
                schedule.ranks
            ));
        }
        Ok(schedule)
    }

    /// Reads an operation, with or without a label, or a dependency between two.
    fn line(
        &mut self,
        (rank, labels): (u32, &mut BTreeMap<&'a str, u32>),
        first: Word<'a>,
        mut words: Words<'a>,
    ) -> Result<(), String> {
        if let Some(label) = first.text.strip_suffix(':') {
            let operation = words.need("an operation")?;
            let number = self.operation(rank, operation, words)?;
            if labels.insert(label, number).is_some() {
                return Err(first.wrong(format!(
                    "the label {label} is used twice in rank {rank}: rename one"
                )));
            }
            return Ok(());
        }
        if ["send", "recv", "calc"].contains(&first.text) {
            return self.operation(rank, first, words).map(drop);
        }
        let kind = words.need("\"requires\" or \"irequires\"")?;
        let other = words.need("a label")?;
        let find = |word: Word<'_>| {
            labels.get(word.text).copied().ok_or_else(|| {
                word.wrong(format!(
                    "rank {rank} has no label {} above this line: define a label before its use",
                    word.text
                ))
            })
        };
        let (number, before) = (find(first)?, find(other)?);
        let operation = &mut self.operations[number as usize];
        match kind.text {
            "requires" => operation.after.push(before),
            "irequires" => operation.with.push(before),
            word => {
                return Err(kind.wrong(format!(
                    "an operation is send, recv or calc, and labels are joined by requires or irequires, not {word:?}"
                )));
            }
        }
        Ok(())
    }

    fn operation(
        &mut self,
        rank: u32,
        word: Word<'a>,
        mut words: Words<'a>,
    ) -> Result<u32, String> {
        let what = match word.text {
            "send" => {
                let bytes = bytes(words.need("the size")?)?;
                let to = self.peer(&mut words, "to")?;
                let own = to.1 == i64::from(rank);
                let to = u32::try_from(to.1)
                    .ok()
                    .filter(|_| !own)
                    .ok_or_else(|| to.0.wrong("a rank sends to one other rank: name it"))?;
                Action::Send { to, bytes, tag: 0 }
            }
            "recv" => {
                bytes(words.need("the size")?)?;
                let (_, from) = self.peer(&mut words, "from")?;
                Action::Recv { from, tag: 0 }
            }
            "calc" => Action::Calc(words.need("the nanoseconds")?.times("calc", 1_000)?),
            other => {
                return Err(
                    word.wrong(format!("an operation is send, recv or calc, not {other:?}"))
                );
            }
        };
        let what = options(what, words)?;
        let number = u32::try_from(self.operations.len())
            .map_err(|_| word.wrong("more than 2^32 operations"))?;
        self.operations.push(RankOperation {
            word,
            what,
            after: Vec::new(),
            with: Vec::new(),
        });
        self.rank_of.push(rank);
        Ok(number)
    }

    /// `to R` or `from R`.
    fn peer(&self, words: &mut Words<'a>, preposition: &str) -> Result<(Word<'a>, i64), String> {
        let word = words.need(preposition)?;
        if word.text != preposition {
            return Err(word.wrong(format!("{preposition} stands here, not {:?}", word.text)));
        }
        let word = words.need("a rank")?;
        if word.text == "-1" && preposition == "from" {
            return Ok((word, -1));
        }
        let rank = word.whole("a rank")?;
        match i64::try_from(rank) {
            Ok(known) if rank < u64::from(self.ranks) => Ok((word, known)),
            _ => Err(word.wrong(format!(
                "there is no rank {rank} among {}, numbered from 0",
                self.ranks
            ))),
        }
    }

    /// The `send` of each `recv`: the first unmatched send to its rank with the rank and the tag that it names.
    fn matched(&self) -> Result<BTreeMap<u32, u32>, String> {
        let mut sends: BTreeMap<u32, VecDeque<(u32, i64, u32)>> = BTreeMap::new();
        for (number, operation) in (0_u32..).zip(&self.operations) {
            if let Action::Send { to, tag, .. } = operation.what {
                let from = self.rank_of[number as usize];
                sends.entry(to).or_default().push_back((from, tag, number));
            }
        }
        let mut matched = BTreeMap::new();
        for (number, operation) in (0_u32..).zip(&self.operations) {
            let Action::Recv { from, tag } = operation.what else {
                continue;
            };
            let rank = self.rank_of[number as usize];
            let queue = sends.entry(rank).or_default();
            let fits = |(sender, own, _): &(u32, i64, u32)| {
                (from < 0 || from == i64::from(*sender)) && (tag < 0 || *own < 0 || tag == *own)
            };
            let place = queue.iter().position(fits);
            let Some((_, _, send)) = place.and_then(|place| queue.remove(place)) else {
                return Err(operation.word.wrong(format!(
                    "no rank sends what rank {rank} receives here: add the send, or correct its rank or tag"
                )));
            };
            matched.insert(number, send);
        }
        Ok(matched)
    }

    fn into_imported(self, matched: &BTreeMap<u32, u32>) -> Result<Imported, String> {
        let order = self.order(matched)?;
        let mut hosts = Hosts::default();
        let all: Vec<HostIndex> = (0..self.ranks)
            .map(|rank| hosts.host(&rank.to_string()))
            .collect();
        // The begin and the end of each operation.
        let mut moments: Vec<(Moments, Moments)> = Vec::new();
        moments.resize_with(self.operations.len(), Default::default);
        let mut flows: Vec<ImportedFlow> = Vec::new();
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut calculations, mut late) = (0, 0);
        for number in order {
            let operation = &self.operations[number as usize];
            let mut begin = Moments::new();
            operation
                .after
                .iter()
                .for_each(|before| join(&mut begin, &moments[*before as usize].1));
            operation
                .with
                .iter()
                .for_each(|before| join(&mut begin, &moments[*before as usize].0));
            let end = match &operation.what {
                Action::Send { to, bytes, .. } => {
                    let place = u32::try_from(flows.len());
                    let place = place.map_err(|_| operation.word.wrong("more than 2^32 flows"))?;
                    let ends = (
                        all[self.rank_of[number as usize] as usize],
                        all[*to as usize],
                    );
                    late += u32::from(begin.len() > 1 && begin.contains_key(&BEGINNING));
                    flows.push(behind(
                        &mut begin,
                        ImportedFlow::new(ends, *bytes),
                        operation.word.line as u64,
                    ));
                    places.insert(number, place);
                    Moments::from([(place, 0)])
                }
                Action::Recv { .. } => {
                    let send = places[&matched[&number]];
                    let mut end = begin.clone();
                    end.entry(send).or_default();
                    end
                }
                Action::Calc(ps) => {
                    calculations += 1;
                    let mut end = begin.clone();
                    if end.is_empty() {
                        end.insert(BEGINNING, 0);
                    }
                    for since in end.values_mut() {
                        *since += ps;
                    }
                    end
                }
            };
            moments[number as usize] = (begin, end);
        }
        let read = self.operations.len() as u64;
        Ok(Imported {
            kind: FileKind::Goal,
            read,
            what: "operations",
            flows,
            hosts: hosts.into_names(),
            dated: false,
            skipped: Vec::new(),
            notes: notes(calculations, late),
        })
    }

    /// An order in which each operation comes after those that it waits for: step by step, and within a step by rank.
    fn order(&self, matched: &BTreeMap<u32, u32>) -> Result<Vec<u32>, String> {
        let count = self.operations.len();
        let mut followers: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut needs = vec![0_usize; count];
        for (number, operation) in (0_u32..).zip(&self.operations) {
            let sent = matched.get(&number);
            for before in operation.after.iter().chain(&operation.with).chain(sent) {
                followers[*before as usize].push(number);
                needs[number as usize] += 1;
            }
        }
        let numbers = 0..u32::try_from(count).expect("checked when read");
        let mut step: Vec<u32> = numbers
            .filter(|number| needs[*number as usize] == 0)
            .collect();
        let mut order = Vec::with_capacity(count);
        while !step.is_empty() {
            let mut next = Vec::new();
            for number in &step {
                for follower in &followers[*number as usize] {
                    needs[*follower as usize] -= 1;
                    if needs[*follower as usize] == 0 {
                        next.push(*follower);
                    }
                }
            }
            order.append(&mut step);
            next.sort_unstable();
            step = next;
        }
        match needs.iter().position(|needs| *needs > 0) {
            None => Ok(order),
            Some(stuck) => Err(self.operations[stuck].word.wrong(
                "this operation never starts, because it waits for itself through others: remove one of the requires",
            )),
        }
    }
}

/// Notes on a schedule with this many calculations, and with this many flows that wait both for others and for the
/// clock.
fn notes(calculations: u32, late: u32) -> Vec<String> {
    let mut notes = vec![
        "Host numbers are rank numbers.".to_owned(),
        format!(
            "A send is a flow and ends when its receiver has everything; {calculations} calculations are the times between flows."
        ),
    ];
    if late > 0 {
        notes.push(format!(
            "{late} flows wait for other flows and for calculations since the beginning: these are taken to be over first."
        ));
    }
    notes
}

/// `65536b`.
fn bytes(word: Word<'_>) -> Result<u64, String> {
    let number = word
        .text
        .strip_suffix('b')
        .and_then(|text| text.parse::<u64>().ok());
    number.filter(|bytes| *bytes > 0).ok_or_else(|| {
        word.wrong(format!(
            "a size is a number above 0 with the unit b, as in 65536b, not {:?}",
            word.text
        ))
    })
}

/// `tag T`, `cpu C` and `nic N`; only the tag matters for flows.
fn options(mut what: Action, mut words: Words<'_>) -> Result<Action, String> {
    while let Some(word) = words.next() {
        match word.text {
            "tag" => {
                let value = words.need("the tag")?;
                let number = value.text.parse::<i64>().ok().filter(|tag| *tag >= -1);
                let number = number.ok_or_else(|| {
                    value.wrong(format!(
                        "a tag is a whole number from -1, not {:?}",
                        value.text
                    ))
                })?;
                match &mut what {
                    Action::Send { tag, .. } | Action::Recv { tag, .. } => *tag = number,
                    Action::Calc(_) => {
                        return Err(word.wrong("a calculation has no tag: remove it"));
                    }
                }
            }
            "cpu" | "nic" => {
                words.need("a number")?.whole(word.text)?;
            }
            other => {
                return Err(word.wrong(format!(
                    "an operation ends with tag, cpu or nic, not {other:?}"
                )));
            }
        }
    }
    Ok(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "num_ranks 2\n\nrank 0 {\nl1: calc 8000\nl2: send 65536b to 1 tag 7 cpu 0\nl2 requires l1\n\
                       l3: recv 10b from 1\n}\n// half\nrank 1 {\nl1: recv 65536b from 0 tag 7\nl2: calc 100\nl2 requires l1\n\
                       l3: send 10b to 0 nic 1\nl3 requires l2\n}\n";

    #[test]
    fn sends_are_flows_that_wait_for_what_their_rank_received_and_computed() {
        let imported = read(TWO).unwrap();
        let [there, back] = imported.flows.as_slice() else {
            panic!("two flows")
        };
        // 8000 ns after the beginning.
        assert_eq!(
            (there.start, there.size, &there.wait),
            (8_000_000, 65_536, &None)
        );
        let wait = back.wait.as_deref().unwrap();
        // 100 ns after the first flow.
        assert_eq!(
            (wait.needs, wait.on.as_slice(), wait.line),
            (1, &[(0, 100_000)][..], 14)
        );
        assert_eq!((imported.read, imported.hosts.len()), (6, 2));
    }

    #[test]
    fn a_recv_takes_the_next_message_that_fits() {
        let text = "num_ranks 3\nrank 0 {\na: recv 1b from -1 tag 5\nb: send 9b to 2\nb requires a\nc: send 8b to 1\nc irequires b\n}\n\
                    rank 1 {\nsend 1b to 0 tag 4\nsend 1b to 0 tag 5\n}\nrank 2 {\nsend 1b to 0 tag -1\n}\n";
        let imported = read(text).unwrap();
        let sizes: Vec<u64> = imported.flows.iter().map(|flow| flow.size).collect();
        assert_eq!(sizes, [1, 1, 1, 9, 8]);
        // The second message of rank 1 is the first with this tag; c begins with b.
        for flow in &imported.flows[3..] {
            assert_eq!(flow.wait.as_ref().unwrap().on, [(1, 0)]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_line_column_and_remedy() {
        for (from, to, cause) in [
            (
                "65536b to",
                "65536 to",
                "line 5, column 10: a size is a number above 0 with the unit b",
            ),
            (
                "to 1 tag 7",
                "to 4 tag 7",
                "line 5, column 20: there is no rank 4 among 2",
            ),
            (
                "to 1 tag 7",
                "to 0 tag 7",
                "line 5, column 20: a rank sends to one other rank",
            ),
            (
                "to 1 tag 7",
                "at 1 tag 7",
                "line 5, column 17: to stands here, not \"at\"",
            ),
            (
                "tag 7 cpu",
                "tag x cpu",
                "line 5, column 26: a tag is a whole number",
            ),
            (
                "l2 requires l1\nl3: recv",
                "l2 requires l9\nl3: recv",
                "line 6, column 13: rank 0 has no label l9",
            ),
            (
                "l2 requires l1\nl3: recv",
                "l2 needs l1\nl3: recv",
                "line 6, column 4: an operation is send",
            ),
            (
                "l1: calc 8000",
                "l1: calc x",
                "line 4, column 10: calc is a number",
            ),
            (
                "calc 100",
                "rest 100",
                "line 12, column 5: an operation is send, recv or calc",
            ),
            (
                "rank 1 {",
                "rank 2 {",
                "line 10, column 6: expected rank 1 of 2, not 2",
            ),
            (
                "from 0 tag 7",
                "from 0 tag 8",
                "line 11, column 5: no rank sends what rank 1 receives",
            ),
            (
                "l2 requires l1\nl3: recv",
                "l2 requires l1\nl1 requires l2\nl3: recv",
                "line 4, column 5: this operation never starts",
            ),
            (
                "requires l2\n}\n",
                "requires l2\n",
                "line 15, column 14: the file ends in rank 1 of 2",
            ),
        ] {
            let error = read(&TWO.replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(cause), "{from}: {error}");
        }
    }
}
