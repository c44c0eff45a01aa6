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

/// The clause of this name in the list of `document`, found while the program is compiled, which then has this clause and not
/// the list.
macro_rules! clause {
    ($document:literal, $id:literal) => {{
        const LIST: &str = list($document);
        const PLACE: usize = behind(LIST, 0, concat!("id = \"", $id, "\"\n"));
        const SECTION: usize = behind(LIST, PLACE, "section = \"");
        const TEXT: usize = behind(LIST, PLACE, "text = \"");
        const SECTION_BYTES: [u8; length(LIST, SECTION)] = copied(LIST, SECTION);
        const TEXT_BYTES: [u8; length(LIST, TEXT)] = copied(LIST, TEXT);
        const CLAUSE: Clause = Clause {
            id: $id,
            document: $document,
            section: text(&SECTION_BYTES),
            text: text(&TEXT_BYTES),
        };
        CLAUSE
    }};
}

/// The clause that asks for `decision` where flows have the scheme or composition `bundle`. `None` where no listed document
/// has one: a window that the buffer of the receiver limits, say.
pub fn deciding(decision: Decision, detection: Detection, bundle: &str) -> Option<Clause> {
    let by = |[duplicates, sack, record]: [Clause; 3]| match detection {
        Detection::Duplicates => duplicates,
        Detection::Sack => sack,
        Detection::Record => record,
    };
    Some(match decision {
        Decision::Timeout => clause!("RFC 6298", "RFC6298-5.4-earliest"),
        Decision::SynTimeout => clause!("RFC 6298", "RFC6298-5.7-syn"),
        Decision::EnterRecovery => by([
            clause!("RFC 6582", "RFC6582-3.2-enter"),
            clause!("RFC 6675", "RFC6675-5-enter"),
            clause!("RFC 8985", "RFC8985-6.2-lost"),
        ]),
        Decision::LeaveRecovery => by([
            clause!("RFC 6582", "RFC6582-3.2-full"),
            clause!("RFC 6675", "RFC6675-5-end"),
            clause!("RFC 6675", "RFC6675-5-end"),
        ]),
        Decision::Retransmit => by([
            clause!("RFC 6582", "RFC6582-3.2-hole"),
            clause!("RFC 6675", "RFC6675-4-next-1"),
            clause!("RFC 6675", "RFC6675-4-next-1"),
        ]),
        Decision::TailProbe => clause!("RFC 8985", "RFC8985-7.3-segment"),
        Decision::Undo => clause!("RFC 5682", "RFC4015-3.2-window"),
        Decision::Reduce if bundle.split('+').any(|part| part == "dctcp") => {
            clause!("RFC 8257", "RFC8257-3.3-cut")
        }
        Decision::Reduce => clause!("RFC 3168", "RFC3168-6.1.2-once"),
        Decision::Held => bundle.split('+').find_map(|part| match part {
            "rcc" | "rdtcp" => Some(clause!("RCC", "RCC-alg2-3")),
            "rwndq" => Some(clause!("RWNDQ", "RWNDQ-alg1-ack")),
            "hscc" => Some(clause!("HSCC", "HSCC-4-rewrite")),
            _ => None,
        })?,
    })
}

/// The list of a document.
const fn list(document: &str) -> &'static str {
    let mut place = 0;
    while place < LISTS.len() {
        if names(LISTS[place], document) {
            return LISTS[place];
        }
        place += 1;
    }
    let mut place = 0;
    while place < tcp::CONFORMANCE.len() {
        if names(tcp::CONFORMANCE[place], document) {
            return tcp::CONFORMANCE[place];
        }
        place += 1;
    }
    panic!("no list is about this document")
}

/// Whether the first line of a list names `document`.
const fn names(list: &str, document: &str) -> bool {
    let place = "document = \"".len();
    has(list, place, document) && list.as_bytes()[place + document.len()] == b'"'
}

/// Whether `part` stands at `place`.
const fn has(text: &str, place: usize, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut number = 0;
    while number < part.len() {
        if place + number >= text.len() || text[place + number] != part[number] {
            return false;
        }
        number += 1;
    }
    true
}

/// The place behind the first `part` from `place` on.
const fn behind(text: &str, place: usize, part: &str) -> usize {
    let mut place = place;
    while !has(text, place, part) {
        assert!(place < text.len(), "the list has no such clause");
        place += 1;
    }
    place + part.len()
}

/// Bytes from `place` to the quotation mark.
const fn length(text: &str, place: usize) -> usize {
    let mut end = place;
    while text.as_bytes()[end] != b'"' {
        end += 1;
    }
    end - place
}

const fn copied<const LENGTH: usize>(text: &str, place: usize) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    let mut number = 0;
    while number < LENGTH {
        bytes[number] = text.as_bytes()[place + number];
        number += 1;
    }
    bytes
}

const fn text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("a quotation mark is a whole letter"),
    }
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

    /// Whether a list has these lines.
    fn is_listed(clause: &Clause) -> bool {
        let Clause {
            id, section, text, ..
        } = clause;
        let lines = format!("id = \"{id}\"\nsection = \"{section}\"\ntext = \"{text}\"\n");
        let mut lists = LISTS.into_iter().chain(tcp::CONFORMANCE);
        lists.any(|list| names(list, clause.document) && list.contains(&lines))
    }

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
                assert_eq!(
                    found.map(|found| is_listed(&found)),
                    Some(true),
                    "{decision:?} {detection:?}"
                );
            }
        }
        for scheme in ["rcc", "rdtcp+newreno", "rwndq", "hscc+cubic"] {
            let found = deciding(Decision::Held, Detection::Sack, scheme);
            assert_eq!(found.map(|found| is_listed(&found)), Some(true), "{scheme}");
        }
        assert_eq!(deciding(Decision::Held, Detection::Sack, "newreno"), None);
    }

    #[test]
    fn a_clause_is_read_from_the_list_that_tests_prove() {
        let found = deciding(Decision::Held, Detection::Sack, "rcc").expect("a clause of the list");
        assert_eq!((found.document, found.section), ("RCC", "Alg. 2 l. 3"));
        assert_eq!(
            found.text,
            "An ACK leaves while less than the budget is in flight."
        );
        let marks = deciding(Decision::Reduce, Detection::Sack, "dctcp");
        assert_eq!(marks.map(|clause| clause.document), Some("RFC 8257"));
    }
}
