//! Compares verdicts with other seeds with those on the page.

use std::fmt::Write;

use serde_json::Value;

use super::shown::{Shown, VERDICTS};
use super::words::{digits, ours, text};

/// The claims whose verdict differs from the page, and their number. Claims that cannot be tested or are not on the
/// page do not count. A number that is identical to its last digit is not random.
pub(super) fn compared(claims: &[Value], page: &[Shown]) -> String {
    let mut out = String::new();
    let (mut all, mut others, mut changed) = (0_u32, 0_u32, 0_u32);
    for claim in claims {
        let (id, verdict) = (text(&claim["id"]), text(&claim["verdict"]));
        let found = page.iter().find_map(|figure| figure.finding(id));
        let Some((before, number)) = found.filter(|(before, _)| *before != VERDICTS[3]) else {
            continue;
        };
        let number_now = ours(claim, &claim["unit"]);
        all += 1;
        others += u32::from(number_now != number);
        if before != verdict {
            changed += 1;
            writeln!(
                out,
                "{id}: {before} on the page ({number}), {verdict} with these seeds ({number_now})"
            )
            .expect("writing to a string succeeds");
        }
    }
    let share = |of: u32| digits(100.0 * f64::from(changed) / f64::from(of.max(1)));
    let change = if changed == 1 { "changes" } else { "change" };
    writeln!(
        out,
        "{changed} of {all} verdicts {change}, {} %; among the {others} with another number, {} %",
        share(all),
        share(others)
    )
    .expect("writing to a string succeeds");
    out
}
