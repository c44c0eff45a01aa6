//! `tailwater observe`: the privileged program watches, and this one draws what it saw, writes its scenario, and simulates
//! it if that is asked for.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use observed::{Flow, Observation, Verdict};
use protocol::Line;
use scenario::{Problem, Problems};
use serde_json::{Value, json};

use crate::args::observe::ObserveArgs;
use crate::args::text_or_json::TextOrJson;
use crate::incident::{self, Kept};
use crate::output::{self, Stop};
use crate::predict::{Modelled, page, predict};
use crate::privileged;
use crate::seen_file::write;

/// Watches a device, prints what was seen, and writes its scenario if that is asked for.
pub(crate) fn observe(args: &ObserveArgs, given: &[String]) -> Result<(), Stop> {
    let dev = match &args.dev {
        Some(dev) => dev.clone(),
        None => default_device()?,
    };
    let usual = || free(&dev);
    let out = args.out.clone().or_else(|| args.predict.then(usual));
    for (option, file) in [("--out", &args.out), ("--incident", &args.incident)] {
        if let Some(file) = file {
            check(option, file)?;
        }
    }
    let watched = Watched {
        dev: &dev,
        netns: args.netns.as_deref(),
        seconds: args.time.as_secs(),
        metrics: args.metrics.as_deref(),
    };
    let (seen, flows, notes) = watched.watch(given)?;
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    let seen_only = || answer::observed(&seen, &notes, args.flows.then_some(&flows));
    // What was seen is told before it is simulated, which takes a while.
    if args.format == TextOrJson::Table {
        output::answer(&seen_only())?;
    }
    let kept = match &args.incident {
        Some(file) => incident(file, &seen, &flows)?,
        None => None,
    };
    if let Some(kept) = kept.as_ref().filter(|_| args.format == TextOrJson::Table) {
        output::answer(&kept.text())?;
    }
    let written = match &out {
        Some(out) => write(out, &seen, &flows)?.then_some(out),
        None => None,
    };
    let modelled = match written.filter(|_| args.predict) {
        Some(out) => Some(predict(out, &seen, &flows, (given, None))?),
        None => None,
    };
    match (args.format, &modelled) {
        (TextOrJson::Json, _) => {
            let mut value = value(&seen, &flows, &notes, modelled.as_ref());
            if let Some(kept) = &kept {
                value["incident"] = kept.json();
            }
            output::answer(&output::pretty(&value))?;
        }
        (TextOrJson::Table, Some(modelled)) => {
            let Modelled {
                prediction,
                scenario,
                folder,
            } = modelled;
            let files = (&**scenario, &**folder, &*page(folder));
            output::answer(&answer::predicted(&seen, prediction, files))?;
        }
        (TextOrJson::Table, None) => {}
    }
    if args.fail_on_incast && seen.judged.verdict == Verdict::Incast {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// The worst incast, in a file.
fn incident(file: &Path, seen: &Observation, flows: &[Flow]) -> Result<Option<Kept>, Stop> {
    let kept = incident::keep(file, seen, flows)?;
    if kept.is_none() {
        output::complain(
            "no crowd of flows to one receiver lost anything, so that no incident is kept",
        );
    }
    Ok(kept)
}

/// A device to watch.
pub(crate) struct Watched<'a> {
    pub(crate) dev: &'a str,
    /// Its network namespace, if that is another one.
    pub(crate) netns: Option<&'a str>,
    /// For so long.
    pub(crate) seconds: u64,
    /// Where Prometheus may ask meanwhile.
    pub(crate) metrics: Option<&'a str>,
}

impl Watched<'_> {
    /// The observation, its flows, and remarks.
    pub(crate) fn watch(
        &self,
        given: &[String],
    ) -> Result<(Observation, Vec<Flow>, Vec<String>), Stop> {
        let seconds = self.seconds.to_string();
        let mut words: Vec<OsString> = ["observe", "--dev", self.dev, "--time-s", &seconds]
            .map(OsString::from)
            .into();
        let mut add = |name: &str, value: Option<&str>| {
            let value = value.map(|value| [name.into(), value.into()]);
            words.extend(value.into_iter().flatten());
        };
        add("--netns", self.netns);
        add("--metrics", self.metrics);
        let lines = privileged::call(given, words, &mut |_| ())?;
        let (mut flows, mut notes, mut seen) = (Vec::new(), Vec::new(), None);
        for line in lines {
            match line {
                Line::Flow(flow) => flows.push(*flow),
                Line::Note(note) => notes.push(note.text),
                Line::Observed(observed) => seen = Some(*observed),
                _ => {}
            }
        }
        let seen = seen.ok_or_else(|| {
            output::complain("tailwater-live ended without telling what it observed");
            Stop::Failed
        })?;
        Ok((seen, flows, notes))
    }
}

/// What cannot be written is told before anything is watched.
fn check(option: &str, out: &Path) -> Result<(), Problems> {
    let shown = out.display();
    if out.extension().is_none_or(|end| end != "toml") {
        let problem = Problem::new(format!("{option} {shown}: a scenario is a .toml file"));
        let problem = problem.help(format!(
            "as in {option} seen.toml; its flows are written beside it, into seen.csv"
        ));
        return Err(problem.into());
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let problem = Problem::new(format!("{option} {shown}: there is no such folder"));
        return Err(problem.help("make the folder first").into());
    }
    Ok(())
}

/// Where a prediction keeps its scenario if nothing is said: none that is there is written over.
fn free(dev: &str) -> PathBuf {
    let name = |number: u32| match number {
        1 => format!("observed-{dev}"),
        number => format!("observed-{dev}-{number}"),
    };
    let results = Path::new("results");
    let is_free = |number: &u32| {
        let name = results.join(name(*number));
        !name.exists() && !with(&name, ".toml").exists()
    };
    let number = (1..u32::MAX).find(is_free).unwrap_or(1);
    with(&results.join(name(number)), ".toml")
}

/// A path with this behind it. The names of devices may have dots.
fn with(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// The device of the default route.
fn default_device() -> Result<String, Problems> {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    device_of(&routes).ok_or_else(|| {
        let problem =
            Problem::new("this machine has no default route, whose device would be watched");
        let problem = problem.help("name a device, as in --dev eth0; `ip link` lists them");
        problem.into()
    })
}

/// Of the table of routes of IPv4 the device whose destination is everything.
fn device_of(routes: &str) -> Option<String> {
    let fields = routes.lines().skip(1).map(|line| line.split_whitespace());
    let mut rows = fields.filter_map(|mut fields| Some((fields.next()?, fields.next()?)));
    let row = rows.find(|(_, destination)| *destination == "00000000");
    row.map(|(device, _)| device.to_owned())
}

fn value(seen: &Observation, flows: &[Flow], notes: &[&str], modelled: Option<&Modelled>) -> Value {
    let mut value: Value = json!({ "observed": seen, "flows": flows, "notes": notes });
    if let Some(modelled) = modelled {
        value["predicted"] = json!(modelled.prediction);
        value["scenario"] = json!(modelled.scenario);
        value["folder"] = json!(modelled.folder);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_route_names_the_device() {
        let routes =
            "Iface\tDestination\tGateway\nbr0\t0000A8C0\t00000000\neth3\t00000000\t0100A8C0\n";
        assert_eq!(device_of(routes).as_deref(), Some("eth3"));
        assert_eq!(device_of("Iface\tDestination\n"), None);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_first() {
        assert!(check("--out", Path::new("seen.toml")).is_ok());
        let message = |path: &str| {
            check("--out", Path::new(path))
                .err()
                .map(|problems| problems.0[0].to_string())
        };
        assert!(message("seen.csv").is_some_and(|text| text.contains(".toml")));
        assert!(message("/no/such/folder/seen.toml").is_some_and(|text| text.contains("folder")));
    }
}
