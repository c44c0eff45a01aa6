//! Texts and numbers of claims in the form of the page.

use serde_json::Value;

/// The paper's number with its unit, or its statement in a few words.
pub(super) fn paper(claim: &Value) -> String {
    let unit = &claim["unit"];
    match &claim["paper"] {
        number @ Value::Number(_) => with_unit(as_written(number), unit),
        Value::Array(ends) => {
            let ends: Vec<String> = ends.iter().map(as_written).collect();
            with_unit(ends.join(" to "), unit)
        }
        words => text(words).to_owned(),
    }
}

/// A number with the digits that it has in the experiment: `2`, `47.5`.
fn as_written(number: &Value) -> String {
    number
        .as_f64()
        .map_or_else(String::new, |number| number.to_string())
}

/// Our number with its interval and unit, or our result in a few words.
pub(super) fn ours(finding: &Value, unit: &Value) -> String {
    let Some(value) = finding["ours"].as_f64() else {
        return text(&finding["ours"]).to_owned();
    };
    let value = with_unit(digits(value), unit);
    let ends = &finding["interval"];
    match (ends[0].as_f64().map(digits), ends[1].as_f64().map(digits)) {
        (Some(low), Some(high)) if low != high => format!("{value} ({low} to {high})"),
        _ => value,
    }
}

fn with_unit(number: String, unit: &Value) -> String {
    let unit = text(unit);
    if unit.is_empty() {
        return number;
    }
    format!("{number} {unit}")
}

/// Three significant digits, or all digits before the point of a larger number.
pub(super) fn digits(value: f64) -> String {
    let magnitude = value.abs();
    let decimals = [100.0, 10.0, 1.0]
        .iter()
        .filter(|limit| magnitude < **limit);
    let rounded = format!("{value:.*}", decimals.count());
    if !rounded.contains('.') {
        return rounded;
    }
    rounded
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// The items of a list; empty if the value is no list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let shown = [1234.5, 47.512, 9.0, 0.12345, 0.0].map(digits);
        assert_eq!(shown, ["1234", "47.5", "9", "0.123", "0"]);
    }
}
