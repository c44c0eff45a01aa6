//! `tailwater observe`, `attach`, `certify`, `status`, `detach` and `doctor`: the privileged program does the work, and
//! this one prints the results.

use std::ffi::OsString;

use answer::deployment;
use protocol::{DetachLine, Line, StatusLine};
use serde_json::json;

use crate::args::deploy::{AttachArgs, DeployCommand, DetachArgs, DoctorArgs, StatusArgs};
use crate::args::text_or_json::TextOrJson;
use crate::certify::certify;
use crate::law_settings;
use crate::observe::observe;
use crate::output::{self, Stop};
use crate::privileged;
use crate::progress::command as shell;
use crate::trial::trial;

/// Runs the command, which the user `given` as these words.
pub(crate) fn deploy(command: &DeployCommand, given: &[String]) -> Result<(), Stop> {
    match command {
        DeployCommand::Observe(args) => observe(args, given),
        DeployCommand::Attach(args) => attach(args, given),
        DeployCommand::Certify(args) => certify(args, given),
        DeployCommand::Trial(args) => trial(args, given),
        DeployCommand::Status(args) => status(args, given),
        DeployCommand::Detach(args) => detach(args, given),
        DeployCommand::Doctor(args) => doctor(args, given),
    }
}

/// Puts a law at a port.
fn attach(args: &AttachArgs, given: &[String]) -> Result<(), Stop> {
    law_settings::check(&args.scheme, &args.law.sets)?;
    let mut words = words(
        &["attach", &args.scheme, "--dev", &args.dev],
        args.law.netns.as_deref(),
    );
    let mut add = |name: &str, value: &str| words.extend([name.into(), value.into()]);
    args.law.sets.iter().for_each(|set| add("--set", set));
    if let Some(bytes) = args.law.buffer {
        add("--buffer", &bytes.to_string());
    }
    if let Some(device) = &args.queue_of {
        add("--queue-of", device);
    }
    if let Some(lease) = args.lease {
        add("--lease-s", &lease.as_secs().to_string());
    }
    for (name, file) in [("--log", &args.log), ("--certified", &args.certified)] {
        if let Some(file) = file {
            words.extend([name.into(), file.clone().into()]);
        }
    }
    words.extend(args.shadow.then(|| "--shadow".into()));
    words.extend(args.no_retract.then(|| "--no-retract".into()));
    words.extend(args.dry_run.then(|| "--dry-run".into()));
    let lines = privileged::call(given, words, &mut |line| {
        if let Line::Note(note) = line {
            output::complain(&note.text);
        }
    })?;
    let attached = lines.iter().filter_map(|line| match (line, args.format) {
        (Line::Attach(attached), TextOrJson::Table) => Some(deployment::attach(attached)),
        (Line::Logged(logged), TextOrJson::Table) => Some(answer::certificate::logged(logged)),
        (Line::Attach(_) | Line::Logged(_), TextOrJson::Json) => Some(output::pretty(&json!(line))),
        _ => None,
    });
    output::answer(&attached.collect::<String>())
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
    let all = lines.iter().filter_map(|line| match line {
        Line::Attached(status) => Some(StatusLine::clone(status)),
        _ => None,
    });
    output::answer(&match args.format {
        TextOrJson::Table => deployment::status(&all.collect::<Vec<_>>()),
        TextOrJson::Json => output::pretty(&json!({ "attached": lines })),
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
    let detached = lines.into_iter().filter_map(|line| match line {
        Line::Detach(detached) => Some(detached),
        _ => None,
    });
    let detached: Vec<DetachLine> = detached.collect();
    output::answer(&deployment::detach(&detached))
}

/// Tries which features work on this machine.
fn doctor(args: &DoctorArgs, given: &[String]) -> Result<(), Stop> {
    let mut found = None;
    let done = privileged::call(given, words(&["doctor"], None), &mut |line| {
        if let Line::Doctor(checks) = line {
            found = Some((checks.clone(), output::pretty(&json!(line))));
        }
    });
    if let Some((checks, json)) = found {
        output::answer(&match args.format {
            TextOrJson::Table => deployment::doctor(&checks, &shell(given, &[])),
            TextOrJson::Json => json,
        })?;
        // The input cannot be wrong, so the machine lacks something.
        return done.map(drop).map_err(|_| Stop::Lacking);
    }
    done.map(drop)
}

fn words(first: &[&str], netns: Option<&str>) -> Vec<OsString> {
    let netns = netns.map(|netns| ["--netns", netns]);
    let all = first.iter().copied().chain(netns.into_iter().flatten());
    all.map(OsString::from).collect()
}
