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
        flows: args.flows
            || args.format == TextOrJson::Json
            || args.predict
            || args.out.is_some()
            || args.incident.is_some(),
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
                ..
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
    /// Whether each flow is wanted, too.
    pub(crate) flows: bool,
}

/// An observation with its flows.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) observation: Observation,
    /// In the order of their starts; none if they are not wanted.
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
        if !self.flows {
            words.push("--no-flows".into());
        }
        let lines = privileged::call(given, words, &mut |_| ())?;
        by_device(lines, self.devs).ok_or_else(nothing)
    }
}

/// The observation of each of these devices; `None` if the summary of one is missing.
fn by_device(lines: Vec<Line>, devs: &[String]) -> Option<Vec<Seen>> {
    let mut all: Vec<Seen> = devs.iter().map(|_| Seen::default()).collect();
    let (mut device, mut summaries) = (0, 0);
    for line in lines {
        match line {
            Line::Device(named) => device = devs.iter().position(|dev| *dev == named.device)?,
            Line::Flow(flow) => all.get_mut(device)?.flows.push(*flow),
            Line::Note(note) => all.get_mut(device)?.notes.push(note.text),
            // Summaries come in the order of the devices.
            Line::Observed(observation) => {
                all.get_mut(summaries)?.observation = *observation;
                summaries += 1;
            }
            _ => {}
        }
    }
    // Flows come in the order of their ends.
    for one in &mut all {
        let starts = |one: &Flow, other: &Flow| one.start_s.total_cmp(&other.start_s);
        one.flows.sort_by(starts);
    }
    (summaries == devs.len()).then_some(all)
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
    use protocol::DeviceLine;

    use super::*;

    #[test]
    fn the_default_route_names_the_device() {
        let routes =
            "Iface\tDestination\tGateway\nbr0\t0000A8C0\t00000000\neth3\t00000000\t0100A8C0\n";
        assert_eq!(device_of(routes).as_deref(), Some("eth3"));
        assert_eq!(device_of("Iface\tDestination\n"), None);
    }

    #[test]
    fn flows_are_those_of_the_device_that_was_named_last_in_the_order_of_their_starts() {
        let flow = |start_s| {
            let flow = Flow {
                start_s,
                ..Flow::lossless("10.0.0.1:5", "10.0.0.9:80", 1_000)
            };
            Line::Flow(Box::new(flow))
        };
        let named = |device: &str| {
            let device = device.to_owned();
            Line::Device(DeviceLine { device })
        };
        let summary = |device: &str| {
            let device = device.to_owned();
            Line::Observed(Box::new(Observation {
                device,
                ..Observation::default()
            }))
        };
        let devs = ["eth1", "eth2"].map(str::to_owned);
        let lines = vec![
            named("eth2"),
            flow(3.0),
            named("eth1"),
            flow(2.0),
            flow(1.0),
            summary("eth1"),
            named("eth2"),
            flow(0.5),
            summary("eth2"),
        ];
        let seen = by_device(lines.clone(), &devs).expect("both");
        let starts = |seen: &Seen| seen.flows.iter().map(|flow| flow.start_s).sum::<f64>();
        let of = |seen: &Seen| {
            (
                seen.observation.device.clone(),
                starts(seen),
                seen.flows.len(),
            )
        };
        assert_eq!(of(&seen[0]), ("eth1".to_owned(), 3.0, 2));
        assert_eq!(of(&seen[1]), ("eth2".to_owned(), 3.5, 2));
        assert!(
            seen.iter()
                .all(|one| one.flows[0].start_s < one.flows[1].start_s)
        );
        // One summary of two, and flows of a device that nobody named.
        assert!(by_device(lines[..6].to_vec(), &devs).is_none());
        assert!(by_device(vec![named("eth3"), flow(1.0)], &devs).is_none());
        // A single device is not named.
        let one = by_device(vec![flow(1.0), summary("eth1")], &devs[..1]).expect("it");
        assert_eq!(one[0].flows.len(), 1);
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
