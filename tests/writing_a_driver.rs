//! The code in the chapter on drivers is that of its example.

use std::fs;
use std::path::Path;

#[test]
fn the_chapter_shows_lines_of_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapter = fs::read_to_string(root.join("docs/writing-a-driver.md")).unwrap();
    let mut pieces = chapter.split("```");
    let mut prose = pieces.next().unwrap();
    let mut file = None;
    let mut shown = 0;
    while let Some(block) = pieces.next() {
        let (language, code) = block.split_once('\n').unwrap();
        // The last file named before the block: "From `src/driver.rs`".
        let named = prose.rsplit_once("rom `").and_then(|(_, rest)| rest.split_once('`'));
        file = named.map(|(name, _)| root.join("examples/resolver_driver").join(name)).or(file);
        prose = pieces.next().expect("each block has an end");
        // The example's dependency on this crate is by path.
        if language == "toml" {
            continue;
        }
        let file = file.as_ref().expect("a file is named before the first block");
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(code), "{} does not have what the chapter shows of it:\n{code}", file.display());
        shown += 1;
    }
    assert!(shown > 10, "only {shown} blocks are looked at");
}

#[test]
fn a_driver_takes_less_than_a_hundred_lines() {
    for example in ["resolver_driver", "digest_driver"] {
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example).join("src/driver.rs");
        let lines = fs::read_to_string(&driver).unwrap().lines().count();
        assert!(lines < 100, "{}: {lines} lines", driver.display());
    }
}
