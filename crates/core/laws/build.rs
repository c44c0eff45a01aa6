//! Compiles the laws. Where the compiler can, a build for development traps what C leaves undefined.

use std::env;

// Named for its features alone: the workspace's manifest says why.
use libc as _;

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rustc-check-cfg=cfg(laws_traps)");
    let mut build = cc::Build::new();
    build.file("c/laws.c").std("c11").flag("-ffreestanding");
    build
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true);
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        let traps = TRAPS
            .into_iter()
            .find(|trap| build.is_flag_supported(trap).unwrap_or(false));
        if let Some(trap) = traps {
            build.flag("-fsanitize=undefined").flag(trap);
            build.define("LAWS_TRAPS", None);
            println!("cargo::rustc-cfg=laws_traps");
        }
    }
    build.compile("laws");
}

/// How compilers spell that a trap needs no library: Clang and GCC from 13 on, and GCC before.
const TRAPS: [&str; 2] = ["-fsanitize-trap=all", "-fsanitize-undefined-trap-on-error"];
