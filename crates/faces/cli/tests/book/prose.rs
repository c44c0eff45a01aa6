//! Numbers in the sentences of a page: a measured number in a sentence has to occur in a sample of that page.
//!
//! A number with a unit is held if a sample, a table, a command or code within a sentence shows it, in the same unit or
//! a thousand times larger or smaller, with at least as many digits. A number that follows from other numbers, or from
//! another source, is listed with its source in a comment of the page, `<!-- numbers: 16.3 ms is ... -->`.

/// Numbers with a unit in the sentences of `page` that nothing on it shows, each with its line.
pub(crate) fn unheld(page: &[String]) -> Vec<String> {
    let has_sample = page.iter().any(|line| line.starts_with("```console"));
    if !has_sample {
        return Vec::new();
    }
    let (mut shown, mut said) = (Vec::new(), Vec::new());
    let mut fenced = false;
    for (at, line) in page.iter().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with('|') || line.starts_with("<!-- numbers:") {
            shown.extend(numbers(line));
        } else {
            // Every second part is code between backquotes.
            for (place, part) in line.split('`').enumerate() {
                if place % 2 == 1 {
                    shown.extend(numbers(part));
                } else {
                    said.extend(measured(part).map(|number| (at + 1, number)));
                }
            }
        }
    }
    let unheld = said.into_iter().filter(|(_, (number, _))| {
        let holds = |sample: &String| is_rounded(sample, number);
        !shown.iter().any(holds)
    });
    let unheld = unheld.map(|(line, (number, unit))| {
        format!("line {line}: nothing on the page shows {number} {unit}; <!-- numbers: --> says where it is from")
    });
    unheld.collect()
}

/// The numbers of a text, without commas between thousands.
fn numbers(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let parts = parts.map(|part| part.trim_matches(['.', ',']).replace(',', ""));
    parts.filter(|part| part.parse::<f64>().is_ok()).collect()
}

/// Numbers that are followed by a unit, each with its unit.
fn measured(text: &str) -> impl Iterator<Item = (String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let unit = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
        let number = pair[0].replace(',', "");
        let is_number =
            number.starts_with(|c: char| c.is_ascii_digit()) && number.parse::<f64>().is_ok();
        (is_number && UNITS.contains(&unit)).then(|| (number, unit.to_owned()))
    });
    pairs.collect::<Vec<_>>().into_iter()
}

/// Whether `number` is `sample`, perhaps rounded to fewer digits, in a unit of the same kind.
fn is_rounded(sample: &str, number: &str) -> bool {
    let (Ok(sample), Ok(value)) = (sample.parse::<f64>(), number.parse::<f64>()) else {
        return false;
    };
    let decimals = number.split_once('.').map_or(0, |(_, rest)| rest.len());
    let half = (0..decimals).fold(0.5001, |half, _| half / 10.0);
    let scales = [1.0, 1e3, 1e-3, 1e6, 1e-6];
    scales
        .iter()
        .any(|scale| (sample * scale - value).abs() <= half)
}

/// Units and nouns of measured quantities.
const UNITS: [&str; 17] = [
    "ns", "us", "µs", "ms", "s", "KB", "MB", "KiB", "packets", "drops", "timeouts", "Mbit/s",
    "Gbit/s", "%", "times", "senders", "flows",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn page(sentence: &str) -> Vec<String> {
        let text = format!(
            "# A page\n\n```console\n$ tailwater run incast\nfct 13.04 ms, 844 packets, 1.30k drops, 36000 us\n```\n\n{sentence}"
        );
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_number_that_no_sample_shows_is_refused() {
        for held in [
            "It takes 13.0 ms.",
            "It takes 13 ms, `or 7` timers.",
            "After 36 ms, 844 packets.",
            "7 of them",
        ] {
            assert_eq!(unheld(&page(held)), [""; 0], "{held}");
        }
        for stale in [
            "It takes 13.1 ms.",
            "It drops 846 packets.",
            "It is 19 times as long.",
        ] {
            assert_eq!(unheld(&page(stale)).len(), 1, "{stale}");
        }
        let from_elsewhere =
            "It needs 16.3 ms.\n<!-- numbers: 16.3 ms is 60 answers at the rate of the link -->";
        assert_eq!(unheld(&page(from_elsewhere)), [""; 0]);
        assert_eq!(
            unheld(&["It takes 5 ms.".to_owned()]),
            [""; 0],
            "a page without samples"
        );
    }
}
