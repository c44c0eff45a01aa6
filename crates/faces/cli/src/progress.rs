//! The progress of a sweep: a bar on a terminal, otherwise a line now and then.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use answer::words::quoted;
use api::clock::now;
use api::forecast::Forecast;
use api::{Error, Point, PointFailure, StageWork, cores};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scenario::Problem;

use crate::output;
use crate::watch::watched;

/// The progress of a sweep on standard error.
pub(crate) struct Bar {
    inner: ProgressBar,
    start: Instant,
    /// How long everything is expected to take.
    forecast: Forecast,
    /// Whether failed points are named at once.
    pub(crate) says_failures: bool,
    /// Whether only failures are printed.
    quiet: bool,
    /// The time between two lines; `None` with a bar or without output.
    pub(crate) every: Option<Duration>,
}

impl Bar {
    /// One simulation more is done.
    pub(crate) fn advance(&self, expected: f64) {
        self.inner.inc(1);
        self.worked(expected);
    }

    /// Something that was expected to take this many seconds is done.
    pub(crate) fn worked(&self, expected: f64) {
        let elapsed = self.start.elapsed();
        self.forecast.done(expected, elapsed);
        let left = self.left(elapsed);
        let left = left.map_or_else(String::new, |left| format!(", {left}"));
        self.inner.set_message(left);
    }

    /// Reports the number of simulations at a time, and the number that was wanted.
    pub(crate) fn begins(&self, jobs: NonZeroUsize, wanted: Option<NonZeroUsize>) {
        if !self.quiet {
            self.say(|| say_memory(jobs, wanted));
        }
    }

    /// A simulation has failed.
    pub(crate) fn failed(&self, point: &Point, failure: &PointFailure) {
        if self.says_failures {
            let line = format!("failed: {}: {failure}", describe(point));
            self.say(|| output::complain(&line));
        }
    }

    /// A bar for `points` simulations, which are expected to take `expected` seconds with their tables and pictures.
    pub(crate) fn new(points: usize, expected: f64, quiet: bool) -> Self {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(points as u64), target);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} simulations{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let lines = !quiet && !io::stderr().is_terminal();
        Self {
            inner: bar,
            start: now(),
            forecast: Forecast::of(expected),
            says_failures: true,
            quiet,
            every: lines.then_some(EVERY),
        }
    }

    /// Prints something else without disturbing the bar.
    pub(crate) fn say(&self, say: impl FnOnce()) {
        self.inner.suspend(say);
    }

    /// Prints a line if there is no bar.
    pub(crate) fn tick(&self) {
        output::complain(&self.line(self.start.elapsed()));
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.inner.finish_and_clear();
    }

    fn line(&self, elapsed: Duration) -> String {
        let (done, all) = (self.inner.position(), self.inner.length().unwrap_or(0));
        let took = duration(elapsed);
        let line = match (all, all - done) {
            (0, _) => format!("no simulation is missing; reading results for {took}"),
            (_, 0) => format!(
                "all {} simulations after {took}",
                answer::words::grouped(all)
            ),
            _ => {
                let (done, all) = (answer::words::grouped(done), answer::words::grouped(all));
                format!("{done} of {all} simulations after {took}")
            }
        };
        let left = self.left(elapsed);
        left.map_or_else(|| line.clone(), |left| format!("{line}, {left}"))
    }

    /// The remaining time in words; `None` if it is unknown.
    fn left(&self, elapsed: Duration) -> Option<String> {
        let left = self.forecast.end(elapsed)?.saturating_sub(elapsed);
        Some(match left.as_secs() {
            0 => "nearly done".to_owned(),
            _ => format!("about {} left", duration(left)),
        })
    }
}

/// The bar of the current stage, if there is one.
#[derive(Default)]
pub(crate) struct Current(RwLock<Option<Bar>>);

impl Current {
    /// Does the work of a stage with this bar. If a signal asks the process to end, removes the bar and calls `tell`.
    pub(crate) fn during(
        &self,
        bar: Bar,
        tell: impl FnOnce() + Send,
        work: StageWork<'_>,
    ) -> Result<(), Error> {
        let every = bar.every;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(bar);
        let tell = || {
            self.with(Bar::clear);
            tell();
        };
        let done = watched(every, || self.with(Bar::tick), tell, work);
        self.with(Bar::clear);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
        done
    }

    /// Calls `act` with the bar, if there is one.
    pub(crate) fn with(&self, act: impl FnOnce(&Bar)) {
        let bar = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = &*bar {
            act(bar);
        }
    }
}

/// Reports that not all cores are used.
pub(crate) fn say_memory(jobs: NonZeroUsize, wanted: Option<NonZeroUsize>) {
    let wanted = wanted.unwrap_or_else(cores);
    if jobs < wanted {
        let text = format!("memory allows {jobs} of {wanted} simulations at a time");
        output::problems(&[Problem::warning(text).help("--memory SIZE raises the limit")]);
    }
}

/// Reports the seconds that the work takes with `jobs` simulations at a time, unless it is short. `causes` are seconds
/// of possible further work, at most.
pub(crate) fn say_duration(seconds: f64, causes: f64, jobs: NonZeroUsize) {
    if let Some(line) = expected(seconds, causes, jobs) {
        output::complain(&line);
    }
}

fn expected(seconds: f64, causes: f64, jobs: NonZeroUsize) -> Option<String> {
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    let causes = Duration::try_from_secs_f64(causes).ok()?;
    (time + causes >= LONG).then(|| {
        let more = if causes.is_zero() {
            String::new()
        } else {
            let causes = duration(causes);
            format!(", then up to {causes} for other readings and causes")
        };
        let time = duration(time);
        format!("expected to last about {time}{more}, {jobs} at a time; what is done is kept")
    })
}

/// The time from which a duration is reported before the work begins.
const LONG: Duration = Duration::from_secs(30);

/// A point in words.
fn describe(point: &Point) -> String {
    let set = point.settings();
    let set = set.map(|(key, value)| format!("{key} = {value}, "));
    let set = set.collect::<Vec<_>>().concat();
    format!("{}, {set}seed {}", point.scheme(), point.seed())
}

/// The command `given` with `more` arguments appended, as a shell reads it.
pub(crate) fn command(given: &[String], more: &[&str]) -> String {
    let all = given.iter().map(String::as_str).chain(more.iter().copied());
    all.map(quoted).collect::<Vec<_>>().join(" ")
}

/// A time in the units that fit.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 3600 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        seconds if seconds >= 60 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{seconds} s"),
    }
}

/// Often enough for a waiting user, with few lines in a log.
const EVERY: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_says_how_long() {
        let two = NonZeroUsize::new(2).expect("above zero");
        assert_eq!(expected(25.0, 0.0, two), None, "too short to say so");
        let line = expected(900.0, 0.0, two).expect("15 min");
        assert_eq!(
            line,
            "expected to last about 15 min 0 s, 2 at a time; what is done is kept"
        );
        let line = expected(90.0, 420.0, two).expect("8 min 30 s");
        assert_eq!(
            line,
            "expected to last about 1 min 30 s, then up to 7 min 0 s for other readings and causes, 2 at a time; what is \
             done is kept"
        );
        assert_eq!(expected(f64::NAN, 0.0, two), None);
    }

    #[test]
    fn a_line_of_progress_says_what_is_done_and_what_is_left() {
        // 2,880 simulations that are expected to take 6 minutes, and tables that take one.
        let progress = Bar::new(2880, 420.0, true);
        let line = |seconds| progress.line(Duration::from_secs(seconds));
        let nothing = "0 of 2,880 simulations after 1 min 30 s, about 5 min 30 s left";
        assert_eq!(line(90), nothing);
        (0..2880).for_each(|_| progress.inner.inc(1));
        progress.forecast.done(360.0, Duration::from_mins(6));
        let left = "all 2,880 simulations after 6 min 20 s, about 40 s left";
        assert_eq!(line(380), left, "the last simulation is not the end");
        let nearly = "all 2,880 simulations after 8 min 0 s, nearly done";
        assert_eq!(line(480), nearly);
    }

    #[test]
    fn a_stage_without_simulations_counts_none() {
        let progress = Bar::new(0, 10.0, true);
        let line = progress.line(Duration::from_secs(4));
        let expected = "no simulation is missing; reading results for 4 s, about 6 s left";
        assert_eq!(line, expected);
    }
}
