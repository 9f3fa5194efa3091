//! Event classes: what an event is called and where its fields lie.

use dyntrace_metadata::FieldKind;

/// A class of events: one probe, or one of the recorder's own events.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventClass {
    /// Its whole name, as `dyntrace:efile_drv-entry`.
    pub name: String,
    /// Its fields, in the order of provider.d.
    pub fields: Vec<FieldClass>,
    /// How many bytes of integers lie before each string.
    runs: Vec<usize>,
    /// How many bytes of integers lie behind the last string.
    tail: usize,
    /// Positions of the fields that selections ask for.
    pub(crate) known: KnownFields,
}

/// A field of an event class.
#[derive(Debug)]
#[non_exhaustive]
pub struct FieldClass {
    /// Its name in provider.d.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// How many strings lie before it.
    strings: usize,
    /// How many bytes lie between the last of them and it.
    offset: usize,
}

/// Positions of fields that have a meaning of their own, where the class has them.
#[derive(Debug)]
pub(crate) struct KnownFields {
    pub(crate) user_tag: Option<usize>,
    pub(crate) command: Option<usize>,
    pub(crate) success: Option<usize>,
    pub(crate) errno: Option<usize>,
}

impl EventClass {
    pub(crate) fn new(name: String, fields: Vec<(String, FieldKind)>) -> Self {
        let mut runs = Vec::new();
        let mut offset = 0;
        let mut classes = Vec::with_capacity(fields.len());
        for (name, kind) in fields {
            classes.push(FieldClass { name, kind, strings: runs.len(), offset });
            match kind {
                FieldKind::Signed { bits } | FieldKind::Unsigned { bits } => offset += usize::from(bits / 8),
                FieldKind::Text => {
                    runs.push(offset);
                    offset = 0;
                }
            }
        }
        let position = |name| classes.iter().position(|field: &FieldClass| field.name == name);
        let known = KnownFields {
            user_tag: position("user_tag"),
            command: position("command"),
            success: position("success"),
            errno: position("errno"),
        };
        Self { name, fields: classes, runs, tail: offset, known }
    }

    /// The name of the provider, `dyntrace`; `recorder` for the recorder's own events.
    pub fn provider(&self) -> &str {
        self.name.split_once(':').map_or("", |(provider, _)| provider)
    }

    /// The name of the probe as tools show it, `efile_drv-entry`.
    pub fn probe(&self) -> &str {
        self.name.split_once(':').map_or(&self.name, |(_, probe)| probe)
    }

    /// The position of the field `name`, for [`Event::value`](crate::Event::value): looked up once, used for each event.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// How many bytes of `data` the fields take; `None` if they are not all there.
    #[inline]
    pub(crate) fn measure(&self, data: &[u8]) -> Option<usize> {
        let length = skip(data, &self.runs)? + self.tail;
        (length <= data.len()).then_some(length)
    }

    /// The field at `position` and where in `data` it begins.
    #[inline]
    pub(crate) fn locate(&self, position: usize, data: &[u8]) -> Option<(FieldKind, usize)> {
        let field = self.fields.get(position)?;
        Some((field.kind, skip(data, self.runs.get(..field.strings)?)? + field.offset))
    }
}

/// The longest string that the recorder writes, with its NUL. What goes on longer is damaged.
const TEXT: usize = 512;

/// Where the last of the strings ends that lie behind runs of integers; 0 if there is none.
#[inline]
fn skip(data: &[u8], runs: &[usize]) -> Option<usize> {
    let mut at = 0;
    for run in runs {
        at += run;
        let rest = data.get(at..)?;
        at += memchr::memchr(0, &rest[..rest.len().min(TEXT)])? + 1;
    }
    Some(at)
}

/// Event classes by their ids.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    classes: Vec<EventClass>,
    /// For each id its class's place among the classes, from 1; 0 if there is none.
    places: Vec<u32>,
}

impl Classes {
    /// Takes a class in; false if there is one of that id.
    pub(crate) fn insert(&mut self, id: u16, class: EventClass) -> bool {
        let id = usize::from(id);
        if self.places.len() <= id {
            self.places.resize(id + 1, 0);
        }
        if self.places[id] != 0 {
            return false;
        }
        self.classes.push(class);
        self.places[id] = self.classes.len() as u32;
        true
    }

    #[inline]
    pub(crate) fn get(&self, id: u16) -> Option<&EventClass> {
        let place = *self.places.get(usize::from(id))?;
        self.classes.get((place as usize).wrapping_sub(1))
    }

    /// All of them with their ids, in the order of these.
    pub(crate) fn with_ids(&self) -> impl Iterator<Item = (u16, &EventClass)> {
        (0..=u16::MAX).zip(&self.places).filter_map(|(id, _)| Some((id, self.get(id)?)))
    }

    /// All of them, in the order of the metadata.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &EventClass> {
        self.classes.iter()
    }
}
