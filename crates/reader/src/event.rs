//! Events and their values. Nothing here allocates: fields are read where they lie in the file.

use std::fmt;

use dyntrace_metadata::FieldKind;

use crate::class::EventClass;
use crate::process::Process;

/// One event of a trace.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Event<'t> {
    /// When it happened: nanoseconds since 1970.
    pub time: i64,
    /// Whose it is.
    pub process: &'t Process,
    /// The thread that fired it, as the system numbers threads.
    pub tid: u64,
    /// What it is.
    pub class: &'t EventClass,
    /// The fields, packed: just as many bytes as they take.
    pub(crate) data: &'t [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// A signed integer, of whatever size.
    Signed(i64),
    /// An unsigned integer, of whatever size.
    Unsigned(u64),
    /// A string without its NUL. Whatever bytes the program gave: UTF-8 unless a path or a tag was not. Absent strings
    /// are empty.
    Text(&'t [u8]),
}

impl<'t> Event<'t> {
    /// The value of the field `name`, if the class has one. For many events of a class, [`EventClass::position`] and
    /// [`value`](Self::value) are faster.
    ///
    /// ```
    /// use dyntrace_reader::{Trace, Value};
    ///
    /// let trace = Trace::open("tests/golden")?;
    /// let entry = trace.events().find(|event| event.class.probe() == "efile_drv-entry").expect("an operation");
    /// assert_eq!(entry.field("user_tag"), Some(Value::Text(b"req-1")));
    /// assert_eq!(entry.field("command"), Some(Value::Signed(12)));
    /// assert_eq!(entry.field("success"), None);
    /// # Ok::<(), dyntrace_reader::Error>(())
    /// ```
    pub fn field(&self, name: &str) -> Option<Value<'t>> {
        self.value(self.class.position(name)?)
    }

    /// The value of the field at `position`.
    #[inline]
    pub fn value(&self, position: usize) -> Option<Value<'t>> {
        let (kind, at) = self.class.locate(position, self.data)?;
        Some(self.read(kind, at)?.0)
    }

    /// All fields with their names, in the order of provider.d.
    pub fn fields(&self) -> impl Iterator<Item = (&'t str, Value<'t>)> + use<'t> {
        let event = *self;
        let mut at = 0;
        event.class.fields.iter().map_while(move |field| {
            let (value, length) = event.read(field.kind, at)?;
            at += length;
            Some((field.name.as_str(), value))
        })
    }

    /// The value at byte `at` and how many bytes it takes.
    #[inline]
    fn read(&self, kind: FieldKind, at: usize) -> Option<(Value<'t>, usize)> {
        let data = self.data.get(at..)?;
        let order = self.process.metadata.format.byte_order;
        let (bits, number) = match kind {
            FieldKind::Text => {
                let length = memchr::memchr(0, data)?;
                return Some((Value::Text(&data[..length]), length + 1));
            }
            FieldKind::Signed { bits } | FieldKind::Unsigned { bits } => match bits {
                8 => (8, u64::from(*data.first()?)),
                16 => (16, u64::from(order.u16(*data.first_chunk()?))),
                32 => (32, u64::from(order.u32(*data.first_chunk()?))),
                _ => (64, order.u64(*data.first_chunk()?)),
            },
        };
        let value = match kind {
            // Up to the sign and down again: the sign fills the bits above.
            FieldKind::Signed { .. } => Value::Signed((number << (64 - bits)) as i64 >> (64 - bits)),
            _ => Value::Unsigned(number),
        };
        Some((value, bits / 8))
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut event = f.debug_struct(&self.class.name);
        event.field("time", &self.time).field("pid", &self.process.pid).field("tid", &self.tid);
        for (name, value) in self.fields() {
            event.field(name, &value);
        }
        event.finish()
    }
}
