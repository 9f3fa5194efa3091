//! Small data sets.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::schema::types::ColumnPath;
use tempfile::TempDir;

pub fn numbers(values: impl IntoIterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<Int64Array>())
}

pub fn unsigned(values: impl IntoIterator<Item = impl Into<Option<u64>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<UInt64Array>())
}

pub fn texts<'t>(values: impl IntoIterator<Item = impl Into<Option<&'t str>>>) -> ArrayRef {
    Arc::new(values.into_iter().map(Into::into).collect::<StringArray>())
}

pub fn bools(values: impl IntoIterator<Item = bool>) -> ArrayRef {
    Arc::new(values.into_iter().map(Some).collect::<BooleanArray>())
}

pub fn doubles(values: impl IntoIterator<Item = f64>) -> ArrayRef {
    Arc::new(values.into_iter().map(Some).collect::<Float64Array>())
}

/// Writes a file with row groups of 1000 rows, and with Bloom filters for user tags.
pub fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let rows = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_column_bloom_filter_enabled(ColumnPath::from("user_tag"), true)
        .set_column_bloom_filter_max_ndv(ColumnPath::from("user_tag"), 1000)
        .build();
    let mut file = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    file.write(&rows).unwrap();
    file.close().unwrap();
}

/// Returns a data set with four operations of two hosts. The files of the second are of a later version, with a column more.
pub fn two_hosts() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let operations = folder.path().join("operations");
    let own = |hostname: &'static str, tags: [Option<&'static str>; 2], durations: [i64; 2]| {
        vec![
            ("hostname", texts([hostname; 2])),
            ("user_tag", texts(tags)),
            ("path", texts(["/tmp/one/a", "/tmp/two/b"])),
            ("duration_ns", numbers(durations)),
            ("success", bools([true, false])),
        ]
    };
    write(
        &operations.join("host=web-1/date=2026-11-26/hour=02/one.parquet"),
        own("web-1", [Some("req-1"), None], [10, 20]),
    );
    let mut later = own("a b", [Some("req-1"), Some("req-22")], [300, 40]);
    later.push(("later", doubles([0.5, 2.0])));
    write(&operations.join("host=a%20b/date=2026-11-27/hour=11/two.parquet"), later);
    folder
}
