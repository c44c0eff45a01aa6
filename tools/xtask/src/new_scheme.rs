//! `cargo xtask new-scheme NAME`.

use crate::repository::{Failure, Repository};

/// Writes `crates/core/schemes/src/NAME.rs` and the two lines that register it.
pub(crate) fn new_scheme(repository: &Repository, name: &str) -> Result<(), Failure> {
    let file = format!("crates/core/schemes/src/{name}.rs");
    if let Some(why) = objection(name) {
        return Err(Failure(format!("{name:?} cannot name a scheme: {why}")));
    }
    let folder = file.trim_end_matches(".rs");
    if repository.path(&file).exists() || repository.path(folder).exists() {
        return Err(Failure(format!("{file} is already there")));
    }
    let keys = repository.read("crates/simulate/plan/src/keys.rs")?;
    if keys.contains(&format!(" in \"{name}\"")) {
        return Err(Failure(format!("{name:?} is already a group of settings")));
    }
    let registry = register(&repository.read(REGISTRY)?, name)?;
    repository.write(&file, &skeleton(name))?;
    repository.write(REGISTRY, &registry)?;
    println!("wrote {file} and its two lines in {REGISTRY}");
    println!("next: fill in the four parts of its documentation; CONTRIBUTING.md shows an example");
    Ok(())
}

const REGISTRY: &str = "crates/core/schemes/src/lib.rs";

/// Why `name` is not possible. It becomes a module, a group of settings and a word of the command line.
fn objection(name: &str) -> Option<&'static str> {
    let letter = |byte: u8| byte.is_ascii_lowercase();
    let mut bytes = name.bytes();
    if !bytes.next().is_some_and(letter) {
        return Some("it has to begin with a lowercase letter");
    }
    if !bytes.all(|byte| letter(byte) || byte.is_ascii_digit() || byte == b'_') {
        return Some("it may have lowercase letters, digits and underscores");
    }
    if RESERVED.contains(&name) {
        return Some("it means something else to Rust or to `tailwater explain`");
    }
    None
}

/// Keywords of Rust, modules of the crate, and words of `tailwater explain`.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "lib", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "registry", "results", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "variant", "virtual", "where", "while",
    "yield",
];

/// The registry with `pub mod NAME;` at its sorted place and a sender at the end of the list.
fn register(text: &str, name: &str) -> Result<String, Failure> {
    let strange = || {
        Failure(format!(
            "{REGISTRY} does not look as expected; add the two lines by hand"
        ))
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let module = format!("pub mod {name};");
    let is_module = |line: &String| line.starts_with("pub mod ");
    let first = lines.iter().position(is_module).ok_or_else(strange)?;
    let others = lines[first..].iter().take_while(|line| is_module(line));
    let place = first + others.take_while(|line| **line < module).count();
    lines.insert(place, module);

    let list = lines
        .iter()
        .position(|line| line == "schemes! {")
        .ok_or_else(strange)?;
    let end = lines[list..]
        .iter()
        .position(|line| line == "}")
        .ok_or_else(strange)?;
    lines.insert(list + end, format!("    {name} {{ sender: Sender }},"));
    Ok(lines.join("\n") + "\n")
}

fn skeleton(name: &str) -> String {
    SKELETON.replace("NAME", name)
}

/// A scheme that is NewReno with a least window.
const SKELETON: &str = r#"//! NAME: what it does, in one line.
//!
//! The idea, in one paragraph.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | w | `NAME.min_window` | 1 segment | section of the paper |
//!
//! Deviations: none.
//!
//! Open in the paper: nothing.

use base::setting::Settings;
use base::{Count, Time};
use tcp::{Ack, Established, Loss, NewReno, Restart, SenderCc};

use crate::registry::{FlowInfo, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "NAME",
    summary: "What it does, in one line",
    reference: "Authors, venue, year",
    roles: &[Role::Sender],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH],
    build: &|text| Ok(Roles::of_sender(Params::read(text)?, Sender::new)),
    ..Scheme::PLAIN
};

base::settings! {
    /// Parameters of NAME.
    pub struct Params in "NAME" {
        /// Least congestion window, in segments.
        pub min_window: Count = "1",
    }
}

/// A sender of one connection.
#[derive(Debug)]
pub struct Sender {
    reno: NewReno,
    /// Least window, in segments.
    min_segments: u64,
}

impl Sender {
    fn new(params: &Params, flow: &FlowInfo) -> Self {
        Self {
            reno: NewReno::new(&flow.config),
            min_segments: u64::from(params.min_window.0),
        }
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        self.reno.window().max(self.min_segments * self.reno.mss())
    }

    fn on_established(&mut self, handshake: &Established) {
        self.reno.on_established(handshake);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        self.reno.on_loss(loss, in_flight, now);
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        self.reno.on_recovered(limit);
    }

    fn on_undo(&mut self) {
        self.reno.on_undo();
    }

    fn on_idle(&mut self, restart: Restart) {
        self.reno.on_idle(restart);
    }

    fn is_slow_starting(&self) -> bool {
        self.reno.is_slow_starting()
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        self.reno.gauges(sink);
    }
}

#[cfg(test)]
mod tests {
    use tcp::Config;

    use super::*;

    #[test]
    fn the_window_never_falls_below_its_minimum() {
        let config = Config {
            mss: 1000,
            ..Config::default()
        };
        let flow = FlowInfo { size: None, config };
        let params = Params {
            min_window: Count(3),
        };
        let mut sender = Sender::new(&params, &flow);
        sender.on_loss(Loss::Timeout, 10_000, Time::ZERO);
        assert_eq!(sender.window(), 3000);
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "pub mod dctcp;\npub mod rcc;\n\nschemes! {\n    dctcp,\n    rcc,\n}\n";

    #[test]
    fn a_scheme_is_registered_by_two_lines() {
        let expected = "pub mod dctcp;\npub mod half;\npub mod rcc;\n\nschemes! {\n    dctcp,\n    rcc,\n    half { sender: Sender },\n}\n";
        assert_eq!(register(LIB, "half").unwrap(), expected);
        assert!(
            register(LIB, "zeta")
                .unwrap()
                .contains("pub mod rcc;\npub mod zeta;\n\n")
        );
        assert!(
            register(LIB, "alpha")
                .unwrap()
                .starts_with("pub mod alpha;\npub mod dctcp;\n")
        );
    }

    #[test]
    fn names_are_words_that_a_module_can_have() {
        for name in ["half", "rc3", "fixed_window"] {
            assert_eq!(objection(name), None, "{name}");
        }
        for name in [
            "",
            "Half",
            "3rc",
            "fixed-window",
            "match",
            "results",
            "a/b",
            "é",
            "_x",
        ] {
            assert!(objection(name).is_some(), "{name}");
        }
    }
}
