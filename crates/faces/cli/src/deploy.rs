//! `tailwater observe`, `attach`, `status`, `detach` and `doctor`: the privileged program does it, and this one draws it.

use std::ffi::OsString;

use scenario::{Overrides, Scenario, Source};
use schemes::linux::attachable;
use serde_json::{Value, json};
use text::deployment;

use crate::args::deploy::{AttachArgs, DeployCommand, DetachArgs, DoctorArgs, StatusArgs};
use crate::args::told::Told;
use crate::observe::observe;
use crate::output::{self, Stop};
use crate::privileged;
use crate::progress::command as shell;

/// Does what the command says, which was `given` as these words.
pub(crate) fn deploy(command: &DeployCommand, given: &[String]) -> Result<(), Stop> {
    match command {
        DeployCommand::Observe(args) => observe(args, given),
        DeployCommand::Attach(args) => attach(args, given),
        DeployCommand::Status(args) => status(args, given),
        DeployCommand::Detach(args) => detach(args, given),
        DeployCommand::Doctor(args) => doctor(args, given),
    }
}

/// Puts a law at a port.
fn attach(args: &AttachArgs, given: &[String]) -> Result<(), Stop> {
    check(args)?;
    let mut words = words(
        &["attach", &args.scheme, "--dev", &args.dev],
        args.netns.as_deref(),
    );
    let mut add = |name: &str, value: &str| words.extend([name.into(), value.into()]);
    args.sets.iter().for_each(|set| add("--set", set));
    if let Some(bytes) = args.buffer {
        add("--buffer", &bytes.to_string());
    }
    if let Some(device) = &args.queue_of {
        add("--queue-of", device);
    }
    if let Some(lease) = args.lease {
        add("--lease-s", &lease.as_secs().to_string());
    }
    words.extend(args.no_retract.then(|| "--no-retract".into()));
    words.extend(args.dry_run.then(|| "--dry-run".into()));
    let lines = privileged::call(given, words, &mut |_| ())?;
    let told = lines.into_iter().next().unwrap_or_default();
    output::answer(&match args.format {
        Told::Table => deployment::attach(&told),
        Told::Json => pretty(&told),
    })
}

/// Tells what is attached.
fn status(args: &StatusArgs, given: &[String]) -> Result<(), Stop> {
    let mut words = words(&["status"], args.netns.as_deref());
    if let Some(dev) = &args.dev {
        words.extend(["--dev".into(), dev.into()]);
    }
    if let Some(address) = &args.metrics {
        words.extend(["--metrics".into(), address.into()]);
    }
    let lines = privileged::call(given, words, &mut |_| ())?;
    output::answer(&match args.format {
        Told::Table => deployment::status(&lines),
        Told::Json => pretty(&json!({ "attached": lines })),
    })
}

/// Takes laws away.
fn detach(args: &DetachArgs, given: &[String]) -> Result<(), Stop> {
    let mut words = words(&["detach"], args.netns.as_deref());
    if let Some(dev) = &args.dev {
        words.extend(["--dev".into(), dev.into()]);
    }
    words.extend(args.dry_run.then(|| "--dry-run".into()));
    let lines = privileged::call(given, words, &mut |_| ())?;
    output::answer(&deployment::detach(&lines))
}

/// Tries what works on this machine.
fn doctor(args: &DoctorArgs, given: &[String]) -> Result<(), Stop> {
    let mut told = Value::Null;
    let done = privileged::call(given, words(&["doctor"], None), &mut |line| {
        told = line.clone();
    });
    if told.is_object() {
        output::answer(&match args.format {
            Told::Table => deployment::doctor(&told, &shell(given, &[])),
            Told::Json => pretty(&told),
        })?;
        // The input cannot be wrong: something lacks.
        return done.map(drop).map_err(|_| Stop::Lacking);
    }
    done.map(drop)
}

/// What is wrong with settings is told with its place; the other program reads them again.
fn check(args: &AttachArgs) -> Result<(), Stop> {
    let (scheme, _) = attachable(&args.scheme).expect("the argument is one of these");
    let overrides = Overrides {
        schemes: Some(scheme.name.to_owned()),
        sets: args.sets.clone(),
        ..Overrides::default()
    };
    // A file without any setting would be taken for a mistake.
    let nothing = Source::new("settings", "seed = 1\n[switch]\nbuffer = \"1GB\"\n");
    Scenario::load(nothing, &overrides)?;
    Ok(())
}

fn words(first: &[&str], netns: Option<&str>) -> Vec<OsString> {
    let netns = netns.map(|netns| ["--netns", netns]);
    let all = first.iter().copied().chain(netns.into_iter().flatten());
    all.map(OsString::from).collect()
}

fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value);
    text.unwrap_or_default() + "\n"
}
