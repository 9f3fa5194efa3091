//! Names that users may have meant.

/// The candidate that is closest to `name`, as a question; nothing if none is close.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    let close = |candidate: &&str| strsim::jaro_winkler(name, candidate);
    let best = candidates.into_iter().max_by(|a, b| close(a).total_cmp(&close(b)));
    best.filter(|best| close(best) > 0.7).map_or_else(String::new, |best| format!("did you mean {best}? "))
}
