//! Compiles the programs for the kernel's virtual machine, if they are asked for.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=../laws/c");
    if env::var_os("CARGO_FEATURE_KERNEL").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo tells where files go"));
    for program in PROGRAMS {
        compile(program, &out.join(format!("{program}.o")));
    }
}

fn compile(program: &str, object: &Path) {
    let folder = env::current_dir().expect("cargo starts it in the folder of the crate");
    // Files are named from the folder of the crate, so that objects are the same wherever it lies.
    let prefix = format!("-ffile-prefix-map={}=.", folder.display());
    let status = Command::new("clang")
        .args(FLAGS)
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

const PROGRAMS: [&str; 5] = ["hscc", "rwndq", "mark", "queue", "vectors"];
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
    "../laws/c",
    "-fdebug-compilation-dir=.",
];
