//! Which crate may use which.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::repository::{Failure, Repository};

/// Every crate with the crates that it may use; it may also use what these may use.
const EDGES: [(&str, &[&str]); 41] = [
    ("base", &[]),
    ("engine", &["base"]),
    ("fabric", &["engine"]),
    ("tcp", &["base"]),
    ("laws", &["base"]),
    ("programs", &["laws"]),
    ("schemes", &["fabric", "tcp", "laws"]),
    ("theory", &["base"]),
    ("distributions", &["engine"]),
    ("plan", &["distributions", "schemes", "tables"]),
    ("scenario", &["plan"]),
    ("sim", &["plan"]),
    ("battery", &["scenario", "sim"]),
    ("learning", &["scenario", "sim"]),
    ("packetdrill", &["scenario", "sim"]),
    ("oracle", &["scenario", "sim"]),
    ("observed", &["schemes"]),
    ("protocol", &["sim", "observed"]),
    ("machine", &["base"]),
    ("tun", &["machine", "packetdrill", "protocol", "wire"]),
    ("bed", &["tun", "programs"]),
    ("deploy", &["machine", "protocol", "programs", "scenario"]),
    ("live", &["bed", "deploy"]),
    ("tables", &["base"]),
    ("import", &["plan"]),
    ("wire", &["base"]),
    ("record", &["scenario", "sim", "wire"]),
    ("results", &["record"]),
    ("figures", &[]),
    ("claims", &["figures", "results", "theory"]),
    ("report", &["claims"]),
    ("answer", &["report", "protocol"]),
    ("origin", &[]),
    ("explain", &["answer"]),
    ("api", &["answer"]),
    ("play", &["answer"]),
    (
        "cli",
        &["api", "explain", "battery", "import", "origin", "play"],
    ),
    ("python", &["api", "cli", "learning"]),
    ("testing", &[]),
    ("book", &[]),
    ("xtask", &["figures"]),
];

/// Additional dependencies that are allowed for tests: closed forms for comparison, and checks for programs of the
/// machine.
fn is_for_tests(user: &str, used: &str) -> bool {
    used == "testing" || user == "sim" && matches!(used, "theory" | "scenario")
}

/// Fails for a dependency between crates of the workspace that is not in `EDGES`.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let metadata = repository.metadata(&["--no-deps"])?;
    let forbidden = dependencies(&metadata)
        .into_iter()
        .filter(|(user, used)| !may_use(user, used))
        .map(|(user, used)| format!("{user} must not use {used}"));
    let wrong: Vec<String> = forbidden.chain(strangers(&metadata)).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "{}; see docs/architecture.md",
        wrong.join(", ")
    )))
}

/// Differences between the list and the workspace. A crate only in the list would allow dependencies on a future crate;
/// a crate only in the workspace would have no rule.
fn strangers(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let crates: BTreeSet<&str> = packages.map(|package| short(&package["name"])).collect();
    let users = EDGES.iter().map(|(user, _)| *user);
    let used = EDGES.iter().flat_map(|(_, used)| used.iter().copied());
    let named: BTreeSet<&str> = users.clone().chain(used).collect();
    let users: BTreeSet<&str> = users.collect();
    let absent = named.difference(&crates);
    let absent = absent.map(|name| format!("the list of edges names {name}, which does not exist"));
    let unlisted = crates.difference(&users);
    let unlisted = unlisted.map(|name| format!("the list of edges does not name {name}"));
    absent.chain(unlisted).collect()
}

/// Pairs of crates of which the first depends on the second, including tests and build scripts. Crates for tests may be
/// used by the tests of every crate.
fn dependencies(metadata: &Value) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let user = short(&package["name"]);
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // Crates of the workspace have a path, crates of a registry do not.
            let is_own = dependency.get("path").is_some_and(Value::is_string);
            let used = short(&dependency["name"]);
            if is_own && !(dependency["kind"] == "dev" && is_for_tests(user, used)) {
                pairs.push((user, used));
            }
        }
    }
    pairs
}

/// The name of a crate's folder.
fn short(name: &Value) -> &str {
    match name.as_str().unwrap_or_default() {
        "tailwater" => "cli",
        "tailwater-live" => "live",
        name => name,
    }
}

fn may_use(user: &str, used: &str) -> bool {
    let direct = EDGES.iter().find(|(name, _)| *name == user);
    direct.is_some_and(|(_, allowed)| allowed.iter().any(|via| *via == used || may_use(via, used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_point_one_way() {
        assert!(may_use("schemes", "engine"));
        assert!(may_use("cli", "base"));
        assert!(!may_use("tcp", "fabric"));
        assert!(!may_use("fabric", "tcp"));
        assert!(!may_use("engine", "schemes"));
        assert!(!may_use("new", "base"));
    }

    #[test]
    fn the_list_names_every_crate_and_no_other() {
        let metadata = |names: &[&str]| {
            let package = |name: &&str| serde_json::json!({ "name": name, "dependencies": [] });
            let packages: Vec<Value> = names.iter().map(package).collect();
            serde_json::json!({ "packages": packages })
        };
        let mut names: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
        assert_eq!(strangers(&metadata(&names)), [""; 0]);
        names.push("new");
        let unlisted = ["the list of edges does not name new"];
        assert_eq!(strangers(&metadata(&names)), unlisted);
        let absent = ["the list of edges names base, which does not exist"];
        assert_eq!(strangers(&metadata(&names[1..names.len() - 1])), absent);
    }

    #[test]
    fn edges_are_read_from_the_metadata_of_cargo() {
        let text = r#"{"packages": [{"name": "tcp", "dependencies": [
            {"name": "fabric", "path": "x", "kind": null}, {"name": "clap"},
            {"name": "testing", "path": "x", "kind": "dev"}]}]}"#;
        let metadata = serde_json::from_str(text).unwrap();
        assert_eq!(dependencies(&metadata), [("tcp", "fabric")]);
        let text = text.replace("\"dev\"", "null");
        let metadata = serde_json::from_str(&text).unwrap();
        assert_eq!(
            dependencies(&metadata),
            [("tcp", "fabric"), ("tcp", "testing")]
        );
    }
}
