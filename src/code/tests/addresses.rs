//! Addresses in modules, by name.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::*;
use crate::code::lookup::resolve;
use crate::code::version::image::Mapping;

/// A part of this program in place of a module.
struct Own {
    start: usize,
    path: PathBuf,
}

impl Mapping for Own {
    fn range(&self) -> Range<usize> {
        self.start..self.start + 4096
    }

    fn bias(&self) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = maps.lines().find(|line| line.ends_with(self.path.to_str().unwrap())).unwrap();
        usize::from_str_radix(own.split('-').next().unwrap(), 16).unwrap()
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn source(&self) -> &Path {
        &self.path
    }

    unsafe fn unmap(&self) -> Unmapped {
        Unmapped::Kept
    }
}

#[inline(never)]
fn resolved_by_name() {
    std::hint::black_box(());
}

#[tokio::test]
async fn addresses_are_resolved() {
    let tables = new_tables();
    let start = resolved_by_name as *const () as usize;
    let own = Own { start, path: std::env::current_exe().unwrap() };
    finish(tables, [prepared(tables, second()), Prepared::of(tables, fake!("own" "1";), Box::new(own)).unwrap()])
        .await
        .unwrap();
    let place = tables.look(|set| resolve::find(set, start)).unwrap();
    assert_eq!((place.module(), place.version()), ("own", "1"));
    let is_told = place.function().map(|function| function.ends_with("code::tests::addresses::resolved_by_name"));
    assert_eq!(is_told, Some(true), "{place}");
    assert!(place.to_string().starts_with("own 1 "), "{place}");
    for outside in [start - 1, start + 4096, 0, usize::MAX] {
        assert!(tables.look(|set| resolve::find(set, outside)).is_none());
    }
}
