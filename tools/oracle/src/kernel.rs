//! User-mode Linux with time travel, built from Debian's sources and kept outside the tree.
//!
//! Four lines of User-mode Linux are changed. All concern time and none concerns TCP. First, 100 ticks a second would
//! round every timer of TCP to 10 ms, without a configuration option; they become 1000. Second, the clock moves by 256
//! ns whenever a process reads it, so 32 senders, whose processes wake up one after the other, would begin 2.4 us
//! apart, and every queue with a rate would round its times; it becomes 1 ns. Third, no timer expires sooner than 500
//! ns after another, so a port of 10 Gbit/s, which sends a packet every 1211 ns, would lose a tenth of its rate; this
//! becomes 1 ns, too. Fourth, a failing system call takes 1 us, in which no timer expires, so packets of many links
//! that are due within it leave together, which decides which of them find room in a queue; it becomes 1 ns.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};
use twox_hash::XxHash64;

/// A kernel that can boot.
#[derive(Debug)]
pub struct Kernel {
    /// The folder of the kernel, its configuration and the answers of its boots.
    pub folder: PathBuf,
    /// Its release and the version of Debian's package.
    pub release: String,
}

/// Debian's package of the sources.
const PACKAGE: &str = "linux-source-6.12";
/// Options on top of the default configuration.
const OPTIONS: &str = include_str!("../guest/kernel.config");
/// The changes of User-mode Linux: file, the line before, the old text and the new text.
const CHANGES: [(&str, &str, &str, &str); 4] = [
    (
        "arch/um/Kconfig",
        "config HZ\n",
        "default 100\n",
        "default 1000\n",
    ),
    (
        "arch/um/include/linux/time-internal.h",
        "",
        "TIMER_MULTIPLIER 256\n",
        "TIMER_MULTIPLIER 1\n",
    ),
    (
        "arch/um/include/linux/time-internal.h",
        "",
        "TIMER_MIN_DELTA  500\n",
        "TIMER_MIN_DELTA  1\n",
    ),
    (
        "arch/um/kernel/skas/syscall.c",
        "if (IS_ERR_VALUE(ret)",
        "um_udelay(1);\n",
        "um_ndelay(1);\n",
    ),
];
/// Programs for building and booting, and their Debian packages.
const TOOLS: [(&str, &str); 11] = [
    ("apt-get", "apt"),
    ("dpkg-deb", "dpkg"),
    ("make", "build-essential"),
    ("gcc", "build-essential"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("xz", "xz-utils"),
    ("/usr/bin/python3", "python3"),
    ("ip", "iproute2"),
    ("ethtool", "ethtool"),
];

impl Kernel {
    /// The kernel for this version of the project; builds it if necessary.
    pub fn get() -> Result<Self> {
        let folder = cache()?.join(id());
        let kernel = folder.join("linux");
        if !kernel.exists() {
            tools()?;
            build(&folder)
                .with_context(|| format!("cannot build a kernel in {}", folder.display()))?;
        }
        let release = fs::read_to_string(folder.join("release"))?
            .trim()
            .to_owned();
        Ok(Self { folder, release })
    }

    /// The program that is the kernel.
    pub fn program(&self) -> PathBuf {
        self.folder.join("linux")
    }
}

/// A hash of everything from which the kernel is made.
fn id() -> String {
    let changed = CHANGES.map(|(_, _, _, after)| after).concat();
    let parts = [PACKAGE, OPTIONS, &changed].concat();
    format!("{:016x}", XxHash64::oneshot(0, parts.as_bytes()))
}

/// The folder for files that can be made again.
fn cache() -> Result<PathBuf> {
    let of = |name: &str| {
        env::var_os(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let base = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    let base = base.context("neither XDG_CACHE_HOME nor HOME names a folder for the kernel")?;
    Ok(base.join("tailwater/oracle-linux"))
}

fn tools() -> Result<()> {
    let absent = |(program, _): &&(&str, &str)| {
        let found = Command::new("sh")
            .args(["-c", "command -v -- \"$0\"", program])
            .stdout(Stdio::null())
            .status();
        !found.is_ok_and(|status| status.success())
    };
    let absent: Vec<&(&str, &str)> = TOOLS.iter().filter(absent).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let programs: Vec<&str> = absent.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = absent.iter().map(|(_, package)| *package).collect();
    bail!(
        "{} not found; on Debian: apt install {}",
        programs.join(", "),
        packages.join(" ")
    )
}

/// Fetches, configures and compiles the sources below `folder`. Only the kernel and the facts about its origin are
/// kept.
fn build(folder: &Path) -> Result<()> {
    let work = folder.join("build");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;
    run(
        Command::new("apt-get").args(["-q", "download", PACKAGE]),
        &work,
    )?;
    let package = single(&work, ".deb")?;
    run(
        Command::new("dpkg-deb").arg("-x").arg(&package).arg("."),
        &work,
    )?;
    let archive = work.join(format!("usr/src/{PACKAGE}.tar.xz"));
    run(Command::new("tar").arg("-xf").arg(&archive), &work)?;
    let sources = work.join(PACKAGE);
    for change in CHANGES {
        apply(&sources, change)?;
    }
    make(&sources, &["defconfig"])?;
    let config = sources.join(".config");
    let text = fs::read_to_string(&config)? + OPTIONS;
    fs::write(&config, text)?;
    make(&sources, &["olddefconfig"])?;
    let text = fs::read_to_string(&config)?;
    for option in OPTIONS.lines().filter(|line| !line.starts_with('#')) {
        ensure!(
            text.lines().any(|line| line == option),
            "the configuration does not accept {option}"
        );
    }
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    make(&sources, &["-s", &format!("-j{jobs}"), "linux"])?;
    let release = fs::read_to_string(sources.join("include/config/kernel.release"))?;
    let version = Command::new("dpkg-deb")
        .arg("-f")
        .arg(&package)
        .arg("Version")
        .output()?;
    let version = String::from_utf8_lossy(&version.stdout);
    fs::write(
        folder.join("release"),
        format!("{} (Debian {PACKAGE} {})\n", release.trim(), version.trim()),
    )?;
    fs::copy(&config, folder.join("config"))?;
    run(
        Command::new("strip")
            .arg("-o")
            .arg(folder.join("linux"))
            .arg(sources.join("linux")),
        &work,
    )?;
    fs::remove_dir_all(&work)?;
    Ok(())
}

/// The only file of `folder` whose name ends so.
fn single(folder: &Path, end: &str) -> Result<PathBuf> {
    let names = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = names.filter(|path| path.to_string_lossy().ends_with(end));
    found
        .next()
        .with_context(|| format!("{} has no file *{end}", folder.display()))
}

/// Makes one change; the text before it must match.
fn apply(sources: &Path, (file, line, before, after): (&str, &str, &str, &str)) -> Result<()> {
    let path = sources.join(file);
    let text = fs::read_to_string(&path)?;
    let at = text.find(line).filter(|at| text[*at..].contains(before));
    let at = at.with_context(|| format!("{file} does not say {:?}", before.trim()))?;
    let (head, tail) = text.split_at(at);
    fs::write(&path, [head, &tail.replacen(before, after, 1)].concat())?;
    Ok(())
}

fn make(sources: &Path, arguments: &[&str]) -> Result<()> {
    run(Command::new("make").arg("ARCH=um").args(arguments), sources)
}

/// Runs a command in `folder`; its output goes to standard error.
fn run(command: &mut Command, folder: &Path) -> Result<()> {
    let status = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .with_context(|| format!("{command:?} did not start"))?;
    ensure!(status.success(), "{command:?} failed ({status})");
    Ok(())
}
