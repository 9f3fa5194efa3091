//! Compares samples that are taken in turns.

use serde_json::{Map, Value, json};

pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Measures both in turns. Returns the medians of both, and of the ratio of the first to the second.
pub fn compare(rounds: usize, ours: impl Fn() -> f64, theirs: impl Fn() -> f64) -> Value {
    ours();
    theirs();
    let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (ours(), theirs())).collect();
    json!({
        "ns": median(pairs.iter().map(|(ours, _)| *ours).collect()),
        "peer_ns": median(pairs.iter().map(|(_, theirs)| *theirs).collect()),
        "ratio": median(pairs.iter().map(|(ours, theirs)| ours / theirs).collect()),
    })
}

/// A named measurement.
pub type Named<'a> = (&'static str, &'a dyn Fn() -> f64);

/// Measures dyntrace and all peers in turns. Returns the median of each, and those of the ratios of dyntrace to each.
pub fn compare_all(rounds: usize, ours: &dyn Fn() -> f64, peers: &[Named]) -> Value {
    let round = || -> (f64, Vec<f64>) { (ours(), peers.iter().map(|(_, theirs)| theirs()).collect()) };
    round();
    let samples: Vec<_> = (0..rounds).map(|_| round()).collect();
    let peers = peers.iter().enumerate().map(|(at, (name, _))| {
        let ns = median(samples.iter().map(|(_, theirs)| theirs[at]).collect());
        let ratio = median(samples.iter().map(|(ours, theirs)| ours / theirs[at]).collect());
        ((*name).to_owned(), json!({ "ns": ns, "ratio": ratio }))
    });
    let peers: Map<String, Value> = peers.collect();
    json!({ "ns": median(samples.iter().map(|(ours, _)| *ours).collect()), "peers": peers })
}
