//! Writes a scenario with all settings explicit.

use std::fmt::Write;

use super::arms::{Arm, Flows, MIXED};
use super::document::Setting;
use super::{PointSpec, Scenario};
use crate::goal::Goal;
use base::Ordered as _;
use plan::keys::{self, WorkloadKind, profile};

/// TOML that reads back into the same points.
pub(super) fn resolved(scenario: &Scenario) -> String {
    let mut text = String::new();
    write(&mut text, scenario).expect("writing to a string succeeds");
    text
}

fn write(out: &mut String, scenario: &Scenario) -> std::fmt::Result {
    writeln!(out, "name = {}", quoted(&scenario.name))?;
    if let Some(title) = &scenario.title {
        writeln!(out, "title = {}", quoted(title))?;
    }
    let labels: Vec<_> = scenario.arms.iter().map(|arm| quoted(&arm.label)).collect();
    let mixed = scenario.groups.iter().all(|group| group.bundle.is_some());
    if !(mixed && scenario.schemes() == [MIXED]) {
        writeln!(out, "schemes = [{}]", labels.join(", "))?;
    }
    let columns: Vec<_> = scenario.set_keys().into_iter().map(quoted).collect();
    writeln!(out, "columns = [{}]", columns.join(", "))?;
    if !scenario.explore().is_empty() {
        let offered: Vec<_> = scenario.explore().iter().map(|key| quoted(key)).collect();
        writeln!(out, "explore = [{}]", offered.join(", "))?;
    }
    if !scenario.goals.is_empty() {
        let goals: Vec<_> = scenario.goals.iter().map(Goal::to_string).collect();
        let goals: Vec<_> = goals.iter().map(|goal| quoted(goal)).collect();
        writeln!(out, "goals = [{}]", goals.join(", "))?;
    }
    writeln!(out, "seed = {}", scenario.seed)?;
    writeln!(out, "seeds = {}", scenario.seeds)?;

    let mut group = "";
    let origins = scenario.origins();
    let is_idle = |table: &str| {
        let mut outside = schemes::all().iter().filter(|other| other.origin.is_some());
        outside.any(|other| other.name == table) && !origins.iter().any(|(used, _)| *used == table)
    };
    for (place, key) in keys::all_keys().iter().enumerate() {
        // Unused schemes are left out, so that programs without them can read the scenario.
        if is_idle(keys::group(key.name)) {
            continue;
        }
        if keys::group(key.name) != group {
            group = keys::group(key.name);
            writeln!(out, "\n[{group}]")?;
        }
        let field = &key.name[group.len() + 1..];
        let setting = scenario
            .settings
            .iter()
            .find(|setting| setting.key == key.name && setting.is_of_all());
        let text = match setting {
            Some(setting) => Some(values(setting)),
            None if profile::sets(key.name) => common(scenario, place).map(value),
            None => Some(value(key.default)),
        };
        // A written value counts as given for all flows.
        let Some(text) = text else { continue };
        writeln!(out, "{field} = {text}")?;
        match key.name {
            "topology.graph" => files(out, scenario, &graph)?,
            "workload.trace" => files(out, scenario, &trace)?,
            _ => {}
        }
    }
    exceptions(out, &scenario.settings)?;
    for arm in scenario.arms.iter().filter(|arm| arm.variant) {
        variant(out, arm, &scenario.settings)?;
    }
    for group in scenario
        .groups
        .iter()
        .filter(|group| !group.name.is_empty())
    {
        flows(out, group, &scenario.settings)?;
    }
    Ok(())
}

/// The text of the setting at this place, which follows from profiles and schemes, if it is the same for all flows of
/// all points.
fn common(scenario: &Scenario, place: usize) -> Option<&str> {
    let first = scenario.points()[0].texts.at(place);
    let same = |point: &PointSpec| {
        let mut groups = point.groups.iter();
        point.texts.at(place) == first && groups.all(|group| group.texts.at(place) == first)
    };
    scenario.points().iter().all(same).then_some(first)
}

/// Comments on the contents of files, so that results of different contents are not taken for the same.
fn files(
    out: &mut String,
    scenario: &Scenario,
    each: &dyn Fn(&PointSpec) -> Vec<String>,
) -> std::fmt::Result {
    let lines = scenario.points.iter().flat_map(each).into_set();
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn graph(point: &PointSpec) -> Vec<String> {
    let graph = &point.keys.topology.graph.0;
    let (nodes, links) = (graph.nodes().len(), graph.links().len());
    let name = point.text("topology.graph");
    let line =
        |contents| format!("# {name}: {nodes} nodes, {links} links, contents {contents:016x}");
    graph.fingerprint().map(line).into_iter().collect()
}

/// Comment lines for the trace of each group: the file, the changes made to it, and one for each host that it names.
fn trace(point: &PointSpec) -> Vec<String> {
    let traced = point
        .groups
        .iter()
        .filter(|group| group.keys.workload.kind == WorkloadKind::Trace);
    let traces = traced.filter_map(|group| {
        let trace = group.keys.workload.trace.content();
        let (name, flows) = (&group.texts["workload.trace"], trace.flows().len());
        let contents = trace.fingerprint()?;
        let mut text = format!("# {name}: {flows} flows, contents {contents:016x}");
        for note in trace.notes() {
            write!(text, "\n# {name}: {note}").expect("writing to a string succeeds");
        }
        for (number, host) in trace.hosts() {
            write!(text, "\n# {name}: host {number} is {}", host.escape_debug())
                .expect("writing to a string succeeds");
        }
        Some(text)
    });
    traces.collect()
}

/// The tables of single links and hosts, in order of first appearance.
fn exceptions(out: &mut String, settings: &[Setting]) -> std::fmt::Result {
    let parts = settings.iter().filter_map(|setting| setting.part.as_ref());
    let mut tables: Vec<&str> = Vec::new();
    for part in parts {
        if !tables.contains(&&*part.table) {
            tables.push(&part.table);
        }
    }
    for table in tables {
        writeln!(out, "\n[{table}]")?;
        for (setting, part) in settings
            .iter()
            .filter_map(|one| Some((one, one.part.as_ref()?)))
        {
            if *part.table == *table {
                writeln!(out, "{} = {}", part.field, values(setting))?;
            }
        }
    }
    Ok(())
}

fn flows(out: &mut String, group: &Flows, settings: &[Setting]) -> std::fmt::Result {
    writeln!(out, "\n[group.{}]", quoted(&group.name))?;
    if let Some(bundle) = &group.bundle {
        writeln!(out, "scheme = {}", quoted(bundle))?;
    }
    let own = |setting: &&Setting| setting.group.as_ref() == Some(&group.name);
    for setting in settings.iter().filter(own) {
        writeln!(out, "{} = {}", setting.key, values(setting))?;
    }
    Ok(())
}

fn variant(out: &mut String, arm: &Arm, settings: &[Setting]) -> std::fmt::Result {
    writeln!(out, "\n[variant.{}]", quoted(&arm.label))?;
    writeln!(out, "base = {}", quoted(&arm.bundle))?;
    for setting in &arm.settings {
        // A setting of the command line overrides the variant's and has been written above.
        if !settings
            .iter()
            .any(|other| other.is_about(setting) && other.argument)
        {
            writeln!(out, "{} = {}", setting.key, values(setting))?;
        }
    }
    Ok(())
}

fn values(setting: &Setting) -> String {
    let values: Vec<_> = setting.values.iter().map(|v| value(&v.text)).collect();
    if setting.listed {
        format!("[{}]", values.join(", "))
    } else {
        values.join("")
    }
}

/// A number or a boolean unchanged, everything else in quotes.
fn value(text: &str) -> String {
    let bare = text.parse::<toml_edit::Value>();
    match bare {
        Ok(value) if !value.is_str() && !value.is_datetime() && !value.is_array() => {
            text.to_owned()
        }
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
