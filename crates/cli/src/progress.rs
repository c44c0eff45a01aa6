//! How far a sweep has come: a bar on a terminal, elsewhere a line now and then.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::clock::now;
use crate::{output, text};

/// The progress of a sweep on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
    /// Time between two lines; none where there is a bar or nothing is to be said.
    pub(crate) every: Option<Duration>,
}

impl Progress {
    /// Of so many simulations.
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
            bar,
            start: now(),
            every: lines.then_some(EVERY),
        }
    }

    /// One simulation more is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Says something else without disturbing the bar.
    pub(crate) fn say(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// A line, where there is no bar.
    pub(crate) fn tick(&self) {
        output::complain(&self.line(self.start.elapsed()));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    #[expect(clippy::cast_precision_loss, reason = "rounded for people")]
    fn line(&self, elapsed: Duration) -> String {
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
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

/// The command `given`, with `more` arguments behind it, as a shell reads it.
pub(crate) fn command(given: &[String], more: &[&str]) -> String {
    let all = given.iter().map(String::as_str).chain(more.iter().copied());
    all.map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
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
    fn a_line_of_progress_says_what_is_done_and_what_is_left() {
        let progress = Progress::new(2880, true);
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
