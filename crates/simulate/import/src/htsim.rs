//! Connection matrices of htsim: `Nodes N`, `Connections M`, and a line `A->B start PS size BYTES` for each. Starts
//! are in picoseconds; a size of 0 never ends.
//!
//! A connection with `trigger T` waits until trigger T is called. Connections with `send_done_trigger T` or
//! `recv_done_trigger T` call it when they are done. A line `trigger id T KIND` defines the effect of calls:
//!
//! | kind | what the calls of n connections do | a flow then waits for |
//! |---|---|---|
//! | `oneshot` | the first starts all that wait | the first of n flows |
//! | `multishot` | each starts the next one that waits | the first, the second, ... of n flows |
//! | `barrier count C` | the C-th starts all that wait | C of n flows |
//!
//! In htsim a sender calls when the last acknowledgement has arrived, half a round trip after the receiver has
//! everything. Here both call when the receiver has everything.

use std::collections::BTreeMap;

use crate::hosts::Hosts;
use crate::words::{Word, Words, end_of};
use crate::{FileKind, ImportOptions, Imported, ImportedFlow, Wait};

/// Whether a file with this first line may be such a matrix.
pub(crate) fn is_one(first: &str) -> bool {
    let mut words = first.split_whitespace();
    words.next() == Some("Nodes") && words.nth(1).is_none()
}

/// The lines of a file read so far.
#[derive(Default)]
struct Matrix<'a> {
    nodes: Option<u64>,
    /// The number of connections, and the line that gives it.
    connections: Option<(u64, usize)>,
    read: u64,
    failures: u64,
    endless: u64,
    themselves: u64,
    triggers: BTreeMap<u64, Trigger>,
    hosts: Hosts,
    flows: Vec<ImportedFlow>,
    /// For each waiting flow, the trigger that it waits for.
    waiting: Vec<(u32, Word<'a>, u64)>,
}

#[derive(Default)]
struct Trigger {
    kind: Option<TriggerKind>,
    /// The flows that call it.
    callers: Vec<u32>,
}

#[derive(Clone, Copy)]
enum TriggerKind {
    Oneshot,
    Multishot,
    Barrier(u32),
}

/// The words after the hosts of a connection.
#[derive(Default)]
struct ConnectionOptions<'a> {
    start: Option<u128>,
    trigger: Option<Word<'a>>,
    size: u64,
    /// The triggers that it calls at its end.
    calls: Vec<u64>,
}

pub(crate) fn read(text: &str, options: &ImportOptions) -> Result<Imported, String> {
    let mut matrix = Matrix::default();
    for (number, line) in (1_usize..).zip(text.lines()) {
        let mut words = Words::of(number, line);
        let Some(first) = words.next() else { continue };
        match first.text {
            comment if comment.starts_with('#') => {}
            "Nodes" => matrix.nodes = Some(words.need("the number of nodes")?.whole("Nodes")?),
            "Connections" => {
                let count = words.need("the number of connections")?;
                matrix.connections = Some((count.whole("Connections")?, count.line));
            }
            "Triggers" | "Failures" => {
                words.need("a number")?.whole(first.text)?;
            }
            "trigger" => matrix.trigger(words)?,
            "failure" if options.lenient => matrix.failures += 1,
            "failure" => {
                return Err(first.wrong(
                    "a trace of flows cannot express a link failure: lenient import skips it; link.NAME.down or \
                     bottleneck.lose take links down in a scenario",
                ));
            }
            _ => matrix.connection(first, words, options)?,
        }
    }
    matrix.wait()?;
    if let Some((said, _)) = matrix.connections
        && matrix.read < said
        && !options.lenient
    {
        return Err(format!(
            "{}: the file ends after {} of {said} connections: the rest is missing, or correct the number behind Connections; \
             lenient import takes those that are there",
            end_of(text),
            matrix.read
        ));
    }
    Ok(matrix.into_imported())
}

impl<'a> ConnectionOptions<'a> {
    fn of(words: &mut Words<'a>) -> Result<Self, String> {
        let mut of = Self::default();
        while let Some(word) = words.next() {
            match word.text {
                "start" => of.start = Some(words.need("the start")?.times("start", 1)?),
                "size" => of.size = words.need("the size")?.whole("size")?,
                "trigger" => of.trigger = Some(words.need("the trigger")?),
                "send_done_trigger" | "recv_done_trigger" => {
                    of.calls.push(words.need("the trigger")?.whole(word.text)?);
                }
                "id" | "prio" | "priority" => {
                    words.need("a number")?.whole(word.text)?;
                }
                // A word of one branch of htsim. It has no number and no meaning for a flow.
                "addon" => {}
                other => {
                    return Err(word.wrong(format!(
                        "a connection has id, start, trigger, size, send_done_trigger, recv_done_trigger and prio, not {other:?}"
                    )));
                }
            }
        }
        Ok(of)
    }
}

impl<'a> Matrix<'a> {
    /// `trigger id T KIND`.
    fn trigger(&mut self, mut words: Words<'a>) -> Result<(), String> {
        let word = words.need("the word id")?;
        if word.text != "id" {
            return Err(word.wrong(format!(
                "a trigger is \"trigger id NUMBER KIND\", not {:?}",
                word.text
            )));
        }
        let id = words
            .need("the number of the trigger")?
            .whole("a trigger")?;
        let kind = words.need("the kind of the trigger")?;
        let found = match kind.text {
            "oneshot" => TriggerKind::Oneshot,
            "multishot" => TriggerKind::Multishot,
            "barrier" => {
                let word = words.need("the word count")?;
                if word.text != "count" {
                    return Err(word.wrong(format!(
                        "a barrier is \"barrier count NUMBER\", not {:?}",
                        word.text
                    )));
                }
                let count = words.need("the count of the barrier")?;
                let needs = u32::try_from(count.whole("a count")?)
                    .ok()
                    .filter(|count| *count > 0);
                TriggerKind::Barrier(
                    needs.ok_or_else(|| count.wrong("a barrier counts from 1 to 2^32"))?,
                )
            }
            other => {
                return Err(kind.wrong(format!(
                    "the kinds of triggers are oneshot, multishot and barrier, not {other:?}"
                )));
            }
        };
        self.triggers.entry(id).or_default().kind = Some(found);
        Ok(())
    }

    /// Counts a connection, whose line begins with `pair`.
    fn count(&mut self, pair: Word<'a>, options: &ImportOptions) -> Result<(), String> {
        self.read += 1;
        if let Some((said, line)) = self.connections
            && self.read > said
            && !options.lenient
        {
            return Err(pair.wrong(format!(
                "this is connection {} of {said}: correct the number in line {line}, or remove this connection; lenient \
                 import reads all",
                self.read
            )));
        }
        Ok(())
    }

    /// `A->B` and what follows.
    fn connection(
        &mut self,
        pair: Word<'a>,
        mut words: Words<'a>,
        options: &ImportOptions,
    ) -> Result<(), String> {
        self.count(pair, options)?;
        let ends = pair.text.split_once("->");
        let ends =
            ends.and_then(|(source, target)| Some((source.parse().ok()?, target.parse().ok()?)));
        let (source, target): (u64, u64) =
            ends.ok_or_else(|| pair.wrong(format!("a connection is A->B, not {:?}", pair.text)))?;
        let ConnectionOptions {
            start,
            trigger,
            size,
            calls,
        } = ConnectionOptions::of(&mut words)?;
        if let Some(most) = self.nodes.filter(|nodes| source.max(target) >= *nodes) {
            return Err(pair.wrong(format!(
                "there is no node {}: the {most} nodes are numbered from 0",
                source.max(target)
            )));
        }
        if let (Some(_), Some(trigger)) = (start, &trigger) {
            return Err(
                trigger.wrong("a connection has a start or a trigger, not both: remove one")
            );
        }
        if start.is_none() && trigger.is_none() {
            return Err(pair.wrong(
                "the connection has neither a start nor a trigger: add one, as in start 0",
            ));
        }
        let size = if size == 0 {
            options.endless.unwrap_or(0)
        } else {
            size
        };
        let skipped = size == 0 || source == target;
        self.endless += u64::from(size == 0);
        self.themselves += u64::from(size > 0 && source == target);
        if skipped {
            if let Some(trigger) = calls.first() {
                return Err(pair.wrong(format!(
                    "other connections wait for trigger {trigger} of this connection, but it never ends or waits for \
                     itself: {}",
                    if size == 0 { "import it with a size for flows without an end" } else { "correct its hosts" }
                )));
            }
            return Ok(());
        }
        let number = u32::try_from(self.flows.len())
            .map_err(|_| pair.wrong("more than 2^32 connections"))?;
        for trigger in calls {
            self.triggers
                .entry(trigger)
                .or_default()
                .callers
                .push(number);
        }
        if let Some(word) = trigger {
            self.waiting.push((number, word, word.whole("a trigger")?));
        }
        let (sender, receiver) = (
            self.hosts.host(&source.to_string()),
            self.hosts.host(&target.to_string()),
        );
        self.flows.push(ImportedFlow {
            start: start.unwrap_or(0),
            ..ImportedFlow::new((sender, receiver), size)
        });
        Ok(())
    }

    /// Resolves the triggers of waiting flows.
    fn wait(&mut self) -> Result<(), String> {
        let mut started: BTreeMap<u64, u32> = BTreeMap::new();
        for (number, word, id) in &self.waiting {
            let trigger = self.triggers.get(id);
            let Some((kind, callers)) =
                trigger.and_then(|trigger| Some((trigger.kind?, &trigger.callers)))
            else {
                return Err(word.wrong(format!(
                    "there is no trigger {id}: add a line \"trigger id {id} oneshot\""
                )));
            };
            let turn = started.entry(*id).or_default();
            *turn += 1;
            let needs = match kind {
                TriggerKind::Oneshot => 1,
                TriggerKind::Multishot => *turn,
                TriggerKind::Barrier(count) => count,
            };
            if (callers.len() as u64) < u64::from(needs) {
                return Err(word.wrong(format!(
                    "this connection waits for call {needs} of trigger {id}, but only {} connections call it: add \
                     send_done_trigger {id} to more connections",
                    callers.len()
                )));
            }
            self.flows[*number as usize].wait = Some(Box::new(Wait {
                needs,
                on: callers.iter().map(|caller| (*caller, 0)).collect(),
                line: word.line as u64,
            }));
        }
        Ok(())
    }

    fn into_imported(self) -> Imported {
        let mut notes = vec!["Host numbers are the file's node numbers.".to_owned()];
        if let Some((said, _)) = self.connections.filter(|(said, _)| *said != self.read) {
            notes.push(format!(
                "The file announces {said} connections, but has {}.",
                self.read
            ));
        }
        if !self.waiting.is_empty() {
            notes.push(
                "Connections with triggers start when the flows that call these are complete at their receivers."
                    .to_owned(),
            );
        }
        Imported {
            kind: FileKind::Htsim,
            read: self.read,
            what: "connections",
            flows: self.flows,
            hosts: self.hosts.into_names(),
            dated: false,
            skipped: vec![
                ("without an end, of size 0", self.endless),
                ("from a host to itself", self.themselves),
                (
                    "failures of links, which a trace of flows cannot express",
                    self.failures,
                ),
            ],
            notes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Imported, String> {
        super::read(text, &ImportOptions::default())
    }

    #[test]
    fn connections_start_in_picoseconds_or_by_triggers() {
        let text = "# made up\nNodes 8\nConnections 4\nTriggers 1\n0->7 start 1000000 size 2000000\n\
                    1->7 id 1 start 0 size 5 send_done_trigger 1\n2->7 id 2 trigger 1 size 6\n3->7 start 0.000 size 0\n\
                    3->3 start 0 size 1\ntrigger id 1 oneshot\n";
        let lenient = ImportOptions {
            lenient: true,
            ..ImportOptions::default()
        };
        let imported = super::read(text, &lenient).unwrap();
        let flows: Vec<_> = (imported.flows.iter())
            .map(|flow| (flow.start, flow.size))
            .collect();
        assert_eq!(flows, [(1_000_000, 2_000_000), (0, 5), (0, 6)]);
        let wait = imported.flows[2].wait.as_deref();
        assert_eq!(
            wait.map(|wait| (wait.needs, wait.on.clone(), wait.line)),
            Some((1, vec![(1, 0)], 7))
        );
        let skipped: Vec<u64> = imported.skipped.iter().map(|(_, count)| *count).collect();
        assert_eq!((imported.read, skipped), (5, vec![1, 1, 0]));
        assert!(imported.notes[1].contains("announces 4 connections, but has 5"));
        let sized = ImportOptions {
            endless: Some(7),
            ..lenient
        };
        let sized = super::read(text, &sized).unwrap();
        assert_eq!(
            sized.flows.iter().map(|flow| flow.size).collect::<Vec<_>>(),
            [2_000_000, 5, 6, 7]
        );
    }

    #[test]
    fn a_file_has_as_many_connections_as_it_says() {
        let text = |said: u32| {
            format!("Nodes 3\nConnections {said}\n0->1 start 0 size 5\n1->2 start 0 size 5\n\n")
        };
        assert_eq!(read(&text(2)).unwrap().flows.len(), 2);
        let error = read(&text(3)).unwrap_err();
        let cause =
            "line 4, column 20: the file ends after 2 of 3 connections: the rest is missing";
        assert!(error.starts_with(cause), "{error}");
        assert_eq!(
            FileKind::of(b"Nodes\nConnections 3\n"),
            Some(FileKind::Htsim)
        );
        let error = read("Nodes\nConnections 3\n").unwrap_err();
        assert!(
            error.starts_with("line 1, column 6: the number of nodes is missing"),
            "{error}"
        );
        let error = read(&text(1)).unwrap_err();
        let cause = "line 4, column 1: this is connection 2 of 1: correct the number in line 2";
        assert!(error.starts_with(cause), "{error}");
    }

    #[test]
    fn triggers_start_at_the_first_at_each_or_at_some_call() {
        let calls = "Nodes 9\n0->1 start 0 size 1 send_done_trigger 5\n0->2 start 0 size 1 recv_done_trigger 5\n\
                     0->3 start 0 size 1 send_done_trigger 5\n1->4 trigger 5 size 1\n1->5 trigger 5 size 1\n";
        let needs = |kind: &str| {
            let imported = read(&format!("{calls}trigger id 5 {kind}\n")).unwrap();
            let waits = imported.flows[3..]
                .iter()
                .map(|flow| flow.wait.as_ref().unwrap());
            waits
                .map(|wait| (wait.needs, wait.on.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(needs("oneshot"), [(1, 3), (1, 3)]);
        assert_eq!(needs("multishot"), [(1, 3), (2, 3)]);
        assert_eq!(needs("barrier count 3"), [(3, 3), (3, 3)]);
        let error = read(&format!("{calls}trigger id 5 barrier count 4\n")).unwrap_err();
        assert!(
            error.starts_with("line 5, column 14: this connection waits for call 4"),
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_is_named_by_line_column_and_remedy() {
        for (line, cause) in [
            (
                "0->2 start 0 size 1",
                "line 2, column 1: there is no node 2: the 2 nodes",
            ),
            ("0-1 start 0", "line 2, column 1: a connection is A->B"),
            (
                "0->1 start x",
                "line 2, column 12: start is a number from 0, not \"x\"",
            ),
            (
                "0->1 id 7",
                "line 2, column 1: the connection has neither a start nor a trigger",
            ),
            (
                "0->1 start 0 size",
                "line 2, column 18: the size is missing",
            ),
            (
                "0->1 begin 0",
                "line 2, column 6: a connection has id, start,",
            ),
            (
                "0->1 start 0 trigger 1 size 5",
                "line 2, column 22: a connection has a start or a trigger",
            ),
            (
                "0->1 trigger 1 size 5",
                "line 2, column 14: there is no trigger 1: add a line",
            ),
            (
                "0->1 start 0 size 0 send_done_trigger 1",
                "line 2, column 1: other connections wait for trigger 1",
            ),
            (
                "trigger id 1 twice",
                "line 2, column 14: the kinds of triggers are",
            ),
            (
                "failure 1 2",
                "line 2, column 1: a trace of flows cannot express a link failure: lenient",
            ),
        ] {
            let error = read(&format!("Nodes 2\n{line}\n")).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
        let lenient = ImportOptions {
            lenient: true,
            ..ImportOptions::default()
        };
        let imported =
            super::read("Nodes 2\n0->1 start 0 size 9\nfailure 1 2\n", &lenient).unwrap();
        assert_eq!(imported.skipped[2].1, 1);
    }
}
