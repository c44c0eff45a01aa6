//! The workspace: its files, and the programs that run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use serde_json::Value;

/// Why a command failed, for the user who started it.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

/// The workspace around the current directory.
pub(crate) struct Repository {
    root: PathBuf,
}

impl Failure {
    /// `what` could not be done with the file at `path`.
    pub(crate) fn file(what: &str, path: &Path, error: &io::Error) -> Self {
        Self(format!("cannot {what} {}: {error}", path.display()))
    }
}

impl Repository {
    /// The workspace that the current directory belongs to.
    pub(crate) fn find() -> Result<Self, Failure> {
        let here = env::current_dir()
            .map_err(|error| Failure(format!("there is no current directory: {error}")))?;
        let is_root = |directory: &&Path| {
            let manifest = fs::read_to_string(directory.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.contains("[workspace]"))
        };
        let root = here.ancestors().find(is_root);
        let root = root.ok_or_else(|| Failure("run this inside the repository".to_owned()))?;
        Ok(Self {
            root: root.to_owned(),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> Result<String, Failure> {
        let path = self.path(relative);
        fs::read_to_string(&path).map_err(|error| Failure::file("read", &path, &error))
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, relative: &str, text: &str) -> Result<(), Failure> {
        let path = self.path(relative);
        let parent = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| Failure::file("write", &path, &error))
    }

    /// Every file below `crates/` and `tools/` whose name ends with `.extension`, as paths from the root, sorted.
    pub(crate) fn sources(&self, extension: &str) -> Result<Vec<String>, Failure> {
        self.below(&["crates", "tools"], extension)
    }

    /// The handwritten pages: the guide, the concepts, and those at the root.
    pub(crate) fn pages(&self) -> Result<Vec<String>, Failure> {
        let mut pages = self.below(&["docs"], "md")?;
        pages.retain(|page| !page.starts_with("docs/reference/"));
        pages.extend(["README.md", "CONTRIBUTING.md"].map(str::to_owned));
        Ok(pages)
    }

    /// Every file below these folders whose name ends with `.extension`, as paths from the root, sorted.
    fn below(&self, folders: &[&str], extension: &str) -> Result<Vec<String>, Failure> {
        let mut found = Vec::new();
        let mut folders: Vec<PathBuf> = folders.iter().map(|folder| self.path(folder)).collect();
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).map_err(|error| Failure::file("list", &folder, &error))?;
            for entry in entries {
                let path = entry
                    .map_err(|error| Failure::file("list", &folder, &error))?
                    .path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension() == Some(OsStr::new(extension)) {
                    let relative = path
                        .strip_prefix(&self.root)
                        .expect("it lies below the root");
                    found.push(relative.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Cargo with `arguments`, at the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Cargo's metadata about packages: those of the workspace and, unless `arguments` exclude them, all third-party
    /// ones in the lock file.
    pub(crate) fn metadata(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let mut command = self.cargo(&["metadata", "--format-version", "1"]);
        let text = stdout(command.args(arguments))?;
        serde_json::from_str(&text)
            .map_err(|error| Failure(format!("cargo metadata is not JSON: {error}")))
    }

    /// A program or an example of the workspace, built as the tests build it. All programs are built together: if only
    /// some were, Cargo would compile most third-party crates again, because the crates that macros use would get other
    /// features.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, Failure> {
        let built = self.built(&PROGRAMS)?;
        let found = built
            .into_iter()
            .find(|path| path.file_stem().is_some_and(|stem| stem == name));
        found.ok_or_else(|| Failure(format!("cargo built no program called {name}")))
    }

    /// The programs that a Cargo command builds; its messages go to standard error.
    pub(crate) fn built(&self, arguments: &[&str]) -> Result<Vec<PathBuf>, Failure> {
        let messages = self.messages(arguments)?;
        Ok(messages.iter().filter_map(executable).collect())
    }

    /// The programs of tests that a Cargo command builds, each with the folder of its crate, where Cargo would start it.
    pub(crate) fn built_tests(
        &self,
        arguments: &[&str],
    ) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
        let messages = self.messages(arguments)?;
        let test = |message: &Value| {
            let manifest = Path::new(message.get("manifest_path")?.as_str()?);
            let folder = manifest.parent()?.to_owned();
            let is_test = message["profile"]["test"] == true;
            is_test.then_some((folder, executable(message)?))
        };
        Ok(messages.iter().filter_map(test).collect())
    }

    /// The messages of Cargo about the artefacts of a command.
    fn messages(&self, arguments: &[&str]) -> Result<Vec<Value>, Failure> {
        let mut command = self.cargo(arguments);
        command.args(["--quiet", "--message-format", "json-render-diagnostics"]);
        let text = stdout(command.stderr(Stdio::inherit()))?;
        let messages = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(messages.collect())
    }
}

fn executable(message: &Value) -> Option<PathBuf> {
    Some(PathBuf::from(message.get("executable")?.as_str()?))
}

/// Builds every program of the workspace, and the example that writes pages.
pub(crate) const PROGRAMS: [&str; 5] = ["build", "--workspace", "--bins", "--example", "reference"];

/// The folder of the crate that the file at `path` is a source of, and the file below its `src`; `None` for tests,
/// benchmarks and build scripts beside `src`.
pub(crate) fn source_of(path: &str) -> Option<(&str, &str)> {
    let (folder, file) = path.split_once("/src/")?;
    let is_crate = matches!(
        folder.split('/').collect::<Vec<_>>()[..],
        ["crates", _, _] | ["tools", _]
    );
    is_crate.then_some((folder, file))
}

/// Runs `command` to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command
        .status()
        .map_err(|error| not_started(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure(format!("`{}` failed ({status})", line(command))))
}

/// Runs `command` and returns its status; it reports errors itself.
pub(crate) fn status(command: &mut Command) -> Result<ExitCode, Failure> {
    let status = command
        .status()
        .map_err(|error| not_started(command, &error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The standard output of `command`.
pub(crate) fn stdout(command: &mut Command) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Failure(format!(
        "`{}` failed ({})\n{why}",
        line(command),
        output.status
    )))
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure(format!("`{}` did not start: {error}", line(command)))
}

/// The command as a user would type it.
fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
