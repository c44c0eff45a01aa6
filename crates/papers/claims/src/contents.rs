//! The contents of a paper: every numbered figure, table, equation and algorithm, and its state.

use std::fmt;

/// A numbered figure, table, equation or algorithm of a paper, or several that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Its name in the paper, as in `Fig. 10(a)` or `Eqs. 8 to 13`; only the kind, as in `Eqs.`, if its numbers are not
    /// known.
    pub name: String,
    /// Its subject in a few words.
    pub title: String,
    /// Its state.
    pub state: ReproductionState,
}

/// How far an item is reproduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReproductionState {
    /// The state of an item's reproduction.
    Judged(Vec<String>),
    /// It defines something that the program computes at this place.
    Defined(String),
    /// It is a drawing without results. The text names the place where its mechanism is shown or tested, if there is one.
    Diagram(String),
    /// Nothing in it can be judged, for this reason.
    Untestable(String),
    /// It has not been compared with the paper's text. The text has the open questions.
    Unread(String),
}

/// A kind of item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ItemKind {
    /// The key of the last number in the file.
    pub(crate) key: &'static str,
    /// The beginning of names in the singular and in the plural.
    pub(crate) names: [&'static str; 2],
}

/// Every kind of item.
pub(crate) const KINDS: [ItemKind; 4] = [
    ItemKind {
        key: "last_figure",
        names: ["Fig.", "Figs."],
    },
    ItemKind {
        key: "last_table",
        names: ["Table", "Tables"],
    },
    ItemKind {
        key: "last_equation",
        names: ["Eq.", "Eqs."],
    },
    ItemKind {
        key: "last_algorithm",
        names: ["Alg.", "Algs."],
    },
];

impl Item {
    /// Whether it stands for all items of a kind whose numbers are not known. Only a reader can check that.
    pub(crate) fn is_whole_kind(&self) -> bool {
        let mut kinds = KINDS.iter();
        matches!(self.state, ReproductionState::Unread(_))
            && kinds.any(|kind| kind.names[1] == self.name)
    }

    /// Its kind, and its first and last number; `None` if the name has another form than in [`KINDS`].
    pub(crate) fn numbers(&self) -> Option<(ItemKind, u32, u32)> {
        let (word, numbers) = self.name.split_once(' ')?;
        let kind = KINDS.iter().find(|kind| kind.names.contains(&word))?;
        let digits = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_digit());
            text[..end.unwrap_or(text.len())].parse::<u32>().ok()
        };
        let first = digits(numbers)?;
        let last = numbers.split_once(" to ").map(|(_, last)| digits(last));
        Some((*kind, first, last.unwrap_or(Some(first))?))
    }
}

impl fmt::Display for ReproductionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judged(by) => write!(f, "judged in {}", by.join(", ")),
            Self::Defined(place) => write!(f, "defined in {place}"),
            Self::Diagram(shown) => write!(f, "a diagram; {shown}"),
            Self::Untestable(reason) => write!(f, "not testable: {reason}"),
            Self::Unread(open) => write!(f, "a reader of the paper is wanted: {open}"),
        }
    }
}
