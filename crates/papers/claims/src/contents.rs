//! The contents of a paper: every numbered figure, table, equation and algorithm, and its state.

use std::fmt;

/// A numbered figure, table, equation or algorithm of a paper, or several that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Its name in the paper, as in `Fig. 10(a)` or `Eqs. 8 to 13`.
    pub name: String,
    /// Its subject in a few words.
    pub title: String,
    /// Its state.
    pub state: State,
}

/// How far an item is reproduced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Claims about it are judged in these experiments.
    Judged(Vec<String>),
    /// It defines something that the program computes, here.
    Defined(String),
    /// It is a drawing without results; where the mechanism that it draws is shown or tested, if anywhere.
    Diagram(String),
    /// Nothing of it can be judged, for this reason.
    Untestable(String),
}

/// A kind of item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    /// The key of the last number in the file.
    pub(crate) key: &'static str,
    /// How their names begin: one, and several.
    pub(crate) names: [&'static str; 2],
}

/// Every kind of item.
pub(crate) const KINDS: [Kind; 4] = [
    Kind {
        key: "last_figure",
        names: ["Fig.", "Figs."],
    },
    Kind {
        key: "last_table",
        names: ["Table", "Tables"],
    },
    Kind {
        key: "last_equation",
        names: ["Eq.", "Eqs."],
    },
    Kind {
        key: "last_algorithm",
        names: ["Alg.", "Algs."],
    },
];

impl Item {
    /// Its kind, and its first and last number; none if the name is not written like those of [`KINDS`].
    pub(crate) fn numbers(&self) -> Option<(Kind, u32, u32)> {
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

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judged(by) => write!(f, "judged in {}", by.join(", ")),
            Self::Defined(place) => write!(f, "defined in {place}"),
            Self::Diagram(shown) => write!(f, "a diagram; {shown}"),
            Self::Untestable(reason) => write!(f, "not testable: {reason}"),
        }
    }
}
