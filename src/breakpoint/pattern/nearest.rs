//! Suggestions for patterns that select no function.

/// The most suggestions.
const MOST: usize = 3;
/// The least similarity, from 0 to 1, of a suggestion.
const ALIKE: f64 = 0.8;
/// The longest path that gets suggestions: comparing longer ones takes too long.
const LONGEST: usize = 256;

/// Returns those of `names` that are most similar to `path`, the best first. Both may end in `/arity`.
pub fn nearest<'n>(path: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let path = without_arity(path);
    if path.len() > LONGEST {
        return Vec::new();
    }
    let score = |name: &'n str| {
        let name = without_arity(name);
        // A path without modules is compared with function names.
        let last = strsim::jaro_winkler(last(path), last(name)) - 0.01;
        strsim::jaro_winkler(path, name).max(last)
    };
    let mut near: Vec<(f64, &str)> =
        names.into_iter().filter(|name| name.len() <= LONGEST).map(|name| (score(name), name)).collect();
    near.retain(|(score, _)| *score >= ALIKE);
    near.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

fn without_arity(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] =
        ["shop::cart::price/2", "shop::cart::prize/1", "shop::cart::total/1", "shop::checkout/3", "bank::transfer/3"];

    #[test]
    fn misspelt() {
        assert_eq!(nearest("shop::cart::prise", NAMES)[0], "shop::cart::price/2");
        assert_eq!(nearest("shop::chekout/1", NAMES)[0], "shop::checkout/3");
    }

    #[test]
    fn modules_left_out() {
        assert_eq!(nearest("transfer", NAMES), ["bank::transfer/3"]);
        assert_eq!(nearest("shop::price", NAMES)[0], "shop::cart::price/2");
    }

    #[test]
    fn nothing_is_near() {
        assert!(nearest("zzz", NAMES).is_empty());
        assert!(nearest("", NAMES).is_empty());
        assert!(nearest(&"shop::cart::price".repeat(1000), NAMES).is_empty());
        assert!(nearest("price", []).is_empty());
    }
}
