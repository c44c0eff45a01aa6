//! Third-party crates: their licences, versions and sources.
//!
//! `deny.toml` lists what is allowed, in the format of cargo-deny. This step needs neither that program nor a database:
//! it reads Cargo's metadata about the packages of the lock file, for every platform.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use super::step::failed;
use crate::repository::{Failure, Repository};

/// Fails for every crate that `deny.toml` does not allow, and for every unnecessary exception.
pub(super) fn check(repository: &Repository) -> Result<(), Failure> {
    let policy = Policy::read(&repository.read("deny.toml")?)?;
    let metadata = repository.metadata(&["--locked"])?;
    let packages = packages(&metadata);
    failed(&[
        licences(&policy.licenses, &packages),
        versions(&policy.bans, &packages),
        sources(&policy.sources, &packages),
    ])
}

/// The parts of `deny.toml` that are read here; cargo-deny uses the rest.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    /// Licences that every crate may have.
    allow: BTreeSet<String>,
    exceptions: Vec<Exception>,
}

/// Additional licences for one crate.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    skip: Vec<Skip>,
}

/// A version of a crate, as `name@version`, that may exist beside another one.
#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    version: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: BTreeSet<String>,
}

impl Policy {
    fn read(text: &str) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|error| Failure(format!("deny.toml: {error}")))
    }
}

/// A crate that is no member of the workspace.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    licence: Option<&'a str>,
    /// Its registry or repository; `None` for a path.
    source: Option<&'a str>,
}

fn packages<'a>(metadata: &'a Value) -> Vec<Package<'a>> {
    let members = metadata["workspace_members"].as_array();
    let is_member = |package: &&Value| members.is_some_and(|ids| ids.contains(&package["id"]));
    let all = metadata["packages"].as_array().into_iter().flatten();
    let outside = all.filter(|package| !is_member(package));
    let package = |package: &'a Value| Package {
        name: package["name"].as_str().unwrap_or_default(),
        version: package["version"].as_str().unwrap_or_default(),
        licence: package["license"].as_str(),
        source: package["source"].as_str(),
    };
    outside.map(package).collect()
}

fn licences(policy: &Licenses, packages: &[Package<'_>]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut named = BTreeSet::new();
    for Package {
        name,
        version,
        licence,
        ..
    } in packages
    {
        let Some(licence) = licence else {
            wrong.push(format!(
                "{name} {version} declares no licence: use another crate"
            ));
            continue;
        };
        let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
            wrong.push(format!(
                "{name} {version}: its licence {licence:?} cannot be read: use another crate"
            ));
            continue;
        };
        named.extend(expression.requirements().map(|one| one.req.to_string()));
        let own = policy.exceptions.iter().filter(|own| own.name == **name);
        let own: Vec<&Exception> = own.collect();
        let is_allowed = |one: &LicenseReq| {
            let one = one.to_string();
            policy.allow.contains(&one) || own.iter().any(|own| own.allow.contains(&one))
        };
        if !expression.evaluate(is_allowed) {
            wrong.push(format!(
                "{name} {version}: its licence {licence:?} is not allowed: use another crate, or add the \
                 licence to licenses.allow or licenses.exceptions in deny.toml"
            ));
        }
    }
    let idle = policy.allow.difference(&named);
    wrong.extend(idle.map(|licence| {
        format!("no crate has the licence {licence:?}: remove it from licenses.allow in deny.toml")
    }));
    let exists = |own: &&Exception| !packages.iter().any(|package| package.name == own.name);
    let idle = policy.exceptions.iter().filter(exists);
    wrong.extend(idle.map(|own| {
        let name = &own.name;
        format!("no crate is called {name}: remove it from licenses.exceptions in deny.toml")
    }));
    wrong
}

fn versions(policy: &Bans, packages: &[Package<'_>]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        crates
            .entry(package.name)
            .or_default()
            .push(package.version);
    }
    crates.retain(|_, versions| versions.len() > 1);
    let is_skipped = |name: &str, version: &str| {
        let mut skips = policy.skip.iter();
        skips.any(|skip| skip.version.split_once('@') == Some((name, version)))
    };
    let mut wrong = Vec::new();
    for (name, versions) in &crates {
        let rest = versions.iter().filter(|one| !is_skipped(name, one));
        if rest.count() > 1 {
            wrong.push(format!(
                "{name} is there in the versions {}: update what needs the old ones (`cargo tree --invert \
                 {name}@{}` shows it), or name each but the newest in bans.skip in deny.toml with the reason",
                versions.join(", "),
                versions[0]
            ));
        }
    }
    for Skip { version, reason } in &policy.skip {
        let one = version.split_once('@');
        let is_needed = one.is_some_and(|(name, version)| {
            crates
                .get(name)
                .is_some_and(|versions| versions.contains(&version))
        });
        if !is_needed {
            wrong.push(format!(
                "{version} is not one of several versions: remove it from bans.skip in deny.toml"
            ));
        }
        if reason.trim().is_empty() {
            wrong.push(format!(
                "{version} is skipped without a reason: say why in bans.skip in deny.toml"
            ));
        }
    }
    wrong
}

fn sources(policy: &Sources, packages: &[Package<'_>]) -> Vec<String> {
    let is_allowed = |package: &&Package<'_>| {
        let registry = package
            .source
            .and_then(|source| source.strip_prefix("registry+"));
        registry.is_some_and(|registry| policy.allow_registry.contains(registry))
    };
    let strangers = packages.iter().filter(|package| !is_allowed(package));
    let line = |package: &Package<'_>| {
        format!(
            "{} {} comes from {}: use a version that crates.io has, or add its registry to \
             sources.allow-registry in deny.toml",
            package.name,
            package.version,
            package.source.unwrap_or("a folder outside the workspace")
        )
    };
    strangers.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT"]
        exceptions = [{ crate = "book", allow = ["MPL-2.0"] }]
        [bans]
        multiple-versions = "deny"
        skip = [{ crate = "syn@1.0.0", reason = "an old macro" }]
        [sources]
        allow-registry = ["https://crates.example/index"]
    "#;
    const HERE: Option<&str> = Some("registry+https://crates.example/index");

    fn package<'a>(name: &'a str, version: &'a str, licence: &'a str) -> Package<'a> {
        Package {
            name,
            version,
            licence: Some(licence),
            source: HERE,
        }
    }

    /// Crates that the policy allows, and that need every entry of it.
    fn allowed() -> Vec<Package<'static>> {
        vec![
            package("book", "1.0.0", "MPL-2.0"),
            package("syn", "1.0.0", "MIT/Apache-2.0"),
            package("syn", "2.0.0", "GPL-3.0-only OR MIT"),
        ]
    }

    fn check(packages: &[Package<'_>]) -> Vec<String> {
        let policy = Policy::read(POLICY).unwrap();
        [
            licences(&policy.licenses, packages),
            versions(&policy.bans, packages),
            sources(&policy.sources, packages),
        ]
        .concat()
    }

    #[test]
    fn crates_that_the_policy_allows_pass() {
        assert_eq!(check(&allowed()), [""; 0]);
    }

    #[test]
    fn a_licence_off_the_list_is_refused() {
        let mut packages = allowed();
        packages.push(package("copyleft", "0.1.0", "MIT AND GPL-3.0-only"));
        packages.push(package("odd", "0.1.0", "see the file"));
        packages.push(Package {
            licence: None,
            ..package("silent", "0.1.0", "")
        });
        // An exception for one crate does not apply to another.
        packages.push(package("other", "0.1.0", "MPL-2.0"));
        let remedy = "use another crate, or add the licence to licenses.allow or licenses.exceptions in \
                      deny.toml";
        let expected = [
            &format!(
                "copyleft 0.1.0: its licence \"MIT AND GPL-3.0-only\" is not allowed: {remedy}"
            ),
            "odd 0.1.0: its licence \"see the file\" cannot be read: use another crate",
            "silent 0.1.0 declares no licence: use another crate",
            &format!("other 0.1.0: its licence \"MPL-2.0\" is not allowed: {remedy}"),
        ];
        assert_eq!(check(&packages), expected);
    }

    #[test]
    fn a_second_version_without_a_reason_is_refused() {
        let mut packages = allowed();
        packages.push(package("syn", "3.0.0", "MIT"));
        let expected = [
            "syn is there in the versions 1.0.0, 2.0.0, 3.0.0: update what needs the old ones (`cargo tree \
             --invert syn@1.0.0` shows it), or name each but the newest in bans.skip in deny.toml with the \
             reason",
        ];
        assert_eq!(check(&packages), expected);
        let empty = Policy::read(&POLICY.replace("an old macro", "")).unwrap();
        let expected = ["syn@1.0.0 is skipped without a reason: say why in bans.skip in deny.toml"];
        assert_eq!(versions(&empty.bans, &allowed()), expected);
    }

    #[test]
    fn a_source_off_the_list_is_refused() {
        let mut packages = allowed();
        packages[0].source = Some("git+https://example.org/book");
        packages[1].source = None;
        let remedy = "use a version that crates.io has, or add its registry to sources.allow-registry in \
                      deny.toml";
        let expected = [
            format!("book 1.0.0 comes from git+https://example.org/book: {remedy}"),
            format!("syn 1.0.0 comes from a folder outside the workspace: {remedy}"),
        ];
        assert_eq!(check(&packages), expected);
    }

    #[test]
    fn what_nothing_needs_is_refused() {
        let expected = [
            "no crate has the licence \"MIT\": remove it from licenses.allow in deny.toml",
            "no crate is called book: remove it from licenses.exceptions in deny.toml",
            "syn@1.0.0 is not one of several versions: remove it from bans.skip in deny.toml",
        ];
        assert_eq!(check(&[]), expected);
    }

    #[test]
    fn members_of_the_workspace_are_not_from_outside() {
        let metadata = serde_json::json!({
            "workspace_members": ["path+file:///x#own@0.1.0"],
            "packages": [
                { "id": "path+file:///x#own@0.1.0", "name": "own", "version": "0.1.0" },
                { "id": "y", "name": "csv", "version": "1.4.0", "license": "MIT", "source": "registry+y" },
            ],
        });
        let packages = packages(&metadata);
        let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
        assert_eq!(names, ["csv"]);
        assert_eq!(packages[0].licence, Some("MIT"));
        assert_eq!(packages[0].source, Some("registry+y"));
    }
}
