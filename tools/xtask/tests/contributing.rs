//! The instructions in CONTRIBUTING.md work: its blocks are applied to a copy of the repository, which is then linted,
//! built and run, without the network.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

#[test]
fn the_examples_of_the_contributing_page_are_a_scheme_a_key_a_metric_and_a_law_that_work() {
    let copy = Copy::of_the_workspace("contributing");
    // All of them in one copy, so that everything is compiled once.
    let scheme = copy.follow("scheme");
    let registered = scheme.iter().find(|(file, _)| file == REGISTRY);
    assert_eq!(registered, Some(&(REGISTRY.to_owned(), 2)), "two lines");
    assert_eq!(scheme.len(), 2, "and one file");
    let key = copy.follow("key");
    assert_eq!(key.len(), 5, "{key:?}");
    let metric = copy.follow("metric");
    assert_eq!(metric.len(), 6, "{metric:?}");
    let law = copy.follow("law");
    assert!(law.len() <= 8, "a law touches too much: {law:?}");

    // The skeleton is checked in the same copy, so that both are compiled at once.
    let new_scheme = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let status = command
            .args(["new-scheme", name])
            .current_dir(&copy.root)
            .status();
        status.expect("the command starts").success()
    };
    assert!(new_scheme("skeleton"));
    for refused in ["skeleton", "fixed", "rcc", "Upper", "match", "tcp"] {
        assert!(!new_scheme(refused), "{refused} is refused");
    }

    copy.cargo(&["fmt", "--all", "--check"]);
    copy.cargo(&[
        "clippy",
        "--offline",
        "-p",
        "schemes",
        "--",
        "-D",
        "warnings",
    ]);
    copy.cargo(&["test", "--offline", "--quiet", "-p", "schemes", "--lib"]);
    // The changes of a key and a metric in the test bed are compiled, too.
    copy.build(&["tailwater", "tailwater-live"]);
    let run = "run incast --scheme fixed,skeleton,cap --set workload.senders=10 --seeds 1 --format json --quiet";
    let tailwater = copy.program("tailwater");
    let (status, text) = Copy::run(&tailwater, &run.split(' ').collect::<Vec<_>>(), &copy.root);
    assert_eq!(status, 0, "{text}");
    let results: serde_json::Value = serde_json::from_str(&text).expect("the answer is JSON");
    for (point, scheme) in ["fixed", "skeleton", "cap"].into_iter().enumerate() {
        let point = &results["points"][point];
        assert_eq!(point["scheme"], scheme);
        assert_eq!(point["metrics"]["flows_completed"], 10, "{scheme}");
        let [p95, p99, most] = ["p95", "p99", "max"]
            .map(|name| point["metrics"][format!("queue_{name}_bytes")].as_u64());
        assert!(p95 <= p99 && p99 <= most && p99 > Some(0), "{point}");
    }
    a_key_changes_what_is_simulated(&copy);
    a_law_can_be_attached(&copy);
    let mine = a_crate_of_ones_own_is_built_as_the_clone_is(&copy);
    a_crate_of_ones_own_adds_a_scheme_to_everything(&copy, &mine);
}

/// In the same copy: senders of an incast have timeouts, and go on with another window.
fn a_key_changes_what_is_simulated(copy: &Copy) {
    let tailwater = copy.program("tailwater");
    let run = "run incast --scheme newreno --set workload.senders=60 --set tcp.loss_window=1,4 --seeds 1 --format json \
               --quiet";
    let (status, text) = Copy::run(
        &tailwater,
        &run.split_whitespace().collect::<Vec<_>>(),
        &copy.root,
    );
    assert_eq!(status, 0, "{text}");
    let results: serde_json::Value = serde_json::from_str(&text).expect("the answer is JSON");
    let times = |point: usize| &results["points"][point]["metrics"]["fct_p99_us"];
    assert!(times(0).is_number() && times(0) != times(1), "{text}");
    let (_, text) = Copy::run(&tailwater, &["explain", "tcp.loss_window"], &copy.root);
    assert!(
        text.contains("congestion window after a retransmission"),
        "{text}"
    );
}

/// In the same copy: the command knows the law, and its program compiles for the kernel.
fn a_law_can_be_attached(copy: &Copy) {
    let tailwater = copy.program("tailwater");
    let (_, text) = Copy::run(&tailwater, &["attach", "--help"], &copy.root);
    assert!(text.contains("cap"), "{text}");
    assert!(
        text.contains("ACKs leave with at most a constant window"),
        "{text}"
    );
    // Loading it needs a kernel and its loader; other laws are tested there.
    if Command::new("clang").arg("--version").output().is_err() {
        testing::skipped("there is no clang");
        return;
    }
    let flags = "-target bpf -mcpu=v3 -O2 -g -std=gnu11 -ffreestanding -nostdinc -Wall -Wextra -Werror -Ibpf/include \
                 -Ibpf -I../../core/laws/c -c bpf/cap.bpf.c -o cap.o";
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let folder = copy.root.join("crates/live/programs");
    let (status, text) = Copy::run(Path::new("clang"), &flags, &folder);
    assert_eq!(status, 0, "{text}");
}

/// By the command of the same copy. Returns the crate.
fn a_crate_of_ones_own_is_built_as_the_clone_is(copy: &Copy) -> Copy {
    let tailwater = copy.program("tailwater");
    let empty = copy.root.with_file_name("empty");
    if empty.exists() {
        fs::remove_dir_all(&empty).expect("an old folder can be removed");
    }
    fs::create_dir(&empty).expect("a folder can be made");
    let new_scheme = |name| Copy::run(&tailwater, &["new-scheme", name], &empty);
    let (status, written) = new_scheme("mine");
    assert_eq!(status, 0, "{written}");
    assert!(written.contains("mine is a program with the scheme mine"));
    assert_eq!(new_scheme("mine").0, 2, "nothing is overwritten");
    let (status, refused) = new_scheme("half-dctcp");
    assert_eq!(status, 2);
    assert!(refused.contains("new-scheme half_dctcp"), "{refused}");
    let mine = Copy {
        root: empty.join("mine"),
        target: copy.target.clone(),
    };
    // Without these files the crate would be built with the latest published versions.
    for file in ["Cargo.lock", "rust-toolchain.toml"] {
        assert_eq!(mine.read(file), copy.read(file), "{file}");
    }
    mine.cargo(&["fmt", "--check"]);
    // Cargo adds the crate to its lock file and changes nothing else there.
    mine.cargo(&["metadata", "--offline", "--format-version", "1"]);
    let (own, pinned) = (locked(&mine), locked(copy));
    let other: Vec<_> = own.difference(&pinned).collect();
    assert_eq!(other, [&("mine".to_owned(), "0.1.0".to_owned())]);
    mine
}

/// In the same copy, whose libraries are compiled.
fn a_crate_of_ones_own_adds_a_scheme_to_everything(copy: &Copy, mine: &Copy) {
    let library = Copy {
        root: copy.root.join("examples/library"),
        target: copy.target.clone(),
    };
    let member = copy.join(mine);
    copy.join(&library);
    copy.cargo(
        &[
            &["test", "--offline", "--quiet", "--test", "of_mine"],
            &SHARED[..],
        ]
        .concat(),
    );
    copy.build(&["mine", "library"]);
    let (status, printed) = Copy::run(&copy.program("library"), &[], &library.root);
    assert_eq!(status, 0, "{printed}");
    assert!(printed.contains("a report is there: true"), "{printed}");

    let program = copy.program("mine");
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        Copy::run(&program, &words, &mine.root)
    };
    let listed = run("list schemes").1;
    assert!(
        listed
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("mine ")),
        "{listed}"
    );
    assert!(run("explain mine.window").1.contains("Congestion window"));
    let explained = run("explain mine").1;
    assert!(explained.starts_with("mine: A constant window"));
    assert!(!explained.contains("Source:"), "{explained}");
    assert!(
        run("show incast --resolved --scheme mine")
            .1
            .contains("[mine]")
    );
    assert!(
        !run("show incast --resolved --scheme rcc")
            .1
            .contains("[mine]")
    );
    let sweep = "run incast --scheme newreno,mine --set workload.senders=4 --set mine.window=2,8 \
                 --out sweep --resume --quiet";
    let (status, first) = run(sweep);
    assert_eq!(status, 0, "{first}");
    assert!(first.contains("mine"), "{first}");
    let report = mine.read("sweep/report.html");
    assert!(
        report.contains("mine of mine 0.1.0+"),
        "the report names the code"
    );
    assert_eq!(run(sweep).0, 0, "nothing is left to do");

    // Changed code is another version, whose results must not be mixed with these.
    let source = member.read("src/lib.rs");
    member.write(
        "src/lib.rs",
        &source.replace("segments * ", "2 * segments * "),
    );
    copy.build(&["mine"]);
    let (status, text) = run(sweep);
    assert_eq!(status, 2, "{text}");
    let other = "run incast --scheme newreno --set workload.senders=4 --out other --quiet";
    assert_eq!(run(other).0, 0);
    let (status, text) = Copy::run(&copy.program("tailwater"), &["report", "other"], &mine.root);
    assert_eq!(status, 0, "a run without the scheme is everybody's: {text}");
}

/// Each user crate also compiles alone, with only its own dependencies.
#[test]
#[ignore = "it compiles every crate from outside once more: cargo xtask trust crates"]
fn crates_of_ones_own_compile_alone() {
    let copy = Copy::of_the_workspace("contributing");
    copy.build(&["tailwater"]);
    let empty = copy.root.with_file_name("empty");
    drop(fs::remove_dir_all(&empty));
    fs::create_dir(&empty).expect("a folder can be made");
    let (status, text) = Copy::run(&copy.program("tailwater"), &["new-scheme", "mine"], &empty);
    assert_eq!(status, 0, "{text}");
    let alone = |root: PathBuf| Copy {
        root,
        target: copy.target.clone(),
    };
    alone(empty.join("mine")).cargo(&["test", "--offline", "--quiet"]);
    let library = alone(copy.root.join("examples/library"));
    library.write("Cargo.lock", &copy.read("Cargo.lock"));
    let printed = library.cargo(&["run", "--offline", "--quiet"]);
    assert!(printed.contains("a report is there: true"), "{printed}");
}

/// The packages of a lock file with their versions.
fn locked(of: &Copy) -> BTreeSet<(String, String)> {
    let text = of.read("Cargo.lock");
    let value = |line: &str| Some(line.split_once(" = ")?.1.trim_matches('"').to_owned());
    let packages = text.split("[[package]]").skip(1);
    let packages = packages.filter_map(|package| {
        let mut lines = package.trim().lines();
        Some((value(lines.next()?)?, value(lines.next()?)?))
    });
    packages.collect()
}

#[test]
fn no_lint_stops_the_build_of_a_crate_from_outside() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let root = root.expect("this crate lies two folders below the root");
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder of the workspace");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.is_dir()).collect()
    };
    let groups = below(&root.join("crates"));
    let crates: Vec<PathBuf> = groups.iter().flat_map(|group| below(group)).collect();
    assert!(crates.len() > 20, "{crates:?}");
    let manifests = crates.iter().map(|path| path.join("Cargo.toml"));
    for manifest in manifests.chain([root.join("Cargo.toml")]) {
        let text = fs::read_to_string(&manifest).expect("every crate has a manifest");
        for level in ["\"deny\"", "\"forbid\""] {
            assert!(!text.contains(level), "{level} in {}", manifest.display());
        }
    }
    for folder in &crates {
        for start in ["src/lib.rs", "src/main.rs"] {
            let text = fs::read_to_string(folder.join(start)).unwrap_or_default();
            let stops = |line: &&str| line.starts_with("#![deny") || line.starts_with("#![forbid");
            let found = text.lines().find(stops);
            assert_eq!(found, None, "{} {start}", folder.display());
        }
    }
}

const REGISTRY: &str = "crates/core/schemes/src/lib.rs";
/// The folders to copy: everything that is compiled. Cargo compiles a crate again each time if one of its files is
/// missing.
const FOLDERS: [&str; 4] = ["crates", "tools", "examples", "experiments"];
/// The files beside them.
const FILES: [&str; 5] = [
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "rust-toolchain.toml",
    "CONTRIBUTING.md",
];

/// Arguments with which third-party crates get the features that the tests of the workspace use.
const SHARED: [&str; 3] = ["--workspace", "--example", "reference"];

/// A copy of the workspace, and the folder with its programs. Other compiler output is shared with the workspace
/// itself, so that third-party crates compile once for both.
struct Copy {
    root: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn of_the_workspace(name: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let from = from.expect("this crate lies two folders below the root");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name);
        let copy = Self {
            root: folder.join("workspace"),
            target: folder.join("target"),
        };
        copy.fill(from).expect("the workspace can be copied");
        copy
    }

    fn fill(&self, from: &Path) -> io::Result<()> {
        if self.root.exists() {
            fs::remove_dir_all(&self.root)?;
        }
        fs::create_dir_all(&self.root)?;
        for file in FILES {
            fs::copy(from.join(file), self.root.join(file))?;
        }
        self.write(
            "Cargo.toml",
            &without_optimisation(&self.read("Cargo.toml")),
        );
        for folder in FOLDERS {
            copy_folder(&from.join(folder), &self.root.join(folder))?;
        }
        Ok(())
    }

    /// Applies the instructions of a part of the page. Returns the changed files with the number of lines added to
    /// each.
    fn follow(&self, part: &str) -> Vec<(String, usize)> {
        let page = self.read("CONTRIBUTING.md");
        let begin = format!("<!-- ANCHOR: {part} -->\n");
        let (_, text) = page.split_once(&begin).expect("the part begins");
        let end = format!("<!-- ANCHOR_END: {part} -->");
        let (text, _) = text.split_once(&end).expect("the part ends");
        let mut touched: Vec<(String, usize)> = Vec::new();
        for block in blocks(text) {
            let text = match block.language.as_str() {
                "diff" => apply(&block.file, &self.read(&block.file), &block.text),
                "rust" | "c" => block.text.clone(),
                _ => continue,
            };
            self.write(&block.file, &text);
            let added = block.text.lines().filter(|line| line.starts_with('+'));
            let added = added.count();
            match touched.iter_mut().find(|(file, _)| *file == block.file) {
                Some((_, lines)) => *lines += added,
                None => touched.push((block.file, added)),
            }
        }
        touched
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).expect("the file was copied")
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.root.join(file), text).expect("the copy can be changed");
    }

    /// The exit status of `program` in `folder`, and both of its outputs.
    fn run(program: &Path, arguments: &[&str], folder: &Path) -> (i32, String) {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(folder).output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.code().expect("an exit status"), text)
    }

    /// Makes the crate `other` a member of the workspace, and returns it. Alone, it would compile most third-party
    /// crates again, with fewer features.
    fn join(&self, other: &Self) -> Self {
        let name = other.root.file_name().expect("a crate has a name");
        let member = Self {
            root: self.root.join("crates/own").join(name),
            target: self.target.clone(),
        };
        fs::create_dir_all(member.root.parent().expect("a folder above"))
            .expect("a folder can be made");
        copy_folder(&other.root, &member.root).expect("a crate can be copied");
        let manifest = member.read("Cargo.toml");
        let (manifest, _) = manifest
            .split_once("# Tests simulate")
            .expect("the profile is last");
        let manifest = manifest.replace("\"../../crates", "\"../../../crates");
        let name = name.to_string_lossy();
        // Its tests get a name that no other crate has.
        let tests = format!(
            "[lib]\ntest = false\n\n[[test]]\nname = \"of_{name}\"\npath = \"src/lib.rs\"\n"
        );
        let has_library = member.root.join("src/lib.rs").exists();
        member.write(
            "Cargo.toml",
            &(manifest + if has_library { &tests } else { "" }),
        );
        member
    }

    /// Builds programs of the workspace.
    fn build(&self, programs: &[&str]) {
        let programs = programs.iter().flat_map(|name| ["--bin", name]);
        let arguments = ["build", "--offline", "--quiet"].into_iter();
        let arguments: Vec<&str> = arguments.chain(SHARED).chain(programs).collect();
        self.cargo(&arguments);
    }

    /// The path of a program that was built.
    fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// Runs Cargo to success and returns its standard output.
    fn cargo(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", &self.target);
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
        command.env("CARGO_BUILD_BUILD_DIR", shared.expect("a folder above"));
        // Nothing here runs long enough for optimised code to pay for its compilation, and hardly anything is compiled
        // twice. The level of debug information is unique: with equal profiles, crates of the copy would overwrite those
        // of the workspace.
        command
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "line-directives-only");
        let output = command.output().expect("cargo starts");
        let messages = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "cargo {}\n{text}\n{messages}",
            arguments.join(" ")
        );
        text
    }
}

/// The manifest of the workspace with all its own crates unoptimised. The profile sets this for each crate, which
/// overrides a variable. Third-party crates are unchanged, so they compile once for both.
fn without_optimisation(manifest: &str) -> String {
    let name = |line: &'_ str, table: &str| line.split_once(table).map(|(name, _)| name.to_owned());
    let lines = manifest.lines();
    let own: BTreeSet<String> = lines
        .filter_map(|line| name(line, " = { path = "))
        .collect();
    let is_own =
        |line: &&str| name(line, " = { opt-level = ").is_some_and(|name| own.contains(&name));
    let lines = manifest.lines().filter(|line| !is_own(line));
    let kept: Vec<&str> = lines.collect();
    assert!(
        kept.len() < manifest.lines().count(),
        "the profiles have moved"
    );
    kept.join("\n") + "\n"
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

/// A fenced block of a Markdown page.
struct Block {
    language: String,
    /// The last file named in the text before it.
    file: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut file = String::new();
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    language: language.to_owned(),
                    file: file.clone(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {
                let quoted = line.split('`').skip(1).step_by(2);
                let named = quoted.filter(|text| text.starts_with("crates/") && text.contains('.'));
                if let Some(last) = named.last() {
                    last.clone_into(&mut file);
                }
            }
        }
    }
    blocks
}

/// The `text` of a file with the lines of `diff` that begin with `-` replaced by those that begin with `+`. The other
/// lines of `diff` locate the place.
fn apply(file: &str, text: &str, diff: &str) -> String {
    let side = |other: char| {
        let lines = diff.lines().filter(|line| !line.starts_with(other));
        let lines = lines.map(|line| line.get(1..).unwrap_or_default());
        let lines: Vec<&str> = lines.collect();
        format!("\n{}\n", lines.join("\n"))
    };
    let (before, after) = (side('+'), side('-'));
    assert_eq!(text.matches(&before).count(), 1, "one {before:?} in {file}");
    text.replace(&before, &after)
}
