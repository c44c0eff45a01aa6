//! Compares counts of instructions with the committed ones.

use std::path::Path;

use crate::repository::{Failure, Repository};

/// Compares counts with those of the committed `file`, or writes it with `bless`, below its header.
pub(super) fn compare(
    repository: &Repository,
    counts: &[(&str, f64)],
    (file, header): (&str, &str),
    bless: bool,
) -> Result<(), Failure> {
    let committed = match repository.read(file) {
        Err(_) if bless => String::new(),
        read => read?,
    };
    let (mut moved, mut text) = (Vec::new(), header.to_owned());
    println!("{:<15}{:>12}{:>12}", "", "counted", "committed");
    for (name, counted) in counts {
        let before = number_after(&committed, &format!("{name} ="));
        text.extend([format!("{name} = {counted:.1}\n")]);
        let shown = before.map_or("none".to_owned(), |before| format!("{before:.1}"));
        println!("{name:<15}{counted:>12.1}{shown:>12}");
        if before.is_none_or(|before| has_moved(*counted, before)) {
            moved.push(*name);
        }
    }
    if bless {
        return repository.write(file, &text);
    }
    if moved.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "the instructions of {} moved by more than {} %: find out why, then count them with `--bless`, which writes \
         {file}",
        moved.join(", "),
        TOLERANCE * 100.0
    )))
}

/// All instructions of a profile.
pub(super) fn total(profile: &Path) -> Result<f64, Failure> {
    let totals =
        std::fs::read_to_string(profile).map_err(|error| Failure::file("read", profile, &error))?;
    number_after(&totals, "totals:")
        .or(number_after(&totals, "summary:"))
        .filter(|instructions| *instructions > 0.0)
        .ok_or_else(|| Failure(format!("no count in {}", profile.display())))
}

pub(super) fn number_after(text: &str, label: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.trim().parse().ok()
}

/// Whether the difference to the committed count is larger than other processors and libraries can cause.
fn has_moved(counted: f64, committed: f64) -> bool {
    (counted - committed).abs() > TOLERANCE * committed
}

/// A processor with other string instructions, or another C library, makes a smaller difference.
const TOLERANCE: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_move_by_two_percent_either_way() {
        for counted in [981.0, 1000.0, 1019.0] {
            assert!(!has_moved(counted, 1000.0), "{counted}");
        }
        for counted in [979.0, 1021.0] {
            assert!(has_moved(counted, 1000.0), "{counted}");
        }
    }

    #[test]
    fn a_committed_count_is_found_by_the_whole_name_of_its_workload() {
        let text = "w2 = 1\nw2-50 = 20.5\n";
        assert_eq!(number_after(text, "w2-50 ="), Some(20.5));
        assert_eq!(number_after(text, "w3 ="), None);
    }
}
