//! The place where packages are made, with the system's helper programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;

use crate::repository::{Failure, Repository, run, stdout};

/// A processor that programs are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Processor {
    /// Of Intel and AMD
    #[value(name = "x86-64")]
    X86,
    /// Of Arm
    #[value(name = "arm64")]
    Arm,
}

impl Processor {
    /// This machine's processor, if it is one of these.
    pub(super) fn here() -> Option<Self> {
        [Self::X86, Self::Arm]
            .into_iter()
            .find(|one| one.name() == std::env::consts::ARCH)
    }

    /// Its name in Rust, Zig and RPM.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    /// Its name in Debian and in container images.
    pub(super) const fn debian(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    /// The target of static programs.
    pub(super) fn target(self) -> String {
        format!("{}-unknown-linux-musl", self.name())
    }
}

/// The repository, with the folders that packages are made in.
pub(super) struct Workshop<'a> {
    pub(super) repository: &'a Repository,
    /// Cargo's folder.
    pub(super) target: PathBuf,
    /// The version of every package.
    pub(super) version: String,
    /// The time of the last commit, in seconds since 1970. It is the time of every packed file, so that packages of one
    /// commit have equal bytes.
    pub(super) epoch: String,
    /// Cargo's profile of programs.
    pub(super) profile: &'a str,
}

impl<'a> Workshop<'a> {
    pub(super) fn open(repository: &'a Repository, profile: &'a str) -> Result<Self, Failure> {
        let metadata = repository.metadata(&["--no-deps"])?;
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let command = packages.find(|package| package["name"] == COMMAND);
        let version = command.and_then(|package| text(&package["version"]));
        let target = text(&metadata["target_directory"]).map(PathBuf::from);
        let (version, target) = version
            .zip(target)
            .ok_or_else(|| Failure("cargo metadata names no version or target".to_owned()))?;
        let mut git = Command::new("git");
        git.args(["log", "-1", "--format=%ct"]);
        let epoch = stdout(git.current_dir(repository.root()))?;
        let epoch = epoch.trim().to_owned();
        Ok(Self {
            repository,
            target,
            version,
            epoch,
            profile,
        })
    }

    /// The folder of finished packages.
    pub(super) fn out(&self) -> PathBuf {
        self.target.join("package")
    }

    /// A folder for intermediate files.
    pub(super) fn work(&self, name: &str) -> PathBuf {
        self.target.join("package-work").join(name)
    }

    /// The same, emptied.
    pub(super) fn emptied(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.work(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| Failure::file("remove", &folder, &error))?;
        }
        make(&folder)?;
        Ok(folder)
    }

    /// GNU tar, which packs `folder` as files of root in the order of their names.
    pub(super) fn tar(&self, folder: &Path, archive: &Path) -> Command {
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--owner=0", "--group=0"])
            .args(["--numeric-owner", "--format=gnu"])
            .arg(format!("--mtime=@{}", self.epoch))
            .arg("--file")
            .arg(archive)
            .arg("--directory")
            .arg(folder);
        tar
    }
}

/// Makes a folder and those above it.
pub(super) fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))
}

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    make(path.parent().expect("a file lies in a folder"))?;
    fs::write(path, contents).map_err(|error| Failure::file("write", path, &error))
}

pub(super) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))
}

/// Copies a file, its permissions included.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    make(to.parent().expect("a file lies in a folder"))?;
    let copied = fs::copy(from, to).map(|_| ());
    copied.map_err(|error| Failure::file("copy", from, &error))
}

/// Compresses files in place, each into one with the suffix `.gz`.
pub(super) fn gzip(files: &[PathBuf]) -> Result<(), Failure> {
    run(Command::new("gzip")
        .args(["--best", "--no-name", "--force"])
        .args(files))
}

/// Everything in a folder, sorted.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::file("list", folder, &error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// Every file below a folder, as paths from it, sorted.
pub(super) fn below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for path in list(&one)? {
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(folder).expect("it lies below");
                files.push(relative.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String, Failure> {
    let line = stdout(Command::new("sha256sum").arg("--binary").arg(file))?;
    // A backslash precedes the digits if the name of the file contains a special character.
    let digits = line.trim_start_matches('\\').split(' ').next();
    Ok(digits.unwrap_or_default().to_owned())
}

/// Whether a program runs successfully with these arguments.
pub(super) fn starts(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// The maintainer: from the variables of Debian's own tools, or the committer of this repository.
pub(super) fn maintainer(workshop: &Workshop<'_>) -> Result<String, Failure> {
    let variable = |name: &str, setting: &str| {
        std::env::var(name).or_else(|_| {
            let mut git = Command::new("git");
            git.args(["config", setting]);
            let text = stdout(git.current_dir(workshop.repository.root()));
            text.map(|text| text.trim().to_owned())
                .map_err(|Failure(why)| {
                    Failure(format!(
                        "nobody is named as the maintainer: set {name}\n{why}"
                    ))
                })
        })
    };
    let name = variable("DEBFULLNAME", "user.name")?;
    Ok(format!("{name} <{}>", variable("DEBEMAIL", "user.email")?))
}

/// The name of the package with the command.
pub(super) const COMMAND: &str = "tailwater";
/// The name of the package with the privileged program.
pub(super) const LIVE: &str = "tailwater-live";
/// A description of one line.
pub(super) const SUMMARY: &str = "Is it TCP incast, and which cure helps";
/// A description for lists of packages.
pub(super) const DESCRIPTION: &str = "\
Tailwater watches a network device and tells whether many senders to one
receiver lose packets there, simulates what was seen with every cure, puts a
cure there for a limited time, and simulates networks that are not built yet.

The programs are static and need no other package. The unit tailwater-observe
is not started by itself.
";
