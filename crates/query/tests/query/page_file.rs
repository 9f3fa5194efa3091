//! The file of the page.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use super::hostile::hostile;
use super::query;

fn write(set: &Path, page: &Path) -> Output {
    query(set, &["--report", page.to_str().unwrap()])
}

fn assert_refused(set: &Path, page: &Path, reason: &str) {
    let output = write(set, page);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write the page") && said.contains(reason), "{said}");
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let (set, place) = (hostile(), tempfile::tempdir().unwrap());
    let (page, link) = (place.path().join("page.html"), place.path().join("link.html"));
    fs::write(&page, "old").unwrap();
    symlink(&page, &link).unwrap();
    let opened = fs::File::open(&page).unwrap();
    assert!(write(set.path(), &link).status.success());
    assert!(link.is_symlink() && fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(std::io::read_to_string(opened).unwrap(), "old");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    assert!(write(set.path(), Path::new("/dev/null")).status.success());
}

#[test]
fn a_page_takes_no_folders_place() {
    let (set, place) = (hostile(), tempfile::tempdir().unwrap());
    assert_refused(set.path(), place.path(), "Is a directory");
    assert_refused(set.path(), &place.path().join("none/page.html"), "os error 2");
    assert!(fs::read_dir(place.path()).unwrap().next().is_none());
}

#[test]
fn a_page_is_as_private_as_the_data() {
    let (set, place) = (hostile(), tempfile::tempdir().unwrap());
    let page = place.path().join("page.html");
    let mode = || fs::metadata(&page).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(set.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(write(set.path(), &page).status.success());
    assert_eq!(mode(), 0o600);
    fs::set_permissions(set.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let one = set.path().join("operations/host=h0/date=2026-11-26/hour=02/one.parquet");
    fs::set_permissions(&one, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(write(set.path(), &page).status.success());
    assert_eq!(mode() & 0o007, 0, "{:o}", mode());
}

#[test]
fn a_page_has_options_of_its_own() {
    let set = hostile();
    for arguments in [&["--report", "x", "SELECT 1"][..], &["--report", "x", "--json"], &["SELECT 1", "--tag", "a"]] {
        assert_eq!(query(set.path(), arguments).status.code(), Some(2), "{arguments:?}");
    }
    let output = query(set.path(), &["--report", "/dev/null", "--stats"]);
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("read: "));
}
