//! Compiles the programs for the kernel's virtual machine, if they are asked for, and what parses packets for tests on
//! any machine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=../../core/laws/c");
    println!("cargo::rerun-if-changed=tests/parser/packet.c");
    compile_parser();
    if env::var_os("CARGO_FEATURE_KERNEL").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo tells where files go"));
    for (object, program, more) in OBJECTS {
        compile(program, more, &out.join(format!("{object}.o")));
    }
}

/// A library that the test of the parser links.
fn compile_parser() {
    let mut build = cc::Build::new();
    build
        .file("tests/parser/packet.c")
        .include("bpf")
        .std("c11");
    build.warnings(true).extra_warnings(true);
    build.warnings_into_errors(true).cargo_metadata(false);
    build.compile("packet");
    let out = env::var("OUT_DIR").expect("cargo tells where files go");
    println!("cargo::rustc-link-search=native={out}");
}

fn compile(program: &str, more: &[&str], object: &Path) {
    let folder = env::current_dir().expect("cargo starts it in the folder of the crate");
    // Files are named from the folder of the crate, so that objects are the same wherever it lies.
    let prefix = format!("-ffile-prefix-map={}=.", folder.display());
    let status = Command::new("clang")
        .args(FLAGS)
        .args(more)
        .args([&prefix, "-c", &format!("bpf/{program}.bpf.c"), "-o"])
        .arg(object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("clang does not compile bpf/{program}.bpf.c"),
        Err(error) => panic!(
            "clang does not start ({error}); the feature `kernel` needs it, libelf and zlib to build: apt install clang libelf-dev zlib1g-dev \
             pkg-config, or dnf install clang elfutils-libelf-devel zlib-devel pkgconf"
        ),
    }
}

/// Objects, the program each is compiled from, and what the compiler is told besides.
const OBJECTS: [(&str, &str, &[&str]); 18] = [
    ("hscc", "hscc", &[]),
    ("rwndq", "rwndq", &[]),
    ("mark", "mark", &[]),
    ("grants", "grants", &[]),
    ("assigned", "assigned", &[]),
    ("queue", "queue", &[]),
    ("observe", "observe", &[]),
    ("losses", "losses", &[]),
    ("probe_loop", "probe_loop", &[]),
    ("probe_ring", "probe_ring", &[]),
    ("probe_returns", "probe_returns", &[]),
    // For tests and measurements.
    ("vectors", "vectors", &[]),
    ("observe_empty", "observe_empty", &[]),
    ("queue_steps", "queue_steps", &[]),
    ("hscc_recording", "hscc", &["-DRECORD"]),
    ("rwndq_recording", "rwndq", &["-DRECORD"]),
    ("hscc_wrapped", "wrapped", &["-DLAW=\"hscc.bpf.c\""]),
    ("rwndq_wrapped", "wrapped", &["-DLAW=\"rwndq.bpf.c\""]),
];
const FLAGS: [&str; 16] = [
    "-target",
    "bpf",
    "-mcpu=v3",
    "-O2",
    "-g",
    "-std=gnu11",
    "-ffreestanding",
    "-nostdinc",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Ibpf/include",
    "-Ibpf",
    "-I",
    "../../core/laws/c",
    "-fdebug-compilation-dir=.",
];
