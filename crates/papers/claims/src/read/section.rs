//! Reads the sections of a paper and checks the places in claims against them.

use super::reader::Reader;
use super::tree::Site;
use crate::Section;

impl Reader<'_> {
    /// Reports a place in a section that the paper does not have, or in another section than the one of its figure.
    /// Nothing is checked if the paper lists no sections.
    pub(super) fn check_place(&mut self, text: &str, written: Site<'_>, sections: &[Section]) {
        if sections.is_empty() {
            return;
        }
        for cited in after(text, "§", |c| {
            c.is_ascii_alphanumeric() || "-.".contains(c)
        }) {
            let known = sections.iter().any(|section| section.is_within(cited));
            if !known {
                let all: Vec<&str> = sections.iter().map(|own| own.number.as_str()).collect();
                let expected = format!("one of the paper's sections: {}", all.join(", "));
                let message = format!("the paper has no §{cited}");
                self.wrong(message, written.place(), &expected);
                continue;
            }
            for figure in after(text, "Fig. ", |c| c.is_ascii_digit()) {
                let mut homes = sections.iter();
                let home = homes.find(|section| section.figures.iter().any(|own| own == figure));
                if let Some(home) = home.filter(|home| !home.is_within(cited)) {
                    let message = format!("Fig. {figure} is not in §{cited}");
                    let expected = format!("§{}, {}", home.number, home.title);
                    self.wrong(message, written.place(), &expected);
                }
            }
        }
    }
}

impl Section {
    /// Whether it is the section with this number, or inside it.
    fn is_within(&self, number: &str) -> bool {
        let rest = self.number.strip_prefix(number);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    }
}

/// The text after each `mark`, as far as `belongs` holds, without a full stop at its end.
fn after<'a>(
    text: &'a str,
    mark: &'a str,
    belongs: impl Fn(char) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).map(move |rest| {
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        rest[..end].trim_end_matches(['-', '.'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_behind_their_marks() {
        let sections = |text| {
            after(text, "§", |c| {
                c.is_ascii_alphanumeric() || "-.".contains(c)
            })
        };
        let found: Vec<_> = sections("§VI-A, Fig. 5(a); §6.1.2.").collect();
        assert_eq!(found, ["VI-A", "6.1.2"]);
        let figures: Vec<_> = after("§6.2, Fig. 12(c), read off", "Fig. ", |c| {
            c.is_ascii_digit()
        })
        .collect();
        assert_eq!(figures, ["12"]);
    }

    #[test]
    fn a_section_lies_within_those_above_it() {
        let section = Section {
            number: "6.1.2".to_owned(),
            title: "Goodput".to_owned(),
            figures: Vec::new(),
        };
        assert!(section.is_within("6.1.2") && section.is_within("6.1") && section.is_within("6"));
        assert!(!section.is_within("6.1.1") && !section.is_within("6.1.20"));
    }
}
