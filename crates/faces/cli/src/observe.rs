//! `tailwater observe`: the privileged program watches. This one prints the results, writes the scenario and, if
//! wanted, simulates it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use observed::{Flow, Observation, ObservedVerdict};
use protocol::Line;
use scenario::{Overrides, Problem, Problems};
use serde_json::{Value, json};

use crate::args::observe::ObserveArgs;
use crate::args::text_or_json::TextOrJson;
use crate::incident::{self, Kept};
use crate::output::{self, Stop};
use crate::predict::{Modelled, page, predict};
use crate::privileged;
use crate::seen_file::write;

/// Watches devices, prints the results, and writes the scenario of one device if wanted.
pub(crate) fn observe(args: &ObserveArgs, given: &[String]) -> Result<(), Stop> {
    let devs = match &args.dev[..] {
        [] => vec![default_device()?],
        devs => devs.to_vec(),
    };
    let watched = Watched {
        devs: &devs,
        netns: args.netns.as_deref(),
        seconds: args.time.as_secs(),
        metrics: args.metrics.as_deref(),
    };
    match &devs[..] {
        [dev] => observe_one(dev, &watched, args, given),
        _ => observe_several(&watched, args, given),
    }
}

/// Watches several devices at once, each with its own verdict.
fn observe_several(
    watched: &Watched<'_>,
    args: &ObserveArgs,
    given: &[String],
) -> Result<(), Stop> {
    are_several(args)?;
    let all = watched.watch(given)?;
    let seen = all.iter().map(|one| &one.observation);
    match args.format {
        TextOrJson::Table => {
            let mut text = answer::verdicts(&seen.clone().collect::<Vec<_>>());
            for one in &all {
                text += &one.text(args.flows);
            }
            output::answer(&text)?;
        }
        TextOrJson::Json => {
            let devices = all.iter().map(|one| one.value(None));
            let devices: Vec<_> = devices.collect();
            output::answer(&output::pretty(&json!({ "devices": devices })))?;
        }
    }
    let mut verdicts = seen.map(|seen| seen.judged.verdict);
    if args.fail_on_incast && verdicts.any(|verdict| verdict == ObservedVerdict::Incast) {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// Refuses options that only apply to one device.
fn are_several(args: &ObserveArgs) -> Result<(), Problems> {
    let options = [
        ("--out", args.out.is_some()),
        ("--predict", args.predict),
        ("--incident", args.incident.is_some()),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, given)| *given) {
        let problem = Problem::new(format!("{option}: a scenario describes only one device"));
        return Err(problem.help("name one device with --dev").into());
    }
    let twice = |(place, dev): &(usize, &String)| args.dev[..*place].contains(dev);
    if let Some((_, dev)) = args.dev.iter().enumerate().find(twice) {
        let problem = Problem::new(format!("--dev {dev} is given twice"));
        return Err(problem.help("name each device once").into());
    }
    Ok(())
}

fn observe_one(
    dev: &str,
    watched: &Watched<'_>,
    args: &ObserveArgs,
    given: &[String],
) -> Result<(), Stop> {
    let usual = || free(dev);
    let out = args.out.clone().or_else(|| args.predict.then(usual));
    for (option, file) in [("--out", &args.out), ("--incident", &args.incident)] {
        if let Some(file) = file {
            check(option, file)?;
        }
    }
    let one = watched.watch_one(given)?;
    let (seen, flows) = (&one.observation, &one.flows);
    // The observation is printed before the simulation, which takes a while.
    if args.format == TextOrJson::Table {
        output::answer(&one.text(args.flows))?;
    }
    let kept = match &args.incident {
        Some(file) => incident(file, seen, flows)?,
        None => None,
    };
    if let Some(kept) = kept.as_ref().filter(|_| args.format == TextOrJson::Table) {
        output::answer(&kept.text())?;
    }
    let written = match &out {
        Some(out) => write(out, seen, flows)?.then_some(out),
        None => None,
    };
    let modelled = match written.filter(|_| args.predict) {
        Some(out) => Some(predict(out, seen, flows, (given, Overrides::default()))?),
        None => None,
    };
    match (args.format, &modelled) {
        (TextOrJson::Json, _) => {
            let mut value = one.value(modelled.as_ref());
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
            output::answer(&answer::predicted(seen, prediction, files))?;
        }
        (TextOrJson::Table, None) => {}
    }
    if args.fail_on_incast && seen.judged.verdict == ObservedVerdict::Incast {
        return Err(Stop::Failed);
    }
    Ok(())
}

/// The worst incast, in a file.
fn incident(file: &Path, seen: &Observation, flows: &[Flow]) -> Result<Option<Kept>, Stop> {
    let kept = incident::keep(file, seen, flows)?;
    if kept.is_none() {
        output::complain(
            "no incident is kept: no group of simultaneous flows to one receiver lost a packet",
        );
    }
    Ok(kept)
}

/// Devices to watch.
pub(crate) struct Watched<'a> {
    pub(crate) devs: &'a [String],
    /// The devices' network namespace, if it is another one.
    pub(crate) netns: Option<&'a str>,
    /// For so long.
    pub(crate) seconds: u64,
    /// The address at which Prometheus may ask meanwhile.
    pub(crate) metrics: Option<&'a str>,
}

/// An observation with its flows.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) observation: Observation,
    pub(crate) flows: Vec<Flow>,
    /// Remarks.
    notes: Vec<String>,
}

impl Watched<'_> {
    /// The observation of the first device.
    pub(crate) fn watch_one(&self, given: &[String]) -> Result<Seen, Stop> {
        let mut all = self.watch(given)?.into_iter();
        all.next().ok_or_else(nothing)
    }

    /// The observation of each device.
    fn watch(&self, given: &[String]) -> Result<Vec<Seen>, Stop> {
        let seconds = self.seconds.to_string();
        let mut words: Vec<OsString> = ["observe", "--time-s", &seconds].map(OsString::from).into();
        let mut add = |name: &str, value: Option<&str>| {
            let value = value.map(|value| [name.into(), value.into()]);
            words.extend(value.into_iter().flatten());
        };
        for dev in self.devs {
            add("--dev", Some(dev));
        }
        add("--netns", self.netns);
        add("--metrics", self.metrics);
        let lines = privileged::call(given, words, &mut |_| ())?;
        // The flows and the remarks of a device come before its summary.
        let (mut all, mut next) = (Vec::new(), Seen::default());
        for line in lines {
            match line {
                Line::Flow(flow) => next.flows.push(*flow),
                Line::Note(note) => next.notes.push(note.text),
                Line::Observed(observation) => all.push(Seen {
                    observation: *observation,
                    ..std::mem::take(&mut next)
                }),
                _ => {}
            }
        }
        if all.len() < self.devs.len() {
            return Err(nothing());
        }
        Ok(all)
    }
}

fn nothing() -> Stop {
    output::complain("tailwater-live ended without a report of its observation");
    Stop::Failed
}

impl Seen {
    /// For people.
    fn text(&self, with_flows: bool) -> String {
        let notes: Vec<&str> = self.notes.iter().map(String::as_str).collect();
        answer::observed(&self.observation, &notes, with_flows.then_some(&self.flows))
    }

    /// For programs.
    fn value(&self, modelled: Option<&Modelled>) -> Value {
        let mut value: Value = json!({
            "observed": self.observation, "flows": self.flows, "notes": self.notes,
        });
        if let Some(modelled) = modelled {
            value["predicted"] = json!(modelled.prediction);
            value["scenario"] = json!(modelled.scenario);
            value["folder"] = json!(modelled.folder);
        }
        value
    }
}

/// Checks that the files can be written before anything is watched.
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
        return Err(problem.help("create the folder first").into());
    }
    Ok(())
}

/// The default path of a prediction's scenario; no existing file is replaced.
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

/// A path with this suffix. Names of devices may contain dots.
fn with(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// The device of the default route.
fn default_device() -> Result<String, Problems> {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    device_of(&routes).ok_or_else(|| {
        let problem = Problem::new(
            "this machine has no default route, so there is no default device to watch",
        );
        let problem = problem.help("name a device, as in --dev eth0; `ip link` lists them");
        problem.into()
    })
}

/// The device of the default route in the IPv4 routing table.
fn device_of(routes: &str) -> Option<String> {
    let fields = routes.lines().skip(1).map(|line| line.split_whitespace());
    let mut rows = fields.filter_map(|mut fields| Some((fields.next()?, fields.next()?)));
    let row = rows.find(|(_, destination)| *destination == "00000000");
    row.map(|(device, _)| device.to_owned())
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
