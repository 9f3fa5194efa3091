//! Small units of debug information, written by hand: a task of tokio's and a coroutine, also in several files.

use std::borrow::Cow;

use gimli::constants::*;

use super::Sections;

/// The address of the sample's poll function.
pub(crate) const POLL: u64 = 0x1000;
/// The address of its vtable of a trait object.
pub(crate) const VTABLE: u64 = 0x2000;

/// The bytes of `.debug_abbrev` and `.debug_info`.
#[derive(Clone)]
pub(crate) struct Sample {
    pub abbreviations: Vec<u8>,
    pub info: Vec<u8>,
}

impl Sample {
    pub fn sections(&self) -> Sections<'static> {
        Sections::of(|name| match name {
            ".debug_abbrev" => self.abbreviations.clone().into(),
            ".debug_info" => self.info.clone().into(),
            _ => Cow::Borrowed(&[]),
        })
    }
}

/// A tag, whether it has children, attributes and their forms.
type Abbreviation = (DwTag, bool, &'static [(DwAt, DwForm)]);

/// In the order of their codes, from 1.
#[rustfmt::skip]
const ABBREVIATIONS: &[Abbreviation] = &[
    (DW_TAG_compile_unit, true, &[]),
    (DW_TAG_namespace, true, &[(DW_AT_name, DW_FORM_string)]),
    (DW_TAG_structure_type, true, &[(DW_AT_name, DW_FORM_string), (DW_AT_byte_size, DW_FORM_data2)]),
    (DW_TAG_member, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_type, DW_FORM_ref4), (DW_AT_data_member_location, DW_FORM_data2)]),
    (DW_TAG_template_type_parameter, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_type, DW_FORM_ref4)]),
    (DW_TAG_variant_part, true, &[]),
    (DW_TAG_variant, true, &[(DW_AT_discr_value, DW_FORM_data1)]),
    (DW_TAG_pointer_type, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_type, DW_FORM_ref4)]),
    (DW_TAG_subprogram, true, &[(DW_AT_name, DW_FORM_string), (DW_AT_low_pc, DW_FORM_addr)]),
    (DW_TAG_base_type, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_byte_size, DW_FORM_data2)]),
    (DW_TAG_variable, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_type, DW_FORM_ref4), (DW_AT_location, DW_FORM_exprloc)]),
    (DW_TAG_structure_type, true, &[(DW_AT_name, DW_FORM_string), (DW_AT_containing_type, DW_FORM_ref4)]),
    (DW_TAG_compile_unit, true, &[(DW_AT_GNU_dwo_id, DW_FORM_data8)]),
    (DW_TAG_compile_unit, false, &[(DW_AT_comp_dir, DW_FORM_string), (DW_AT_GNU_dwo_name, DW_FORM_string), (DW_AT_GNU_dwo_id, DW_FORM_data8)]),
    (DW_TAG_template_type_parameter, false, &[(DW_AT_name, DW_FORM_string), (DW_AT_type, DW_FORM_GNU_ref_alt)]),
];
/// The codes of the last three.
const SPLIT: u8 = 13;
const SKELETON: u8 = 14;
const ALTERNATE: u8 = 15;

#[derive(Default)]
struct Writer {
    info: Vec<u8>,
    /// Places of references, and the labels that they refer to.
    references: Vec<(usize, &'static str)>,
    labels: Vec<(&'static str, usize)>,
}

impl Writer {
    fn begin(&mut self, code: u8) -> &mut Writer {
        self.info.push(code);
        self
    }

    fn label(&mut self, label: &'static str) -> &mut Writer {
        self.labels.push((label, self.info.len()));
        self
    }

    fn text(&mut self, text: &str) -> &mut Writer {
        self.info.extend(text.bytes());
        self.info.push(0);
        self
    }

    fn to(&mut self, label: &'static str) -> &mut Writer {
        self.references.push((self.info.len(), label));
        self.info.extend([0; 4]);
        self
    }

    fn short(&mut self, number: u16) -> &mut Writer {
        self.info.extend(number.to_le_bytes());
        self
    }

    fn end(&mut self) -> &mut Writer {
        self.info.push(0);
        self
    }

    fn structure(&mut self, label: &'static str, name: &str, size: u16) -> &mut Writer {
        self.label(label).begin(3).text(name).short(size)
    }

    fn member(&mut self, name: &str, kind: &'static str, offset: u16) -> &mut Writer {
        self.begin(4).text(name).to(kind).short(offset)
    }
}

/// Writes a unit with a task whose coroutine has a vector of `Acquire`s, and awaits, through pointers, a coroutine of its own type, an
/// array of three, and a `Notified`.
pub(crate) fn sample() -> Sample {
    unit(None)
}

/// Writes the same as a split unit, with the id of its skeleton.
pub(crate) fn split_unit(id: u64) -> Sample {
    unit(Some(id))
}

fn unit(id: Option<u64>) -> Sample {
    let mut w = Writer::default();
    // a 32-bit unit of version 4, 8-byte addresses; its length is written at the end
    w.info.extend([0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8]);
    match id {
        None => w.begin(1),
        Some(_) => w.begin(SPLIT),
    };
    w.info.extend(id.into_iter().flat_map(u64::to_le_bytes));
    w.label("u64").begin(10).text("u64").short(8);
    w.label("u8").begin(10).text("u8").short(1);
    w.begin(2).text("app").begin(2).text("run");
    w.structure("coroutine", "{async_fn_env#0}", 32);
    w.begin(6).member("__state", "u8", 0);
    w.begin(7).begin_discriminant(0).member("0", "unresumed", 0).end();
    w.begin(7).begin_discriminant(3).member("3", "suspended", 0).end();
    w.end().end();
    w.structure("unresumed", "Unresumed", 32).end();
    w.structure("suspended", "Suspend0", 32).member("guard", "notified", 8).member("__awaitee", "pair", 8);
    w.member("waiters", "list", 8).end();
    w.end().end();
    w.label("box").begin(8).text("&mut app::run::{async_fn_env#0}").to("coroutine");
    w.structure("pair", "Pair", 24);
    w.member("first", "box", 0)
        .member("second", "box", 8)
        .member("object", "object", 8)
        .member("last", "notified", 16)
        .end();
    w.structure("object", "Box<dyn core::future::future::Future<Output=()>>", 16);
    w.member("pointer", "box", 0).member("vtable", "box", 8).end();
    w.begin(2).text("tokio").begin(2).text("sync").begin(2).text("notify");
    w.structure("notified", "Notified", 8).member("notify", "u64", 0).end();
    w.end();
    w.begin(2).text("batch_semaphore");
    w.structure("waiter", "Waiter", 8).member("state", "u64", 0).end();
    w.structure("acquire", "Acquire", 24).member("node", "waiter", 0).member("semaphore", "u64", 8);
    w.member("queued", "u8", 16).end();
    w.end().end();
    w.begin(2).text("runtime").begin(2).text("task").begin(2).text("core");
    w.structure("core", "Core<app::run::{async_fn_env#0}, u64>", 48);
    w.member("scheduler", "u64", 0).member("stage", "stage", 8).end();
    w.structure("stage", "Stage<app::run::{async_fn_env#0}>", 40);
    w.begin(6).member("", "u8", 0);
    w.begin(7).begin_discriminant(0).member("Running", "running", 0).end();
    w.begin(7).begin_discriminant(1).member("Consumed", "unresumed", 0).end();
    w.end().end();
    w.structure("running", "Running", 40).member("__0", "coroutine", 8).end();
    w.end();
    w.begin(2).text("raw").begin(9).text("poll<app::run::{async_fn_env#0}, u64>");
    w.info.extend(POLL.to_le_bytes());
    w.begin(5).text("T").to("coroutine").begin(5).text("S").to("u64").end();
    w.end().end().end().end();
    w.begin(2).text("alloc").begin(2).text("vec");
    w.structure("pointer", "NonNull", 8).member("pointer", "u64", 0).end();
    w.structure("unique", "Unique", 8).member("pointer", "pointer", 0).end();
    w.structure("inner", "RawVecInner", 16).member("ptr", "unique", 0).end();
    w.structure("raw", "RawVec", 16).member("inner", "inner", 0).end();
    w.structure("list", "Vec<Acquire>", 24).member("buf", "raw", 0).member("len", "u64", 16);
    w.begin(5).text("T").to("acquire").end();
    w.end().end();
    w.label("table").begin(12).text("<F as Future>::{vtable_type}").to("coroutine").end();
    w.begin(11).text("<F as Future>::{vtable}").to("table");
    w.info.push(9);
    w.info.push(DW_OP_addr.0);
    w.info.extend(VTABLE.to_le_bytes());
    w.end();
    w.finish()
}

/// Writes the skeleton of a unit that is in the file `object` of `folder`.
pub(crate) fn skeleton(id: u64, folder: &str, object: &str) -> Sample {
    let mut w = Writer::default();
    w.info.extend([0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8]);
    w.begin(SKELETON).text(folder).text(object);
    w.info.extend(id.to_le_bytes());
    w.finish()
}

/// Writes a unit whose function at `address` polls the task of [`sample`], which is in a supplementary file.
pub(crate) fn with_alternate(address: u64) -> Sample {
    let sample = sample();
    let entry = |text: &str| {
        let name = sample.info.windows(text.len()).position(|window| window == text.as_bytes()).expect("an entry");
        (name as u32 - 1).to_le_bytes()
    };
    let mut w = Writer::default();
    w.info.extend([0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8]);
    w.begin(1).begin(9).text("poll<app::run::{async_fn_env#0}, u64>");
    w.info.extend(address.to_le_bytes());
    w.begin(ALTERNATE).text("T");
    w.info.extend(entry("{async_fn_env#0}\0"));
    w.begin(ALTERNATE).text("S");
    w.info.extend(entry("u64\0"));
    w.end().end();
    w.finish()
}

impl Writer {
    fn finish(mut self) -> Sample {
        let w = &mut self;
        let length = w.info.len() as u32 - 4;
        w.info[..4].copy_from_slice(&length.to_le_bytes());
        for (place, label) in &w.references {
            let target = w.labels.iter().find(|(known, _)| known == label).expect("a label").1 as u32;
            w.info[*place..place + 4].copy_from_slice(&target.to_le_bytes());
        }
        Sample { abbreviations: abbreviations(), info: self.info }
    }

    fn begin_discriminant(&mut self, value: u8) -> &mut Writer {
        self.info.push(value);
        self
    }
}

fn abbreviations() -> Vec<u8> {
    let mut bytes = Vec::new();
    let leb = |bytes: &mut Vec<u8>, mut number: u16| {
        while number > 0x7f {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    };
    for (number, (tag, children, attributes)) in ABBREVIATIONS.iter().enumerate() {
        leb(&mut bytes, number as u16 + 1);
        leb(&mut bytes, tag.0);
        bytes.push((*children).into());
        for (attribute, form) in *attributes {
            leb(&mut bytes, attribute.0);
            leb(&mut bytes, form.0);
        }
        bytes.extend([0, 0]);
    }
    bytes.push(0);
    bytes
}
