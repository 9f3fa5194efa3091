//! Errors whose message has their cause, and which return that as their source, too: a printed chain has it twice. Here, the message has it.

/// Returns the messages that have their source, and sources that are implemented by hand.
pub fn repeated(text: &str) -> Vec<&str> {
    let of_variants = text.split("#[error(").skip(1).filter_map(|after| {
        let (message, variant) = after.split_once(")]")?;
        let variant = variant.split("\n}").next()?;
        let is_source = |marks: &[&str]| marks.iter().any(|mark| variant.contains(mark));
        let named = is_source(&["source: "]) && message.contains("{source");
        let marked = is_source(&["#[from]", "#[source]"]) && (message.contains("{0") || message.contains("{error"));
        (named || marked).then_some(message)
    });
    let by_hand = text.match_indices("fn source(&self) -> Option").map(|(_, found)| found);
    of_variants.chain(by_hand).collect()
}
