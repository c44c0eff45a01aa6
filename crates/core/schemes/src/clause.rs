//! Clauses of documents, and which of them asks for a decision that a sender takes.
//!
//! The clauses are the lists that tests prove (`conformance` in `tcp` and here), so that a page which shows a
//! simulation says why a sender did what it did.

/// A sentence of an RFC, or a line or equation of a paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clause {
    /// Its name in the lists.
    pub id: &'static str,
    /// The document of its list.
    pub document: &'static str,
    /// Where it stands in the document; with its own document if that is another one.
    pub section: &'static str,
    /// The behaviour that it asks for.
    pub text: &'static str,
}

impl Clause {
    /// Where it stands, with its document: `RFC 6298 §5.4`, `RCC Alg. 2 l. 3`.
    pub fn place(&self) -> String {
        let Self {
            document, section, ..
        } = self;
        if section.starts_with("RFC") {
            (*section).to_owned()
        } else if section.starts_with(|first: char| first.is_ascii_digit()) {
            format!("{document} §{section}")
        } else {
            format!("{document} {section}")
        }
    }
}

/// A decision of a sender, seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Decision {
    /// The retransmission timer has expired.
    Timeout,
    /// The timer of a SYN has expired.
    SynTimeout,
    /// A loss is believed, and fast recovery begins.
    EnterRecovery,
    /// Fast recovery ends.
    LeaveRecovery,
    /// A segment is sent again in fast recovery.
    Retransmit,
    /// The tail of a flight is probed.
    TailProbe,
    /// A reduction of the window is taken back.
    Undo,
    /// The window is smaller than before, and no loss was the cause.
    Reduce,
    /// The advertised window holds the sender back.
    Held,
}

/// How a sender finds losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detection {
    /// By duplicate ACKs.
    Duplicates,
    /// By SACK.
    Sack,
    /// By a record of the times at which segments left.
    Record,
}

/// The clause that asks for `decision` where flows have the scheme or composition `bundle`. `None` where no listed document
/// has one: a window that the buffer of the receiver limits, say.
pub fn deciding(decision: Decision, detection: Detection, bundle: &str) -> Option<Clause> {
    let by = |[duplicates, sack, record]: [&'static str; 3]| match detection {
        Detection::Duplicates => duplicates,
        Detection::Sack => sack,
        Detection::Record => record,
    };
    let id = match decision {
        Decision::Timeout => "RFC6298-5.4-earliest",
        Decision::SynTimeout => "RFC6298-5.7-syn",
        Decision::EnterRecovery => by(["RFC6582-3.2-enter", "RFC6675-5-enter", "RFC8985-6.2-lost"]),
        Decision::LeaveRecovery => by(["RFC6582-3.2-full", "RFC6675-5-end", "RFC6675-5-end"]),
        Decision::Retransmit => by(["RFC6582-3.2-hole", "RFC6675-4-next-1", "RFC6675-4-next-1"]),
        Decision::TailProbe => "RFC8985-7.3-segment",
        Decision::Undo => "RFC4015-3.2-window",
        Decision::Reduce if bundle.split('+').any(|part| part == "dctcp") => "RFC8257-3.3-cut",
        Decision::Reduce => "RFC3168-6.1.2-once",
        Decision::Held => bundle.split('+').find_map(|part| match part {
            "rcc" | "rdtcp" => Some("RCC-alg2-3"),
            "rwndq" => Some("RWNDQ-alg1-ack"),
            "hscc" => Some("HSCC-4-rewrite"),
            _ => None,
        })?,
    };
    clause(id)
}

/// The clause of this name.
pub fn clause(id: &str) -> Option<Clause> {
    LISTS
        .into_iter()
        .chain(tcp::CONFORMANCE)
        .find_map(|list| find(list, id))
}

/// The clause of this name in a list. O(length of the list).
fn find(list: &'static str, id: &str) -> Option<Clause> {
    let mut lines = list.lines();
    let document = value(lines.next()?, "document")?;
    let id = lines.find_map(|line| value(line, "id").filter(|found| *found == id))?;
    let own = || lines.clone().take_while(|line| !line.is_empty());
    let of = |key| own().find_map(|line| value(line, key));
    Some(Clause {
        id,
        document,
        section: of("section")?,
        text: of("text")?,
    })
}

/// The text in `key = "text"`.
fn value(line: &'static str, key: &str) -> Option<&'static str> {
    let rest = line.strip_prefix(key)?.strip_prefix(" = \"")?;
    rest.strip_suffix('"')
}

/// The lists of this crate.
const LISTS: [&str; 5] = [
    include_str!("../conformance/hscc.toml"),
    include_str!("../conformance/rc3.toml"),
    include_str!("../conformance/rcc.toml"),
    include_str!("../conformance/rdtcp.toml"),
    include_str!("../conformance/rwndq.toml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decision_has_its_clause_under_every_way_to_find_losses() {
        let always = [
            Decision::Timeout,
            Decision::SynTimeout,
            Decision::EnterRecovery,
            Decision::LeaveRecovery,
            Decision::Retransmit,
            Decision::TailProbe,
            Decision::Undo,
            Decision::Reduce,
        ];
        for detection in [Detection::Duplicates, Detection::Sack, Detection::Record] {
            for decision in always {
                let found = deciding(decision, detection, "newreno");
                assert!(found.is_some(), "{decision:?} {detection:?}");
            }
        }
        for scheme in ["rcc", "rdtcp+newreno", "rwndq", "hscc+cubic"] {
            assert!(
                deciding(Decision::Held, Detection::Sack, scheme).is_some(),
                "{scheme}"
            );
        }
        assert_eq!(deciding(Decision::Held, Detection::Sack, "newreno"), None);
    }

    #[test]
    fn a_clause_is_read_from_the_list_that_tests_prove() {
        let found = clause("RCC-alg2-3").expect("a clause of the list");
        assert_eq!((found.document, found.section), ("RCC", "Alg. 2 l. 3"));
        assert_eq!(
            found.text,
            "An ACK leaves while less than the budget is in flight."
        );
        let marks = deciding(Decision::Reduce, Detection::Sack, "dctcp");
        assert_eq!(marks.map(|clause| clause.document), Some("RFC 8257"));
    }
}
