//! Converts times of a file's clock to times of the simulation.

use base::Sort as _;
use base::{Span, Time};

use super::moment::{self, LATEST, lasting};
use super::reading::{Bound, TraceFileSettings};
use super::rows::{Read, Row};
use super::{FlowTrace, TracedFlow};

/// The flows of `read` that `reading` selects, on the clock of the simulation.
///
/// Times are shifted in three cases: the starts are dates, they exceed the range of the simulation, or a window is
/// selected. Then the first flow, or the beginning of the window, is moved to [`TraceFileSettings::start`]. Otherwise
/// times stay as they are.
pub(super) fn place(mut read: Read, reading: &TraceFileSettings) -> Result<FlowTrace, String> {
    if reading.window.is_part() && !read.waits.is_empty() {
        return Err("workload.window cannot select a part of this trace, because its flows wait for others: leave \
            workload.window out"
            .to_owned());
    }
    let mut notes: Vec<String> = read.hosts.note().into_iter().collect();
    let clock = Clock::of(&read);
    let zero = clock.choose(&mut read.rows, reading, &mut notes)?;
    let at = u128::from(reading.start.as_ps());
    let put = |t: u128| zero.map_or(t, |zero| (t + at).saturating_sub(zero));
    let gaps = reading.max_gap.map(|most| Gaps::of(&read.rows, &put, most));
    notes.extend(gaps.as_ref().and_then(Gaps::note));
    let time = |t: u128| gaps.as_ref().map_or(put(t), |gaps| gaps.shorten(put(t)));
    let flows = read.rows.iter().map(|row| flow(row, &time));
    Ok(FlowTrace {
        flows: flows.collect::<Result<Vec<_>, String>>()?,
        groups: read.groups,
        waits: read.waits,
        hosts: read.hosts.table(),
        notes,
        fingerprint: None,
    })
}

/// The clock of a file.
struct Clock {
    /// Its first and its last start.
    first: u128,
    last: u128,
    /// Whether it counts from 1970.
    dated: bool,
    /// Whether times are shifted.
    moved: bool,
}

impl Clock {
    fn of(read: &Read) -> Self {
        let timed = || read.rows.iter().filter(|row| row.waits.is_none());
        let starts = || timed().map(|row| row.start);
        let first = starts().min().unwrap_or(0);
        let dated = read.dated || first >= YEAR;
        Self {
            first,
            last: starts().max().unwrap_or(0),
            dated,
            moved: dated || first >= LATEST,
        }
    }

    /// Keeps the rows in the window of `reading`, and returns the time that is moved to [`TraceFileSettings::start`],
    /// if any.
    fn choose(
        &self,
        rows: &mut Vec<Row>,
        reading: &TraceFileSettings,
        notes: &mut Vec<String>,
    ) -> Result<Option<u128>, String> {
        let (all, window) = (rows.len(), &reading.window);
        let origin = if self.moved { self.first } else { 0 };
        let bound = |bound: Option<Bound>| match bound {
            None => Ok(None),
            Some(Bound::After(ps)) => Ok(Some(origin.saturating_add(ps))),
            Some(Bound::Date(unix)) if self.dated => Ok(Some(unix)),
            Some(Bound::Date(_)) => Err(
                "workload.window has dates, but the starts of the trace are not dates: count from 0, as in \"1h..2h\"",
            ),
        };
        let (from, to) = (bound(window.bounds.0)?, bound(window.bounds.1)?);
        rows.retain(|row| {
            from.is_none_or(|from| row.start >= from) && to.is_none_or(|to| row.start < to)
        });
        if rows.is_empty() {
            return Err(format!(
                "no flow starts in workload.window; the first starts at {}, the last at {}",
                self.name(self.first),
                self.name(self.last)
            ));
        }
        let zero = if window.is_part() {
            Some(from.unwrap_or(origin))
        } else {
            self.moved.then_some(origin)
        };
        if let Some(zero) = zero {
            let what = if window.is_part() {
                format!(
                    "workload.window takes {} of {all} flows; it begins",
                    rows.len()
                )
            } else {
                "the first flow starts".to_owned()
            };
            let zero = self.name(zero);
            notes.push(format!(
                "{what} at {zero}, which is put at {} of the simulation",
                reading.start
            ));
        }
        Ok(zero)
    }

    fn name(&self, ps: u128) -> String {
        if self.dated {
            moment::written(ps)
        } else {
            lasting(ps)
        }
    }
}

fn flow(row: &Row, time: &dyn Fn(u128) -> u128) -> Result<TracedFlow, String> {
    let start = match row.waits {
        None => time(row.start),
        Some(_) => row.start,
    };
    if start >= LATEST {
        return Err(format!(
            "a flow starts {} after the beginning, beyond the limit of {}; select a part of the trace with \
             workload.window, or shorten idle times with workload.max_gap",
            lasting(start),
            lasting(LATEST)
        ));
    }
    let moment =
        |ps: u128| Time::from_ps(u64::try_from(ps).expect("earlier than the latest start"));
    Ok(TracedFlow {
        start: moment(start),
        waits: row.waits,
        open: row.open.map(|open| moment(time(open))),
        request: row.request,
        size: row.size,
        sender: row.sender,
        receiver: row.receiver,
        connection: row.connection,
        round: row.round,
        group: row.group,
    })
}

/// Periods without a start that are longer than allowed.
struct Gaps {
    most: u128,
    /// For each such period: the start before it, the start after it, and the total time cut up to its end.
    gaps: Vec<(u128, u128, u128)>,
}

impl Gaps {
    fn of(rows: &[Row], put: &dyn Fn(u128) -> u128, most: Span) -> Self {
        let most = u128::from(most.as_ps());
        let timed = rows.iter().filter(|row| row.waits.is_none());
        let mut starts: Vec<u128> = timed.map(|row| put(row.start)).collect();
        starts.order_unstable();
        let (mut gaps, mut before, mut removed) = (Vec::new(), 0, 0);
        for start in starts {
            if start - before > most {
                removed += start - before - most;
                gaps.push((before, start, removed));
            }
            before = start;
        }
        Self { most, gaps }
    }

    /// Where `t` comes to lie.
    fn shorten(&self, t: u128) -> u128 {
        let behind = self.gaps.partition_point(|(_, end, _)| *end <= t);
        let removed = behind.checked_sub(1).map_or(0, |last| self.gaps[last].2);
        let inside = self
            .gaps
            .get(behind)
            .filter(|(begin, ..)| t > begin + self.most);
        inside.map_or(t, |(begin, ..)| begin + self.most) - removed
    }

    fn note(&self) -> Option<String> {
        let (_, _, removed) = self.gaps.last()?;
        let (times, are) = if self.gaps.len() == 1 {
            ("time", "is")
        } else {
            ("times", "are")
        };
        Some(format!(
            "{} {times} of more than {} without a start {are} shortened to that, by {} together",
            self.gaps.len(),
            lasting(self.most),
            lasting(*removed)
        ))
    }
}

/// Later starts than this in a file are dates, as numbers since 1970. No collector's own clock counts a year from its
/// start.
const YEAR: u128 = 366 * 86_400 * moment::SECOND as u128;
