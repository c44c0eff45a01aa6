//! Compiles the programs for the kernel's virtual machine, if wanted, and the packet parser for tests on any machine.

use std::env;
use std::fs;
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
    let mut at_ports = Vec::new();
    for program in programs() {
        let text = fs::read_to_string(format!("bpf/{program}.bpf.c")).expect("it was listed");
        compile(&program, &[], &out.join(format!("{program}.o")));
        if text.contains("#include \"port.h\"") {
            let object = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{program}.o\"))");
            at_ports.push(format!("    (\"{program}\", {object}),\n"));
        }
        // Tests measure a law that changes ACKs in a program of their own.
        if text.contains("#include \"record.h\"") && text.contains("SEC(\"tcx/ingress\")") {
            let law = format!("-DLAW=\"{program}.bpf.c\"");
            compile(WRAPPED, &[&law], &out.join(format!("{program}_wrapped.o")));
        }
    }
    for (program, right, wrong) in DEFECTS {
        compile_defect(program, (right, wrong), &out);
    }
    println!("cargo::rustc-env=TAILWATER_CLANG={}", compiler());
    let at_ports = at_ports.concat();
    let table = format!("const AT_PORTS: &[(&str, &[u8])] = &[\n{at_ports}];\n");
    fs::write(out.join("at_ports.rs"), table).expect("the folder can be written");
}

/// The names of the programs: each file of `bpf` is one, except for the file around another.
fn programs() -> Vec<String> {
    let entries = fs::read_dir("bpf").expect("cargo starts it in the folder of the crate");
    let names = entries.map(|entry| entry.expect("a file").file_name());
    let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".bpf.c")?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| name != WRAPPED).collect();
    names.sort();
    names
}

/// Compiles a library with the parser for its test.
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

/// Compiles a program whose law has a defect, which a test of certificates must find.
fn compile_defect(program: &str, (right, wrong): (&str, &str), out: &Path) {
    let law = fs::read_to_string(format!("../../core/laws/c/{program}.h"));
    let law = law.expect("the law of the program");
    assert_eq!(law.matches(right).count(), 1, "{right} of {program}.h");
    let folder = out.join("defects");
    fs::create_dir_all(&folder).expect("the folder can be written");
    let header = folder.join(format!("{program}.h"));
    fs::write(header, law.replace(right, wrong)).expect("the folder can be written");
    let before_others = format!("-iquote{}", folder.display());
    let object = out.join(format!("{program}_defect.o"));
    compile(program, &[&before_others], &object);
}

/// The first line of the compiler's version output.
fn compiler() -> String {
    let output = Command::new("clang").arg("--version").output();
    let output = output.expect("it has compiled the programs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().unwrap_or_default().trim().to_owned()
}

fn compile(program: &str, more: &[&str], object: &Path) {
    let folder = env::current_dir().expect("cargo starts it in the folder of the crate");
    // File names are relative to the folder of the crate, so that objects do not depend on its location.
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

/// Programs with a place in their law and a defect of one bit there: the shift of a window, a factor, a threshold.
const DEFECTS: [(&str, &str, &str); 3] = [
    ("hscc", "- 1) >> scale;", "- 1) >> (scale ^ 1);"),
    ("rwndq", "* 256 / target", "* 257 / target"),
    (
        "mark",
        ">= params->from_bytes",
        ">= (params->from_bytes ^ 1)",
    ),
];
/// The program around a law that tests and measurements call.
const WRAPPED: &str = "wrapped";
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
