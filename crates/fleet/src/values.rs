//! The values of a column, as they are gathered for a row group.

use dyntrace_reader::Text;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;

use crate::schema::ColumnKind;

/// The value of a row in a column.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'c> {
    /// A value of [`ColumnKind::Signed`].
    Signed(i64),
    /// A value of [`ColumnKind::Unsigned`].
    Unsigned(u64),
    /// A value of [`ColumnKind::Text`].
    Text(Text<'c>),
    /// A value of [`ColumnKind::Bool`].
    Bool(bool),
    /// A value of [`ColumnKind::Double`].
    Double(f64),
    /// A value of [`ColumnKind::Map`].
    Map(&'c Entries),
}

/// Texts by names: the value of a map.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    keys: Texts,
    values: Texts,
}

impl Entries {
    /// Appends an entry.
    pub fn push(&mut self, key: &str, value: &[u8]) {
        self.keys.push(key.as_bytes());
        self.values.push(value);
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    fn length(&self) -> usize {
        self.keys.bytes.len() + self.values.bytes.len()
    }
}

#[derive(Clone, Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(String::from_utf8_lossy(text).as_bytes());
        self.ends.push(self.bytes.len());
    }

    fn append(&mut self, others: &Texts) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&others.bytes);
        self.ends.extend(others.ends.iter().map(|end| start + end));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn take(&mut self) -> Vec<ByteArray> {
        let all = ByteArray::from(std::mem::take(&mut self.bytes));
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(start, end)| all.slice(start, end - start)).collect();
        self.ends.clear();
        texts
    }
}

/// The values of a row group.
#[derive(Debug)]
pub(crate) struct Column {
    /// For each row, 1 if it has a value, 0 if not; of a map, 1 for each entry, 0 for an empty one.
    levels: Vec<i16>,
    values: Values,
    rows: usize,
}

#[derive(Debug)]
enum Values {
    Long(Vec<i64>),
    Text(Texts),
    Bool(Vec<bool>),
    Double(Vec<f64>),
    Map {
        entries: Entries,
        /// For each entry, 0 if it is the first of its row, 1 if not.
        repeats: Vec<i16>,
    },
}

impl Column {
    pub(crate) fn of(kind: ColumnKind) -> Column {
        let values = match kind {
            ColumnKind::Signed | ColumnKind::Unsigned => Values::Long(Vec::new()),
            ColumnKind::Text => Values::Text(Texts::default()),
            ColumnKind::Bool => Values::Bool(Vec::new()),
            ColumnKind::Double => Values::Double(Vec::new()),
            ColumnKind::Map => Values::Map { entries: Entries::default(), repeats: Vec::new() },
        };
        Column { levels: Vec::new(), values, rows: 0 }
    }

    /// Appends the value of the next row. Returns the number of its bytes that are text.
    ///
    /// # Panics
    ///
    /// If the column has another kind.
    pub(crate) fn push(&mut self, cell: Cell<'_>) -> usize {
        self.rows += 1;
        match (&mut self.values, cell) {
            (Values::Map { entries, repeats }, Cell::Map(of_row)) => {
                let count = of_row.keys.ends.len();
                entries.keys.append(&of_row.keys);
                entries.values.append(&of_row.values);
                self.levels.resize(self.levels.len() + count.max(1), i16::from(count > 0));
                repeats.push(0);
                repeats.resize(self.levels.len(), 1);
                return of_row.length();
            }
            (Values::Long(values), Cell::Signed(number)) => values.push(number),
            // The schema says that the column is unsigned.
            (Values::Long(values), Cell::Unsigned(number)) => values.push(number.cast_signed()),
            (Values::Bool(values), Cell::Bool(value)) => values.push(value),
            (Values::Double(values), Cell::Double(value)) => values.push(value),
            (Values::Text(texts), Cell::Text(text)) => {
                texts.push(&text);
                self.levels.push(1);
                return text.len();
            }
            (values, cell) => panic!("{cell:?} is not of the kind of {values:?}"),
        }
        self.levels.push(1);
        0
    }

    /// Ends a row: without a value it is null, or an empty map.
    pub(crate) fn end_row(&mut self, rows: usize) {
        if self.rows < rows {
            self.rows += 1;
            self.levels.push(0);
            if let Values::Map { repeats, .. } = &mut self.values {
                repeats.push(0);
            }
        }
    }

    /// Writes the values to the next column of the file: those of a map to the next two, whose number is `leaf`.
    pub(crate) fn write(&mut self, leaf: usize, writer: &mut ColumnWriter<'_>) -> Result<()> {
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
            (Values::Double(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            (Values::Text(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&texts.take(), levels, None)?;
            }
            (Values::Map { entries, repeats }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let texts = if leaf == 0 { &mut entries.keys } else { &mut entries.values };
                writer.write_batch(&texts.take(), levels, Some(repeats))?;
            }
            _ => unreachable!("the schema was made of the same kinds"),
        }
        Ok(())
    }

    /// Forgets the values after all of them were written.
    pub(crate) fn clear(&mut self) {
        self.levels.clear();
        self.rows = 0;
        if let Values::Map { repeats, .. } = &mut self.values {
            repeats.clear();
        }
    }

    /// How many columns of the file it has.
    pub(crate) fn leaves(&self) -> usize {
        if matches!(self.values, Values::Map { .. }) { 2 } else { 1 }
    }
}
