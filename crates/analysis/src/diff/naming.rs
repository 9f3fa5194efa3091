//! The names of groups of tags and paths.

use dyntrace_metadata::Glob;

use crate::figures::pattern;

/// How tags and paths are grouped.
#[derive(Clone, Default)]
pub struct Naming {
    /// Names that match one of these are one group, called as the pattern.
    folds: Vec<Glob>,
    /// Whether other names are left as they are. If not, their numbers and ids are `*`.
    is_exact: bool,
    /// A buffer for patterns.
    pattern: Vec<u8>,
}

impl Naming {
    pub fn new(folds: &[String], is_exact: bool) -> Naming {
        let folds = folds.iter().map(|pattern| Glob::from(pattern.as_str())).collect();
        Naming { folds, is_exact, pattern: Vec::new() }
    }

    /// The group's name for a tag or path.
    pub fn name<'n>(&'n mut self, name: &'n [u8]) -> &'n [u8] {
        if let Some(fold) = self.folds.iter().find(|fold| fold.matches(name)) {
            return fold.as_str().as_bytes();
        }
        if self.is_exact {
            return name;
        }
        pattern(name, &mut self.pattern);
        &self.pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_pattern_names_it() {
        let folds = ["/tmp/*/data".to_owned(), "/tmp/*".to_owned()];
        let mut naming = Naming::new(&folds, false);
        assert_eq!(naming.name(b"/tmp/xYz/1/data"), b"/tmp/*/data");
        assert_eq!(naming.name(b"/tmp/xYz"), b"/tmp/*");
        assert_eq!(naming.name(b"/srv/17"), b"/srv/*");
        let mut exact = Naming::new(&folds, true);
        assert_eq!(exact.name(b"/srv/17"), b"/srv/17");
        assert_eq!(exact.name(b""), b"");
    }
}
