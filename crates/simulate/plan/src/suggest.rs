//! "Did you mean ...?"

/// The candidate of which `word` is most likely a misspelling.
///
/// A candidate with a dot is compared whole and by its last part. So `senders` finds `workload.senders`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let scored = candidates.into_iter().map(|candidate| {
        let whole = strsim::normalized_damerau_levenshtein(&word, candidate);
        let last = candidate.rsplit('.').next().unwrap_or(candidate);
        let word_last = word.rsplit('.').next().unwrap_or(&word);
        let part = strsim::normalized_damerau_levenshtein(word_last, last);
        // A similar whole name is better than an equal last part.
        (whole.max(0.9 * part), candidate)
    });
    let best = scored.fold(None, |best: Option<(f64, &str)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(score, _)| *score >= CLOSE_ENOUGH)
        .map(|(_, candidate)| candidate)
}

/// The beginning of a help text: "did you mean `x`? " or nothing.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |name| format!("did you mean `{name}`? "))
}

/// Three of five letters right. The value comes from trying typing errors on our names.
const CLOSE_ENOUGH: f64 = 0.6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let keys = [
            "tcp.min_rto",
            "tcp.max_rto",
            "workload.senders",
            "ictcp.sender",
        ];
        assert_eq!(nearest("tcp.min_rot", keys), Some("tcp.min_rto"));
        assert_eq!(nearest("senders", keys), Some("workload.senders"));
        assert_eq!(nearest("workload.sender", keys), Some("workload.senders"));
        assert_eq!(nearest("colour", keys), None);
    }
}
