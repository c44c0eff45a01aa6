//! How far a sweep has come: a bar on a terminal, elsewhere a line now and then.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scenario::{PointSpec, Problem};
use sim::sweep::Failure;

use crate::clock::now;
use crate::output;
use crate::request::cores;
use crate::told::Progress;

/// The progress of a sweep on standard error.
pub(crate) struct Bar {
    inner: ProgressBar,
    start: Instant,
    /// Whether points that fail are named at once.
    pub(crate) says_failures: bool,
    /// Whether nothing but failures is said.
    quiet: bool,
    /// Time between two lines; none where there is a bar or nothing is to be said.
    pub(crate) every: Option<Duration>,
}

impl Progress for Bar {
    fn advance(&self) {
        self.inner.inc(1);
    }

    fn begins(&self, jobs: NonZeroUsize, wanted: Option<NonZeroUsize>) {
        if !self.quiet {
            self.say(|| say_memory(jobs, wanted));
        }
    }

    fn failed(&self, point: &PointSpec, failure: &Failure) {
        if self.says_failures {
            let line = format!("failed: {}: {failure}", describe(point));
            self.say(|| output::complain(&line));
        }
    }
}

impl Bar {
    /// Of `points` simulations.
    pub(crate) fn new(points: usize, quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(points as u64), target);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let lines = !quiet && !io::stderr().is_terminal();
        Self {
            inner: bar,
            start: now(),
            says_failures: true,
            quiet,
            every: lines.then_some(EVERY),
        }
    }

    /// Says something else without disturbing the bar.
    pub(crate) fn say(&self, say: impl FnOnce()) {
        self.inner.suspend(say);
    }

    /// A line, where there is no bar.
    pub(crate) fn tick(&self) {
        output::complain(&self.line(self.start.elapsed()));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.inner.finish_and_clear();
    }

    #[expect(clippy::cast_precision_loss, reason = "rounded for people")]
    fn line(&self, elapsed: Duration) -> String {
        let (done, all) = (self.inner.position(), self.inner.length().unwrap_or(0));
        let took = duration(elapsed);
        let line = format!(
            "{} of {} simulations after {took}",
            text::grouped(done),
            text::grouped(all)
        );
        if done == 0 {
            return line;
        }
        let left = elapsed.mul_f64(all.saturating_sub(done) as f64 / done as f64);
        format!("{line}, about {} left", duration(left))
    }
}

/// Says that not all cores are used.
pub(crate) fn say_memory(jobs: NonZeroUsize, wanted: Option<NonZeroUsize>) {
    let wanted = wanted.unwrap_or_else(cores);
    if jobs < wanted {
        let text = format!("memory allows {jobs} of {wanted} simulations at a time");
        output::problems(&[Problem::warning(text).help("--memory SIZE raises the limit")]);
    }
}

/// Says about how long this many steps take in this many simulations at a time, if that is long.
pub(crate) fn say_duration(steps: f64, jobs: Option<NonZeroUsize>) {
    let jobs = jobs.unwrap_or_else(cores);
    if let Some(line) = expected(steps, jobs) {
        output::complain(&line);
    }
}

#[expect(clippy::cast_precision_loss, reason = "machines have few cores")]
fn expected(steps: f64, jobs: NonZeroUsize) -> Option<String> {
    let seconds = steps / STEPS_PER_SECOND / jobs.get() as f64;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (time >= LONG).then(|| {
        let time = duration(time);
        format!("expected to last about {time}, {jobs} at a time; what is done is kept")
    })
}

/// Packets cross this many links a second in a simulation on one core: 154 million in 13.5 s in Fig. 3 of
/// RWNDQ (`tailwater reproduce rwndq/fig3 --seeds 4`).
const STEPS_PER_SECOND: f64 = 10e6;
/// Time from which on it is worth a line.
const LONG: Duration = Duration::from_secs(30);

/// A point in words.
pub(crate) fn describe(point: &PointSpec) -> String {
    let set = point
        .set
        .iter()
        .map(|(key, value)| format!("{key} = {value}, "));
    let set = set.collect::<Vec<_>>().concat();
    format!("{}, {set}seed {}", point.scheme, point.seed)
}

/// The command `given`, with `more` arguments behind it, as a shell reads it.
pub(crate) fn command(given: &[String], more: &[&str]) -> String {
    let all = given.iter().map(String::as_str).chain(more.iter().copied());
    all.map(quoted).collect::<Vec<_>>().join(" ")
}

pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,=:+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A time in the units that fit.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 3600 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        seconds if seconds >= 60 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{seconds} s"),
    }
}

/// Often enough for whoever waits, and few lines in a log.
const EVERY: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_says_how_long() {
        let two = NonZeroUsize::new(2).expect("above zero");
        assert_eq!(expected(500e6, two), None, "25 s");
        let line = expected(18e9, two).expect("15 min");
        assert_eq!(
            line,
            "expected to last about 15 min 0 s, 2 at a time; what is done is kept"
        );
        assert_eq!(expected(f64::NAN, two), None);
    }

    #[test]
    fn a_line_of_progress_says_what_is_done_and_what_is_left() {
        let progress = Bar::new(2880, true);
        let line = || progress.line(Duration::from_secs(90));
        assert_eq!(line(), "0 of 2,880 simulations after 1 min 30 s");
        (0..720).for_each(|_| progress.advance());
        let left = "720 of 2,880 simulations after 1 min 30 s, about 4 min 30 s left";
        assert_eq!(line(), left);
    }

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(
            quoted("workload.senders=1..20:1"),
            "workload.senders=1..20:1"
        );
        assert_eq!(quoted("pareto(50KB, 1.2)"), "'pareto(50KB, 1.2)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
