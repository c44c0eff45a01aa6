//! What the laws are as texts and as programs: short, plain, trapped where undefined, fit for a kernel.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

// Brings the compiled C with it.
use laws as _;

#[test]
fn headers_are_short_and_use_nothing_that_a_kernel_lacks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    for name in ["flight.h", "grant.h", "hscc.h", "idle.h", "rwndq.h"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.lines().count() < 120, "{name} fits on two screens");
        let code = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or(line));
        for (number, line) in code.enumerate() {
            let words = line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            for word in words {
                let banned = [
                    "for", "while", "do", "goto", "float", "double", "int", "long", "char",
                ];
                let signed = word.starts_with("int") && word.ends_with("_t");
                let is_banned = banned.contains(&word) || signed;
                assert!(!is_banned, "{name}:{}: {word}", number + 1);
            }
        }
    }
}

#[test]
fn the_laws_compile_for_the_kernel() {
    if testing::tool("clang").is_none() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf.sh");
    let output = Command::new(script).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        said,
        "flight.h compiles for BPF\ngrant.h compiles for BPF\nhscc.h compiles for BPF\nidle.h compiles for BPF\nmark.h compiles for BPF\nrwndq.h compiles for BPF\n"
    );
}

/// A test that traps nothing shows nothing, so one that must trap is run by itself.
#[test]
fn what_c_leaves_undefined_is_trapped() {
    const PLACES: &str = "TAILWATER_LAWS_SHIFT";
    #[cfg(laws_traps)]
    {
        #[expect(unsafe_code, reason = "undefined behaviour is what is tested")]
        // SAFETY: the function of `c/laws.c` that builds with traps have; it traps 32 and more.
        unsafe extern "C" {
            safe fn laws_shift(places: u32) -> u32;
        }
        if let Ok(places) = env::var(PLACES) {
            assert_eq!(laws_shift(places.parse().unwrap()), 8);
            return;
        }
        let shifts = |places: &str| {
            let mut again = Command::new(env::current_exe().unwrap());
            again.args(["--exact", "native::what_c_leaves_undefined_is_trapped"]);
            again.env(PLACES, places).output().unwrap().status
        };
        assert!(shifts("3").success());
        // A failed assertion exits with 101; a trap is a signal and has no exit code.
        assert_eq!(shifts("32").code(), None);
    }
    #[cfg(not(laws_traps))]
    {
        let refused = env::var_os("TAILWATER_NO_SKIP").is_some();
        assert!(
            !refused,
            "{PLACES}: this C compiler has no traps, or this build is optimised"
        );
    }
}
