//! Events and their values. Fields are read in place, in the mapped file, without allocation.

use std::fmt;

use dyntrace_metadata::FieldKind;

use crate::class::EventClass;
use crate::process::Process;
use crate::text::Text;

/// One event of a trace.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Event<'t> {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// The process that fired it.
    pub process: &'t Process,
    /// The system's number of the thread that fired it.
    pub tid: u64,
    /// Its class: the probe and the fields.
    pub class: &'t EventClass,
    /// The layout of its fields in `data`: that of the class, or a narrower one.
    pub(crate) layout: &'t EventClass,
    /// The packed fields.
    pub(crate) data: &'t [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// A signed integer of any size.
    Signed(i64),
    /// An unsigned integer of any size.
    Unsigned(u64),
    /// The bytes of a string, without its NUL: UTF-8, except for paths and tags that are not. An absent string is empty.
    Text(Text<'t>),
}

impl<'t> Event<'t> {
    /// Returns the value of the field `name`, if the class has it.
    ///
    /// For many events of a class, [`EventClass::position`] and [`value`](Self::value) are faster.
    ///
    /// ```
    /// use dyntrace_reader::{Trace, Value};
    ///
    /// let trace = Trace::open("tests/golden")?;
    /// let entry = trace.events().find(|event| event.class.probe() == "efile_drv-entry").expect("an operation");
    /// assert_eq!(entry.field("user_tag"), Some(Value::Text(b"req-1".into())));
    /// assert_eq!(entry.field("command"), Some(Value::Signed(12)));
    /// assert_eq!(entry.field("success"), None);
    /// # Ok::<(), dyntrace_reader::Error>(())
    /// ```
    pub fn field(&self, name: &str) -> Option<Value<'t>> {
        self.value(self.class.position(name)?)
    }

    /// Returns the value of the field at `position`.
    #[inline]
    pub fn value(&self, position: usize) -> Option<Value<'t>> {
        let (kind, at) = self.layout.locate(position, self.data)?;
        Some(self.read(kind, at)?.0)
    }

    /// Returns all fields with their names, in the order of the provider definition.
    pub fn fields(&self) -> impl Iterator<Item = (&'t str, Value<'t>)> + use<'t> {
        let event = *self;
        let mut at = 0;
        event.layout.fields.iter().map_while(move |field| {
            let (value, length) = event.read(field.kind, at)?;
            at += length;
            Some((field.name.as_str(), value))
        })
    }

    /// Returns the value at byte `at` and its length.
    #[inline]
    fn read(&self, kind: FieldKind, at: usize) -> Option<(Value<'t>, usize)> {
        let data = self.data.get(at..)?;
        let order = self.process.metadata.format.byte_order;
        let (bits, number) = match kind {
            FieldKind::Text => {
                let length = memchr::memchr(0, data)?;
                return Some((Value::Text(data[..length].into()), length + 1));
            }
            FieldKind::Name(naming) => {
                let number = order.u32(*data.first_chunk()?);
                return Some((Value::Text(Text::name(naming, number)), 4));
            }
            FieldKind::Signed { bits } | FieldKind::Unsigned { bits } => match bits {
                8 => (8, u64::from(*data.first()?)),
                16 => (16, u64::from(order.u16(*data.first_chunk()?))),
                24 => (24, u64::from(order.u24(*data.first_chunk()?))),
                32 => (32, u64::from(order.u32(*data.first_chunk()?))),
                _ => (64, order.u64(*data.first_chunk()?)),
            },
        };
        let value = match kind {
            // The shift to the left and back extends the sign.
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
