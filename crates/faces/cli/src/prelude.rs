//! The types for writing a scheme.

pub use base::setting::Settings;
pub use base::{
    Count, DataSize, Factor, Fraction, OrAuto, OrOff, Packet, Rate, Span, Time, settings,
};
pub use fabric::{
    Backlog, Calls, Discipline, Limit, QueueDisc, Quiet, Strict, SwitchHook, Verdict,
};
pub use schemes::{
    FlowInfo, Helper, Hold, HostInfo, Misfit, Origin, PlainSwitches, PortInfo, Receiver, Role,
    Roles, Scheme, Sender, Ticker, TickerOf,
};
pub use tcp::{
    Ack, AckKind, AckSent, AckVerdict, Arrival, Config, Delivery, DeliveryCc, Echo, EcnMode,
    Established, Gauge, HostHelper, Loss, LowPriority, NewReno, Orders, Plain, ReceiverCc, Release,
    Released, Restart, SegmentCc, SenderCc, Slot,
};

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    /// The sources that declare the types which a scheme fills in or gets. It only reads values of TCP's settings.
    const SOURCES: [&str; 13] = [
        "fabric/src/hook.rs",
        "fabric/src/priority.rs",
        "fabric/src/queue.rs",
        "schemes/src/registry.rs",
        "schemes/src/registry/hold.rs",
        "schemes/src/registry/outside.rs",
        "tcp/src/cc.rs",
        "tcp/src/host_helper.rs",
        "tcp/src/low_priority.rs",
        "tcp/src/plays.rs",
        "tcp/src/receiver.rs",
        "tcp/src/receiver_cc.rs",
        "tcp/src/restart.rs",
    ];
    /// The traits that a scheme implements, and its parts.
    const ROOTS: [&str; 9] = [
        "DeliveryCc",
        "HostHelper",
        "QueueDisc",
        "ReceiverCc",
        "Roles",
        "Scheme",
        "SegmentCc",
        "SenderCc",
        "SwitchHook",
    ];
    /// Only the registry names these; a scheme writes the closure or the number instead.
    const NEVER_WRITTEN: [&str; 7] = [
        "BuildRoles",
        "MakeHook",
        "MakeHost",
        "MakeQueue",
        "MakeReceiver",
        "MakeSender",
        "ParamTexts",
    ];

    #[test]
    fn whatever_a_role_is_given_or_returns_is_in_the_prelude() {
        let mut declared = BTreeMap::new();
        for file in SOURCES {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../core")
                .join(file);
            let text = std::fs::read_to_string(&path).expect("a source of this workspace");
            declared.extend(items(&text));
        }
        let own = include_str!("prelude.rs");
        let own: BTreeSet<String> = words(own.split("#[cfg(test)]").next().unwrap_or(own));
        let mut met: BTreeSet<String> = ROOTS.map(str::to_owned).into();
        let mut left: Vec<String> = met.iter().cloned().collect();
        while let Some(name) = left.pop() {
            let named = declared.get(&name);
            let named = named.unwrap_or_else(|| panic!("{name} is declared elsewhere"));
            let new = named.iter().filter(|word| declared.contains_key(*word));
            left.extend(new.filter(|word| met.insert((*word).clone())).cloned());
        }
        assert!(met.contains("Echo"), "an ACK echoes marks: {met:?}");
        let is_lacking = |name: &&String| !own.contains(*name);
        let lacking = met.iter().filter(is_lacking);
        let lacking = lacking.filter(|name| !NEVER_WRITTEN.contains(&name.as_str()));
        let lacking: Vec<&String> = lacking.collect();
        assert!(lacking.is_empty(), "no scheme can name {lacking:?}");
    }

    /// The public types and traits of a source, each with the words in its declaration that may be types.
    fn items(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut items = BTreeMap::new();
        let mut lines = text.lines();
        while let Some(first) = lines.next() {
            let kind = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
            let Some(rest) = kind.iter().find_map(|kind| first.strip_prefix(kind)) else {
                continue;
            };
            if first.starts_with("pub struct ") && first.ends_with(';') {
                // It has no variants, so there are no values of it.
                continue;
            }
            let name = rest.split(|c: char| !c.is_alphanumeric()).next();
            let mut body = rest.to_owned();
            if first.ends_with('{') {
                let inner = lines.by_ref().take_while(|line| *line != "}");
                // Private fields need no name.
                let is_seen =
                    |line: &&str| !first.starts_with("pub struct ") || line.contains("pub ");
                let seen = inner.filter(is_seen);
                body.extend(seen.filter(|line| !line.trim().starts_with("//")));
            }
            items.insert(name.unwrap_or(rest).to_owned(), words(&body));
        }
        items
    }

    fn words(text: &str) -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let types = words.filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
        types.map(str::to_owned).collect()
    }
}
