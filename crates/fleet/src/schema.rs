//! The columns of a table.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

/// The most rows of a row group.
pub(crate) const ROWS: usize = 1 << 16;

/// The share of row groups that a look-up reads although they do not have the value.
const FALSE_POSITIVES: f64 = 0.01;

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// Text. Bytes that are not UTF-8 become U+FFFD.
    Text,
    /// A boolean.
    Bool,
    /// A floating-point number of 64 bits.
    Double,
    /// Texts by names, in the order in which they were added. It is never null.
    Map,
}

impl ColumnKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Signed => "signed",
            ColumnKind::Unsigned => "unsigned",
            ColumnKind::Text => "text",
            ColumnKind::Bool => "bool",
            ColumnKind::Double => "double",
            ColumnKind::Map => "map",
        }
    }
}

/// The columns of a table, and what its files say about themselves.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Names and kinds, in their order.
    pub columns: Vec<(String, ColumnKind)>,
    /// The columns by whose values rows are looked up: they have Bloom filters.
    pub looked_up: &'static [&'static str],
    /// Keys and values in the metadata of each file.
    pub metadata: Vec<(&'static str, String)>,
}

impl Schema {
    pub(crate) fn of_file(&self) -> Result<TypePtr> {
        let fields = self.columns.iter().map(|(name, kind)| column_type(name, *kind)).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
    }

    pub(crate) fn properties(&self) -> WriterProperties {
        let metadata = self.metadata.iter();
        let metadata = metadata.map(|(key, value)| KeyValue { key: (*key).to_owned(), value: Some(value.clone()) });
        let builder = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(metadata.collect()))
            // A reader need not load the dictionary to find that a value is not in it.
            .set_bloom_filter_for_dictionary_encoded_chunks(true);
        let looked_up = |builder: WriterPropertiesBuilder, name: &&str| {
            let column = || ColumnPath::from(*name);
            builder
                .set_column_bloom_filter_fpp(column(), FALSE_POSITIVES)
                .set_column_bloom_filter_max_ndv(column(), ROWS as u64)
        };
        self.looked_up.iter().fold(builder, looked_up).build()
    }
}

fn column_type(name: &str, kind: ColumnKind) -> Result<TypePtr> {
    let plain = |name: &str, physical, logical, repetition| {
        let column = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        column.with_logical_type(logical).build().map(Arc::new)
    };
    let text = |name, repetition| plain(name, Physical::BYTE_ARRAY, Some(LogicalType::String), repetition);
    let optional = Repetition::OPTIONAL;
    match kind {
        ColumnKind::Signed => plain(name, Physical::INT64, None, optional),
        ColumnKind::Unsigned => plain(name, Physical::INT64, Some(LogicalType::integer(64, false)), optional),
        ColumnKind::Bool => plain(name, Physical::BOOLEAN, None, optional),
        ColumnKind::Double => plain(name, Physical::DOUBLE, None, optional),
        ColumnKind::Text => text(name, optional),
        ColumnKind::Map => {
            let entry = vec![text("key", Repetition::REQUIRED)?, text("value", Repetition::REQUIRED)?];
            let entries = Type::group_type_builder("key_value").with_repetition(Repetition::REPEATED);
            let entries = Arc::new(entries.with_fields(entry).build()?);
            let map = Type::group_type_builder(name).with_repetition(Repetition::REQUIRED);
            Ok(Arc::new(map.with_logical_type(Some(LogicalType::Map)).with_fields(vec![entries]).build()?))
        }
    }
}
