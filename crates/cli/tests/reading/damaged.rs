//! Damaged traces: sound parts are shown, damage is reported, also by the exit status. Files made from a trace are no more readable than
//! the trace.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::writer::{HEADER, SUB_BUFFER, Writer, returned};
use crate::{dyntrace, made};

fn write(folder: &Path) -> Writer {
    let writer = Writer::new(folder);
    let events: Vec<_> = (0..3000).map(|time| returned(time, 1, 1, "a secret tag", 1, 0)).collect();
    writer.ring("ring-1", 7, &events);
    writer
}

#[test]
fn the_rest_is_shown_and_the_exit_status_tells() {
    let folder = tempfile::tempdir().unwrap();
    let writer = write(&folder.path().join("trace"));
    let view = |options: &[&str]| dyntrace([&["view", writer.folder.to_str().unwrap()], options].concat());
    let lines = |text: &[u8]| String::from_utf8_lossy(text).lines().count();
    assert_eq!((view(&["--json"]).status.code(), lines(&view(&["--json"]).stdout)), (Some(0), 3000));

    let path = writer.folder.join("ring-1");
    let mut bytes = fs::read(&path).unwrap();
    bytes[SUB_BUFFER + HEADER..][..2].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    for options in [&["--json"][..], &["--csv"], &[]] {
        let viewed = view(options);
        let said = String::from_utf8_lossy(&viewed.stderr).into_owned();
        assert_eq!(viewed.status.code(), Some(4), "{said}");
        let place = format!("ring-1 at byte {}: the metadata knows no event 65535", SUB_BUFFER + HEADER);
        assert!(said.contains(&place) && said.contains("bytes were skipped"), "{said}");
        let shown = lines(&viewed.stdout);
        assert!((2000..2700).contains(&shown), "{shown}: those before and behind, not those of the packet");
    }
    made("report", &[&writer.folder], &[], &folder.path().join("page.html"), 4);
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains("bytes were skipped"));
    made("convert", &[&writer.folder], &["--to", "perfetto"], &folder.path().join("perfetto"), 4);
    made("convert", &[&writer.folder], &["--to", "parquet"], &folder.path().join("tables"), 4);
    made("convert", &[&writer.folder], &["--to", "otlp"], &folder.path().join("spans"), 4);
    made("convert", &[&writer.folder], &["--to", "csv"], &folder.path().join("csv"), 4);
    let rows = fs::read(folder.path().join("csv/dyntrace.efile_drv-return.csv")).unwrap();
    assert_eq!(rows, view(&["--csv", "--probe", "efile_drv-return"]).stdout);
    let recovered = dyntrace(
        ["recover", writer.folder.to_str().unwrap(), "--json", "-o"].into_iter().chain([folder
            .path()
            .join("recovered")
            .to_str()
            .unwrap()]),
    );
    assert_eq!(recovered.status.code(), Some(4), "{recovered:?}");
}

#[test]
fn what_is_made_is_as_private_as_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let writer = write(&folder.path().join("trace"));
    for file in ["metadata", "ring-1"] {
        fs::set_permissions(writer.folder.join(file), Permissions::from_mode(0o600)).unwrap();
    }
    let [page, there, perfetto, spans, tables, csv, recovered] =
        ["page.html", "there.html", "perfetto", "spans", "tables", "csv", "recovered"]
            .map(|name| folder.path().join(name));
    fs::write(&there, "old").unwrap();
    fs::set_permissions(&there, Permissions::from_mode(0o666)).unwrap();
    made("report", &[&writer.folder], &[], &page, 0);
    made("report", &[&writer.folder], &[], &there, 0);
    made("convert", &[&writer.folder], &["--to", "perfetto"], &perfetto, 0);
    made("convert", &[&writer.folder], &["--to", "parquet"], &tables, 0);
    made("convert", &[&writer.folder], &["--to", "otlp"], &spans, 0);
    made("convert", &[&writer.folder], &["--to", "csv"], &csv, 0);
    let arguments = ["recover", writer.folder.to_str().unwrap(), "-o", recovered.to_str().unwrap()];
    assert_eq!(dyntrace(arguments).status.code(), Some(0));
    let rows = csv.join("dyntrace.efile_drv-return.csv");
    let inside =
        [tables.join("events.parquet"), tables.join("operations.parquet"), rows, csv, recovered.join("ring-1")];
    for path in [page, there.clone(), perfetto, spans, tables, recovered.clone(), recovered.join("metadata")]
        .iter()
        .chain(&inside)
    {
        let mode = fs::metadata(path).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    assert!(fs::read(&there).unwrap().len() > 1000, "the page is there, not what was there before");
}
