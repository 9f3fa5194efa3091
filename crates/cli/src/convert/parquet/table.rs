//! A table of nullable columns. Rows are written in groups, so memory does not grow with the table.

use std::fs::File;
use std::sync::Arc;

use dyntrace_reader::Text;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

/// The most rows and bytes of text of a group.
const ROWS: usize = 1 << 16;
const TEXT: usize = 32 << 20;

/// Counted up when a column changes or goes.
const VERSION: &str = "1";

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Signed,
    Unsigned,
    /// Bytes that are not UTF-8 become U+FFFD.
    Text,
    Bool,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Signed => "signed",
            Kind::Unsigned => "unsigned",
            Kind::Text => "text",
            Kind::Bool => "bool",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Cell<'c> {
    Signed(i64),
    Unsigned(u64),
    Text(Text<'c>),
    Bool(bool),
}

pub struct Table {
    file: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
    text: usize,
}

/// The values of the current group.
struct Column {
    /// For each row, 1 if it has a value, 0 if not.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Long(Vec<i64>),
    Text { bytes: Vec<u8>, ends: Vec<usize> },
    Bool(Vec<bool>),
}

impl Table {
    pub fn create(file: File, columns: impl IntoIterator<Item = (String, Kind)>) -> anyhow::Result<Table> {
        let mut types = Vec::new();
        let mut gathered = Vec::new();
        for (name, kind) in columns {
            types.push(column_type(&name, kind)?);
            gathered.push(Column { levels: Vec::new(), values: Values::of(kind) });
        }
        let schema = Type::group_type_builder("schema").with_fields(types).build()?;
        let version = KeyValue { key: "dyntrace.version".to_owned(), value: Some(VERSION.to_owned()) };
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let file = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        Ok(Table { file, columns: gathered, rows: 0, text: 0 })
    }

    /// Appends a row: each column gets at most one cell, by its number; the other columns are null.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = (usize, Cell<'c>)>) -> Result<()> {
        for (column, cell) in cells {
            let Column { levels, values } = &mut self.columns[column];
            levels.push(1);
            match (values, cell) {
                (Values::Long(values), Cell::Signed(number)) => values.push(number),
                // The schema says that the column is unsigned.
                (Values::Long(values), Cell::Unsigned(number)) => values.push(number as i64),
                (Values::Bool(values), Cell::Bool(value)) => values.push(value),
                (Values::Text { bytes, ends }, Cell::Text(text)) => {
                    bytes.extend_from_slice(String::from_utf8_lossy(&text).as_bytes());
                    ends.push(bytes.len());
                    self.text += text.len();
                }
                (_, cell) => panic!("column {column} is not of the kind of {cell:?}"),
            }
        }
        self.rows += 1;
        for column in &mut self.columns {
            column.levels.resize(self.rows, 0);
        }
        if self.rows >= ROWS || self.text >= TEXT { self.flush() } else { Ok(()) }
    }

    /// Writes the last group and the end of the file.
    pub fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.file.close().map(drop)
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        let mut columns = self.columns.iter_mut();
        while let (Some(mut writer), Some(column)) = (group.next_column()?, columns.next()) {
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.text) = (0, 0);
        Ok(())
    }
}

impl Values {
    fn of(kind: Kind) -> Values {
        match kind {
            Kind::Signed | Kind::Unsigned => Values::Long(Vec::new()),
            Kind::Text => Values::Text { bytes: Vec::new(), ends: Vec::new() },
            Kind::Bool => Values::Bool(Vec::new()),
        }
    }
}

impl Column {
    /// Writes the values and clears them.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = Some(&*self.levels);
        match (&mut self.values, writer) {
            (Values::Long(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Bool(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Text { bytes, ends }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let all = ByteArray::from(std::mem::take(bytes));
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let texts = starts.zip(ends.iter()).map(|(start, end)| all.slice(start, end - start));
                writer.write_batch(&texts.collect::<Vec<_>>(), levels, None)?;
                ends.clear();
            }
            _ => unreachable!("the schema was made of the same kinds"),
        }
        self.levels.clear();
        Ok(())
    }
}

fn column_type(name: &str, kind: Kind) -> Result<TypePtr> {
    let (physical, logical) = match kind {
        Kind::Signed => (Physical::INT64, None),
        Kind::Unsigned => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Bool => (Physical::BOOLEAN, None),
    };
    let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(column.with_logical_type(logical).build()?))
}
