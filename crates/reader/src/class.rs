//! Event classes: names of events and the layout of their fields.

use dyntrace_metadata::{FieldKind, Naming};

/// A class of events: one probe, or one of the recorder's own events.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventClass {
    /// Its full name, such as `dyntrace:efile_drv-entry`.
    pub name: String,
    /// Its fields, in the order of the provider definition.
    pub fields: Vec<FieldClass>,
    /// Bytes of integers before each string.
    runs: Vec<usize>,
    /// Bytes of integers after the last string.
    tail: usize,
    /// Positions of the fields that selections filter by.
    pub(crate) known: KnownFields,
}

/// A field of an event class.
#[derive(Debug)]
#[non_exhaustive]
pub struct FieldClass {
    /// Its name in the provider definition.
    pub name: String,
    /// Its type.
    pub kind: FieldKind,
    /// Number of strings before it.
    strings: usize,
    /// Bytes between the last of these and the field.
    offset: usize,
}

/// A step in the life of an operation: the end of the name of a driver's probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationStep {
    /// `entry`: the driver accepted the operation.
    Entry,
    /// `int_entry`: a thread starts its job.
    IntEntry,
    /// `int_return`: the job ended.
    IntReturn,
    /// `return`: the driver returned the result.
    Return,
}

/// Positions of the fields that selections filter by; `None` if the class lacks the field.
#[derive(Debug)]
pub(crate) struct KnownFields {
    pub(crate) user_tag: Option<usize>,
    pub(crate) command: Option<usize>,
    pub(crate) success: Option<usize>,
    pub(crate) errno: Option<usize>,
}

impl FieldClass {
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, FieldKind::Text | FieldKind::Name(_))
    }
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
                FieldKind::Name(_) => offset += usize::from(Naming::BITS / 8),
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

    /// Returns the name of the provider, such as `dyntrace`; `recorder` for the recorder's own events.
    pub fn provider(&self) -> &str {
        self.name.split_once(':').map_or("", |(provider, _)| provider)
    }

    /// Returns the name of the probe as tools show it, such as `efile_drv-entry`.
    pub fn probe(&self) -> &str {
        self.name.split_once(':').map_or(&self.name, |(_, probe)| probe)
    }

    /// Returns the driver that this probe belongs to, such as `dyntrace:efile_drv`, and the step that it shows; `None` if it is no
    /// step of an operation.
    ///
    /// A step is a probe whose name ends in `-entry`, `-int_entry`, `-int_return` or `-return`, and whose first two arguments are the
    /// integers `thread_id` and `tag`, which name the operation.
    pub fn operation_step(&self) -> Option<(&str, OperationStep)> {
        let (driver, step) = self.name.rsplit_once('-')?;
        let step = match step {
            "entry" => OperationStep::Entry,
            "int_entry" => OperationStep::IntEntry,
            "int_return" => OperationStep::IntReturn,
            "return" => OperationStep::Return,
            _ => return None,
        };
        let [thread, tag, ..] = &self.fields[..] else { return None };
        let is_id = thread.name == "thread_id" && tag.name == "tag" && !thread.is_text() && !tag.is_text();
        is_id.then_some((driver, step))
    }

    /// Returns the position of the field `name`, for [`Event::value`](crate::Event::value).
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether it is another form of the class `wide`: its integers may have fewer bits, and numbers may be in the place of names.
    fn is_form_of(&self, wide: &EventClass) -> bool {
        let is_form = |(own, wide): (&FieldClass, &FieldClass)| {
            let fits = match (own.kind, wide.kind) {
                (FieldKind::Signed { bits }, FieldKind::Signed { bits: most }) => bits <= most,
                (FieldKind::Unsigned { bits }, FieldKind::Unsigned { bits: most }) => bits <= most,
                (FieldKind::Name(_), FieldKind::Text) => true,
                (own, wide) => own == wide,
            };
            fits && own.name == wide.name
        };
        (&self.name, self.fields.len()) == (&wide.name, wide.fields.len())
            && self.fields.iter().zip(&wide.fields).all(is_form)
    }

    /// Whether a number is in the place of a name.
    fn has_names(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, FieldKind::Name(_)))
    }

    /// The class with texts in the place of these.
    fn with_texts(&self) -> EventClass {
        let kind = |kind| if matches!(kind, FieldKind::Name(_)) { FieldKind::Text } else { kind };
        let fields = self.fields.iter().map(|field| (field.name.clone(), kind(field.kind))).collect();
        EventClass::new(self.name.clone(), fields)
    }

    /// Returns the length of the fields at the beginning of `data`; `None` if `data` ends before them.
    #[inline]
    pub(crate) fn measure(&self, data: &[u8]) -> Option<usize> {
        let length = skip(data, &self.runs)? + self.tail;
        (length <= data.len()).then_some(length)
    }

    /// Returns the type of the field at `position` and its offset in `data`.
    #[inline]
    pub(crate) fn locate(&self, position: usize, data: &[u8]) -> Option<(FieldKind, usize)> {
        let field = self.fields.get(position)?;
        Some((field.kind, skip(data, self.runs.get(..field.strings)?)? + field.offset))
    }
}

/// The longest string that the recorder writes, with its NUL. A longer one is damaged.
const TEXT: usize = 512;

/// Returns the end of the last string; each string follows one of the `runs` of integers. 0 without strings.
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
    /// The forms of the classes, one for each id.
    forms: Vec<Form>,
    /// For each id the index of its form plus 1; 0 without one.
    places: Vec<u32>,
}

/// One of the layouts in which the recorder writes events of a class.
#[derive(Debug)]
struct Form {
    /// The index of its class.
    class: usize,
    /// Its layout, if that differs from the class's.
    layout: Option<EventClass>,
}

impl Classes {
    /// Inserts a class, or another form of the class inserted last; returns false if the id is taken.
    pub(crate) fn insert(&mut self, id: u16, class: EventClass) -> bool {
        let id = usize::from(id);
        if self.places.len() <= id {
            self.places.resize(id + 1, 0);
        }
        if self.places[id] != 0 {
            return false;
        }
        let layout = if self.classes.last().is_some_and(|last| class.is_form_of(last)) {
            Some(class)
        } else if class.has_names() {
            self.classes.push(class.with_texts());
            Some(class)
        } else {
            self.classes.push(class);
            None
        };
        self.forms.push(Form { class: self.classes.len() - 1, layout });
        self.places[id] = self.forms.len() as u32;
        true
    }

    /// Returns the class of events with this id, and a class with their layout.
    #[inline]
    pub(crate) fn get(&self, id: u16) -> Option<(&EventClass, &EventClass)> {
        let place = *self.places.get(usize::from(id))?;
        let form = self.forms.get((place as usize).wrapping_sub(1))?;
        let class = self.classes.get(form.class)?;
        Some((class, form.layout.as_ref().unwrap_or(class)))
    }

    /// Returns all layouts with their ids, in the order of the ids.
    pub(crate) fn with_ids(&self) -> impl Iterator<Item = (u16, &EventClass)> {
        (0..=u16::MAX).zip(&self.places).filter_map(|(id, _)| Some((id, self.get(id)?.1)))
    }

    /// Returns all classes, in the order of the metadata.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &EventClass> {
        self.classes.iter()
    }
}
