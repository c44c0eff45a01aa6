//! `cargo xtask package`: everything for users without a toolchain, with checksums.
//!
//! Cargo, Zig and the packaging programs of the distributions do the work. A package whose tools this machine lacks is
//! left out with a message; a kind of package that is requested by name is made, or ends in an error.

mod debian;
mod fedora;
mod image;
mod licences;
mod linked;
mod programs;
mod sbom;
mod tree;
mod wheels;
mod workshop;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use self::tree::PackageFiles;
pub(crate) use self::workshop::Processor;
use self::workshop::{COMMAND, Workshop, make, sha256, write};
use crate::repository::{Failure, Repository, run, stdout};

/// A kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The two static programs with man pages and completions, as an archive to unpack
    Programs,
    /// For Debian and Ubuntu
    Deb,
    /// For Fedora, RHEL and SUSE
    Rpm,
    /// An image for containers, as an archive that `docker load` and `podman load` read
    Image,
    /// Wheels of the Python package, for pip
    Wheels,
    /// A Helm chart that watches every node of a Kubernetes cluster
    Chart,
    /// The Grafana dashboard
    Dashboard,
    /// This documentation as static files
    Site,
}

/// Makes these kinds, or all if none is named, for these processors, or for this machine's processor.
pub(crate) fn package(
    repository: &Repository,
    kinds: &[Kind],
    processors: &[Processor],
    profile: &str,
) -> Result<(), Failure> {
    let workshop = Workshop::open(repository, profile)?;
    make(&workshop.out())?;
    let is_named = !kinds.is_empty();
    let kinds = if is_named {
        kinds
    } else {
        Kind::value_variants()
    };
    let here = Processor::here();
    let processors = match processors {
        [] => here.as_slice(),
        some => some,
    };
    let mut shelf = Shelf {
        workshop: &workshop,
        programs: BTreeMap::new(),
        made: Vec::new(),
    };
    let mut skipped = Vec::new();
    for &kind in kinds {
        for order in Order::all(kind, processors) {
            match shelf.lacks(order) {
                Some(why) if is_named => return Err(Failure(format!("{}: {why}", order.name()))),
                Some(why) => {
                    eprintln!("skipped {}: {why}", order.name());
                    skipped.push(format!("skipped {}: {why}\n", order.name()));
                }
                None => shelf.make(order)?,
            }
        }
    }
    for file in &shelf.made {
        println!("{}", file.display());
    }
    checksums(&workshop)?;
    eprint!("{}", skipped.concat());
    Ok(())
}

/// One package to make.
#[derive(Clone, Copy)]
struct Order {
    kind: Kind,
    /// The processor, if the package depends on it.
    processor: Option<Processor>,
}

impl Order {
    /// The artefacts of one kind.
    fn all(kind: Kind, processors: &[Processor]) -> Vec<Self> {
        match kind {
            Kind::Chart | Kind::Dashboard | Kind::Site => {
                let processor = None;
                vec![Self { kind, processor }]
            }
            Kind::Programs | Kind::Deb | Kind::Rpm | Kind::Image | Kind::Wheels => {
                let orders = processors.iter().map(|&processor| Self {
                    kind,
                    processor: Some(processor),
                });
                orders.collect()
            }
        }
    }

    fn name(self) -> String {
        let kind = self
            .kind
            .to_possible_value()
            .expect("every kind has a name");
        let processor = self.processor.map(|one| format!(" for {}", one.name()));
        format!("{}{}", kind.get_name(), processor.unwrap_or_default())
    }
}

/// The artefacts made so far.
struct Shelf<'a> {
    workshop: &'a Workshop<'a>,
    /// The programs of each processor, by its name.
    programs: BTreeMap<&'static str, Programs>,
    made: Vec<PathBuf>,
}

/// The programs for a processor.
#[derive(Clone)]
struct Programs {
    folder: PathBuf,
    licences: String,
    /// The answer of a simulation, if this machine can run the programs.
    answer: Option<String>,
}

impl Shelf<'_> {
    /// The reason why this machine cannot make a package, if there is one.
    fn lacks(&self, order: Order) -> Option<String> {
        let programs = || {
            let processors = order.processor.into_iter().chain(Processor::here());
            let mut lacks = processors.map(|one| programs::lacks(self.workshop, one));
            lacks.find_map(|lack| lack).or_else(|| {
                let why = "man pages come from a program for the processor of this machine, which is neither x86-64 nor arm64";
                Processor::here().is_none().then(|| why.to_owned())
            })
        };
        match (order.kind, order.processor) {
            (Kind::Chart | Kind::Dashboard | Kind::Site, _) | (_, None) => None,
            (Kind::Wheels, Some(processor)) => wheels::lacks(self.workshop, processor),
            (Kind::Deb, _) => debian::lacks().or_else(programs),
            (Kind::Rpm, _) => fedora::lacks().or_else(programs),
            (Kind::Programs | Kind::Image, _) => programs(),
        }
    }

    fn make(&mut self, order: Order) -> Result<(), Failure> {
        eprintln!("making {}", order.name());
        let workshop = self.workshop;
        let files = match (order.kind, order.processor) {
            (Kind::Chart, _) => vec![chart(workshop)?],
            (Kind::Dashboard, _) => vec![dashboard(workshop)?],
            (Kind::Site, _) | (_, None) => vec![site(workshop)?],
            (Kind::Wheels, Some(processor)) => wheels::build(workshop, processor)?,
            (kind, Some(processor)) => self.with_programs(kind, processor)?,
        };
        self.made.extend(files);
        Ok(())
    }

    /// Makes a package that contains the programs.
    fn with_programs(&mut self, kind: Kind, processor: Processor) -> Result<Vec<PathBuf>, Failure> {
        let workshop = self.workshop;
        let here = Processor::here().expect("it was asked for before");
        let command = self.programs(here)?.folder.join(COMMAND);
        let programs = self.programs(processor)?;
        let root = workshop.emptied(&format!("root-{}", processor.name()))?;
        let contents = PackageFiles {
            programs: &programs.folder,
            command: &command,
            licences: &programs.licences,
            zsh: match kind {
                Kind::Deb => "usr/share/zsh/vendor-completions",
                _ => "usr/share/zsh/site-functions",
            },
        };
        contents.put(workshop, &root)?;
        let package = match kind {
            Kind::Deb => debian::make(workshop, processor, &root)?,
            Kind::Rpm => fedora::make(workshop, processor, &root)?,
            Kind::Image => image::make(workshop, processor, &root)?,
            _ => archive(workshop, processor, &root)?,
        };
        Ok(vec![package])
    }

    /// The programs for a processor, built once, and their bill of materials beside the packages.
    fn programs(&mut self, processor: Processor) -> Result<Programs, Failure> {
        if let Some(programs) = self.programs.get(processor.name()) {
            return Ok(programs.clone());
        }
        let workshop = self.workshop;
        let folder = programs::build(workshop, processor)?;
        let answer = programs::answer(&folder, processor)?;
        let mut others = self.programs.values().map(|other| &other.answer);
        if answer.is_some() && others.any(|other| other.is_some() && *other != answer) {
            return Err(Failure(format!(
                "the program for {} answers otherwise than the one for another processor",
                processor.name()
            )));
        }
        let parts = linked::parts(workshop, processor)?;
        let bill = sbom::bill(workshop, processor, &parts);
        let file = workshop.out().join(bill_of(&workshop.version, processor));
        write(&file, format!("{bill:#}\n"))?;
        self.made.push(file);
        let own = workshop.repository.read("LICENSE-MIT")?;
        let musl = workshop.repository.read("packaging/musl-COPYRIGHT")?;
        let licences = licences::text(&parts, &own, &musl)?;
        let programs = Programs {
            folder,
            licences,
            answer,
        };
        self.programs.insert(processor.name(), programs.clone());
        Ok(programs)
    }
}

/// The name of a bill of materials.
fn bill_of(version: &str, processor: Processor) -> String {
    format!("{COMMAND}-{version}-{}.cdx.json", processor.name())
}

/// An archive to unpack anywhere, such as in `/usr/local`.
fn archive(workshop: &Workshop<'_>, processor: Processor, root: &Path) -> Result<PathBuf, Failure> {
    tree::set_permissions(root)?;
    let name = format!(
        "{COMMAND}-{}-{}-linux.tar.gz",
        workshop.version,
        processor.name()
    );
    let archive = workshop.out().join(name);
    let mut tar = workshop.tar(&root.join("usr"), &archive);
    run(tar.args(["--gzip", "bin", "lib", "share"]))?;
    Ok(archive)
}

/// A Helm chart is an archive of a folder with its name.
fn chart(workshop: &Workshop<'_>) -> Result<PathBuf, Failure> {
    let name = format!("{COMMAND}-chart-{}.tgz", workshop.version);
    let archive = workshop.out().join(name);
    let packaging = workshop.repository.path("packaging");
    let mut tar = workshop.tar(&packaging, &archive);
    tar.args(["--gzip", "--transform"])
        .arg(format!("s,^chart,{COMMAND},"))
        .arg("chart");
    run(&mut tar)?;
    let chart = packaging.join("chart");
    if workshop::starts("helm", &["version"]) {
        run(Command::new("helm").args(["lint", "--strict"]).arg(&chart))?;
        let mut template = Command::new("helm");
        let manifest = stdout(template.args(["template", COMMAND]).arg(&chart))?;
        if !manifest.contains("kind: DaemonSet") {
            return Err(Failure(format!("the chart has no DaemonSet: {manifest}")));
        }
    } else {
        eprintln!("skipped the check of the chart: helm is not installed");
    }
    Ok(archive)
}

fn dashboard(workshop: &Workshop<'_>) -> Result<PathBuf, Failure> {
    let text = workshop.repository.read("packaging/dashboard.json")?;
    let file = workshop
        .out()
        .join(format!("{COMMAND}-dashboard-{}.json", workshop.version));
    write(&file, text)?;
    Ok(file)
}

/// The documentation. The program that builds it has checked its links.
fn site(workshop: &Workshop<'_>) -> Result<PathBuf, Failure> {
    let mut book = workshop
        .repository
        .cargo(&["run", "--quiet", "--package", "book"]);
    run(&mut book)?;
    let name = format!("{COMMAND}-site-{}.tar.gz", workshop.version);
    let archive = workshop.out().join(name);
    let mut tar = workshop.tar(&workshop.target.join("book"), &archive);
    run(tar.args(["--gzip", "."]))?;
    Ok(archive)
}

/// Writes the checksums of all packages, as `sha256sum --check` reads them.
fn checksums(workshop: &Workshop<'_>) -> Result<(), Failure> {
    let out = workshop.out();
    let mut lines = Vec::new();
    for file in workshop::list(&out)? {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if file.is_file() && name != SUMS {
            lines.push(format!("{} *{name}\n", sha256(&file)?));
        }
    }
    write(&out.join(SUMS), lines.concat())
}

const SUMS: &str = "SHA256SUMS";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_programs_are_made_once_and_others_for_every_processor() {
        let processors = [Processor::X86, Processor::Arm];
        let names = |kind| -> Vec<String> {
            let orders = Order::all(kind, &processors);
            orders.into_iter().map(Order::name).collect()
        };
        assert_eq!(names(Kind::Chart), ["chart"]);
        assert_eq!(names(Kind::Deb), ["deb for x86_64", "deb for aarch64"]);
    }
}
