//! Circles in a graph of names.

use std::collections::{BTreeMap, BTreeSet};

/// For each user, the names that it uses.
pub type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The largest sets of nodes that all lead to each other, those of one node left out.
pub fn circles<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<_, _> = graph.keys().map(|node| (*node, reach(graph, node))).collect();
    let mut circles: Vec<BTreeSet<_>> = Vec::new();
    for (node, all) in &reached {
        if all.contains(node) && !circles.iter().any(|circle| circle.contains(node)) {
            let leads_back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(node));
            circles.push(all.iter().filter(leads_back).copied().collect());
        }
    }
    circles
}

/// All nodes that the arrows from `node` lead to.
fn reach<'a>(graph: &Graph<'a>, node: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        todo.extend(graph.get(node).into_iter().flatten().filter(|next| reached.insert(**next)));
    }
    reached
}
