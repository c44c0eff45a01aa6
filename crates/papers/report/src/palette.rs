//! Colours, markers and dashes: one style for a scheme everywhere.
//!
//! The colours are those of Okabe and Ito, "Color universal design" (2008), which readers with any common kind of
//! colour blindness can distinguish. Colours that are too faint on white are changed: yellow is left out, orange is
//! darker, and sky blue is violet. Black, which is invisible in a dark report, is grey. Every colour has a contrast of
//! 3:1 to a light and to a dark page (WCAG 2.2, 1.4.11). Markers and dashes differ as well, so that a figure also works
//! without colours.

use std::collections::BTreeMap;

use crate::figure::Style;

/// Red, green and blue of each slot.
const COLOURS: [(u8, u8, u8); 7] = [
    (0x00, 0x72, 0xB2),
    (0xD5, 0x5E, 0x00),
    (0x00, 0x9E, 0x73),
    (0xCC, 0x79, 0xA7),
    (0xB0, 0x7A, 0x00),
    (0x93, 0x74, 0xD4),
    (0x80, 0x80, 0x80),
];

/// Strokes and gaps in multiples of the width of the line; none for a solid line.
const DASHES: [&[f64]; 5] = [
    &[],
    &[5.0, 2.5],
    &[1.2, 1.8],
    &[6.0, 2.0, 1.2, 2.0],
    &[9.0, 3.0],
];

/// The marker of each slot.
const MARKERS: [Marker; 7] = [
    Marker::Circle,
    Marker::Square,
    Marker::Diamond,
    Marker::Up,
    Marker::Down,
    Marker::Plus,
    Marker::Cross,
];

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Plus,
    Cross,
}

/// Which slot a scheme has.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// Of the first run.
    slots: BTreeMap<String, usize>,
    /// The slots of later runs, by run and scheme, if there are enough colours.
    later: BTreeMap<(usize, String), usize>,
}

impl Palette {
    /// Gives each registered scheme its place in the registry, so that it looks the same in every report. A scheme
    /// whose colour is taken gets a free one, and so do unregistered schemes. The least used colours come first.
    pub(crate) fn new<'a>(schemes: impl Iterator<Item = &'a str> + Clone) -> Self {
        let registry = schemes::all();
        let own = |name: &str| registry.iter().position(|scheme| scheme.name == name);
        let mut slots: BTreeMap<String, usize> = BTreeMap::new();
        let with_colour = |slots: &BTreeMap<String, usize>, slot: usize| {
            let colour = slot % COLOURS.len();
            let others = slots.values().map(|other| other % COLOURS.len());
            others.filter(|other| *other == colour).count()
        };
        for name in schemes.clone() {
            if let Some(slot) = own(name).filter(|slot| with_colour(&slots, *slot) == 0) {
                slots.insert(name.to_owned(), slot);
            }
        }
        for name in schemes {
            if !slots.contains_key(name) {
                let own = own(name);
                let taken = |slot: &usize| slots.values().any(|other| other == slot);
                let free =
                    (0..slots.len() + registry.len() + COLOURS.len()).filter(|slot| !taken(slot));
                let best = free.min_by_key(|slot| (with_colour(&slots, *slot), own != Some(*slot)));
                slots.insert(name.to_owned(), best.unwrap_or(0));
            }
        }
        Self {
            slots,
            later: BTreeMap::new(),
        }
    }

    /// The same for the schemes of several runs side by side. A scheme that an earlier run has too gets its own colour,
    /// as long as there are enough for all.
    pub(crate) fn of_runs(runs: &[Vec<&str>]) -> Self {
        let mut palette = Self::new(runs.iter().flatten().copied());
        let taken = palette.slots.values().map(|slot| slot % COLOURS.len());
        let taken: Vec<usize> = taken.collect();
        let mut free = (0..COLOURS.len()).filter(|slot| !taken.contains(slot));
        let mut later = BTreeMap::new();
        for (number, names) in runs.iter().enumerate() {
            for name in names {
                if !runs[..number].iter().any(|earlier| earlier.contains(name)) {
                    continue;
                }
                let Some(slot) = free.next() else {
                    return palette;
                };
                later.insert((number, (*name).to_owned()), slot);
            }
        }
        palette.later = later;
        palette
    }

    /// The style of a scheme in the run with this number.
    pub(crate) fn style(&self, scheme: &str, run: usize) -> Style {
        let first = self.slots.get(scheme).copied().unwrap_or(0);
        let later = self.later.get(&(run, scheme.to_owned()));
        let slot = later.copied().unwrap_or(first);
        // Dashes distinguish lines if colours repeat, and lines of runs side by side. A single scheme needs no dash.
        let dash = match self.slots.len() {
            0 | 1 => run,
            _ => first + first / COLOURS.len() + run,
        };
        Style {
            slot,
            dash,
            open: run % 2 == 1,
        }
    }
}

impl Style {
    /// Red, green and blue.
    pub(crate) fn colour(self) -> (u8, u8, u8) {
        COLOURS[self.slot % COLOURS.len()]
    }

    /// The colour as `#0072b2`.
    pub(crate) fn hex(self) -> String {
        let (red, green, blue) = self.colour();
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// How often colours have been used up before this one.
    pub(crate) fn round(self) -> usize {
        self.slot / COLOURS.len()
    }

    pub(crate) fn marker(self) -> Marker {
        MARKERS[self.slot % MARKERS.len()]
    }

    /// Strokes and gaps in multiples of the width of the line.
    pub(crate) fn dashes(self) -> &'static [f64] {
        DASHES[self.dash % DASHES.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2.2).
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                libm::pow((part + 0.055) / 1.055, 2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    #[test]
    fn every_colour_is_seen_on_light_and_dark_pages() {
        for colour in COLOURS {
            let own = luminance(colour);
            // The boxes of the style sheet, light and dark.
            for page in [(0xff, 0xff, 0xff), (0x1b, 0x1f, 0x25)].map(luminance) {
                let contrast = (own.max(page) + 0.05) / (own.min(page) + 0.05);
                assert!(contrast >= 3.0, "{colour:?}: {contrast}");
            }
        }
    }

    #[test]
    fn runs_side_by_side_have_colours_of_their_own_while_there_are_any() {
        let names = ["newreno", "dctcp", "rcc"];
        for (schemes, runs) in [(1, 2), (1, 7), (3, 2)] {
            let palette = Palette::of_runs(&vec![names[..schemes].to_vec(); runs]);
            let all =
                (0..runs).flat_map(|run| names[..schemes].iter().map(move |name| (run, name)));
            let colours: Vec<_> = all
                .map(|(run, name)| palette.style(name, run).colour())
                .collect();
            let mut distinct = colours.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(
                distinct.len(),
                colours.len(),
                "{schemes} schemes in {runs} runs"
            );
        }
        // Schemes that only meet in this report keep their colours; so do all schemes if there are too few colours.
        let apart = Palette::of_runs(&[vec!["newreno"], vec!["dctcp"]]);
        let usual = Palette::new(["newreno", "dctcp"].into_iter());
        assert_eq!(apart.style("dctcp", 1).slot, usual.style("dctcp", 0).slot);
        let many = Palette::of_runs(&vec![vec!["newreno", "dctcp"]; 4]);
        assert_eq!(many.style("dctcp", 3).slot, usual.style("dctcp", 0).slot);
    }

    #[test]
    fn a_scheme_that_is_alone_has_solid_lines() {
        for scheme in schemes::all() {
            let palette = Palette::new([scheme.name].into_iter());
            assert!(
                palette.style(scheme.name, 0).dashes().is_empty(),
                "{}",
                scheme.name
            );
        }
    }

    #[test]
    fn where_colours_repeat_dashes_differ() {
        let dash = |slot: usize| (slot + slot / COLOURS.len()) % DASHES.len();
        for slot in 0..COLOURS.len() {
            let rounds = (0..DASHES.len()).map(|round| dash(slot + round * COLOURS.len()));
            let distinct: std::collections::BTreeSet<usize> = rounds.collect();
            assert_eq!(distinct.len(), DASHES.len(), "slot {slot}");
        }
    }

    #[test]
    fn a_scheme_keeps_its_colour_whatever_it_is_compared_with() {
        let alone = Palette::new(["rcc"].into_iter());
        let among = Palette::new(["newreno", "my-variant", "dctcp", "rcc"].into_iter());
        let (alone, both) = (alone.style("rcc", 0), among.style("rcc", 0));
        assert_eq!((alone.slot, alone.marker()), (both.slot, both.marker()));
        let slots: Vec<_> = ["newreno", "my-variant", "dctcp", "rcc"]
            .map(|name| among.style(name, 0).slot)
            .into();
        let mut distinct = slots.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), slots.len());
    }

    #[test]
    fn schemes_of_a_page_share_no_colour_while_there_are_any() {
        let names = ["newreno", "cubic", "dctcp", "hscc", "rwndq", "rc3", "xcp"];
        let palette = Palette::new(names.into_iter());
        let colours = names.map(|name| palette.style(name, 0).colour());
        for (place, colour) in colours.iter().enumerate() {
            assert!(!colours[..place].contains(colour), "{}", names[place]);
        }
        assert_eq!(palette.style("newreno", 0).slot, 0);
    }

    #[test]
    fn a_variant_has_a_colour_of_its_own_while_there_are_any() {
        let mut names: Vec<&str> = schemes::all().iter().map(|scheme| scheme.name).collect();
        names.truncate(3);
        for variants in 1..=COLOURS.len() - 3 {
            let variant = ["a", "b", "c", "d"][variants - 1];
            names.push(variant);
            let palette = Palette::new(names.iter().copied());
            let colour = palette.style(variant, 0).colour();
            let same = names
                .iter()
                .filter(|name| palette.style(name, 0).colour() == colour);
            assert_eq!(same.count(), 1, "{variant}");
        }
    }
}
