//! Compares the output that a page shows with the actual output.

/// The placeholder for any text.
const ANYTHING: &str = "...";

/// Whether `printed` matches `shown`, apart from what the page leaves out.
pub(crate) fn matches(shown: &[String], printed: &str) -> bool {
    let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
    let shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
    lines_match(&shown, &printed)
}

fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if *first == ANYTHING {
        return (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]));
    }
    let Some((line, others)) = printed.split_first() else {
        return false;
    };
    let ends_here = rest.is_empty() && first.ends_with(ANYTHING);
    line_matches(first, line) && (ends_here || lines_match(rest, others))
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split(ANYTHING);
    let start = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(end) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

/// The text with which a page that now shows `shown` would show `printed`; lines that the page shows in part stay as
/// they are. `None` if the page leaves out whole lines, because which ones is the author's choice.
pub(crate) fn update(shown: &[String], printed: &str) -> Option<Vec<String>> {
    if shown.iter().any(|line| line == ANYTHING) {
        return None;
    }
    let in_part: Vec<&String> = shown
        .iter()
        .filter(|line| line.contains(ANYTHING))
        .collect();
    let mut lines: Vec<String> = Vec::new();
    for line in printed.trim_end().lines() {
        let kept = in_part.iter().find(|kept| line_matches(kept, line));
        lines.push(kept.map_or(line.trim_end(), |kept| kept).to_owned());
        if kept.is_some_and(|kept| shown.last() == Some(kept) && kept.ends_with(ANYTHING)) {
            break;
        }
    }
    Some(lines)
}

#[test]
fn an_output_matches_what_is_shown_of_it() {
    let printed = "one 1\ntwo 2\nthree 3\nCost: 3 ms\nof time\n";
    let shown = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    for right in [
        "one 1\ntwo 2\nthree 3\nCost: 3 ms\nof time",
        "one 1\n...\nCost: ...",
        "...\nthree ...\nCost: ... ms\nof time",
        "one ...\n...",
        "...",
    ] {
        assert!(matches(&shown(right), printed), "{right}");
    }
    for wrong in [
        "one 1",
        "one 1\n...\nCost: 4 ...",
        "two 2\n...",
        "...\nthree ... 4\n...",
        "one 1\ntwo 2\nthree 3\nCost: 3 ms\nof time\nmore",
    ] {
        assert!(!matches(&shown(wrong), printed), "{wrong}");
    }
}

#[test]
fn an_update_keeps_what_is_left_out() {
    let shown = ["a 1", "Cost: ..."].map(str::to_owned);
    let expected = Some(["a 2", "b 1", "Cost: ..."].map(str::to_owned).to_vec());
    assert_eq!(update(&shown, "a 2\nb 1\nCost: 5 ms\nof time\n"), expected);
    assert_eq!(update(&["...".to_owned()], "a\n"), None);
}
