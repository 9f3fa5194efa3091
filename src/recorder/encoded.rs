//! Arguments of a firing that are encoded before the ring reserves space for them.
//!
//! A generated probe function accepts any texts: at each firing it finds out their kinds and lengths, then how to write them. Call sites
//! that fire often know the kinds, and save most of that.

use std::mem::MaybeUninit;

use super::descriptor::{Argument, Descriptor, Kind};
use super::field::Field;
use super::form::Form;
use super::payload::Payload;
use crate::short;
use crate::text::{Buffer, Numbered};

/// Space for five texts and four numbers.
pub(crate) type Space = [MaybeUninit<u8>; 5 * (Buffer::LIMIT + 1) + 4 * size_of::<u64>()];

/// The most arguments of a probe.
const MOST: usize = 12;

/// The arguments of one firing, encoded as in a ring.
pub(crate) struct Encoded<'w> {
    space: &'w mut Space,
    length: usize,
    form: Form,
    arguments: &'static [Argument],
    time: Option<u64>,
}

impl<'w> Encoded<'w> {
    /// Uninitialised space.
    #[inline(always)]
    pub(crate) const fn space() -> Space {
        [MaybeUninit::uninit(); _]
    }

    /// No arguments yet. `time`: the clock's time of the firing, if the caller has read it.
    #[inline(always)]
    pub(crate) fn new(space: &'w mut Space, probe: &Descriptor, time: Option<u64>) -> Encoded<'w> {
        Encoded { space, length: 0, form: Form::Tight, arguments: probe.arguments, time }
    }

    /// Takes the arguments.
    ///
    /// # Panics
    ///
    /// If there is no space for them.
    #[inline(always)]
    pub(crate) fn fill(&mut self, arguments: &impl Payload) {
        match arguments.form() {
            Form::Tight => self.fill_with(arguments, Form::Tight),
            form => self.fill_loosely(arguments, form),
        }
    }

    #[cold]
    #[inline(never)]
    fn fill_loosely(&mut self, arguments: &impl Payload, form: Form) {
        self.fill_with(arguments, form);
    }

    #[inline(always)]
    fn fill_with(&mut self, arguments: &impl Payload, form: Form) {
        (self.length, self.form) = (arguments.size(form), form);
        let place = &mut self.space[..self.length];
        // SAFETY: `place` has the arguments' size, and is borrowed mutably.
        unsafe { arguments.put(place.as_mut_ptr().cast(), form) };
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: `fill_with` has encoded `length` bytes.
        unsafe { self.space[..self.length].assume_init_ref() }
    }

    /// The arguments as filters see them.
    fn fields(&self) -> [Field<'_>; MOST] {
        let (mut fields, mut rest) = ([Field::U32(0); MOST], self.bytes());
        for (decoded, argument) in fields.iter_mut().zip(self.arguments) {
            *decoded = field(argument.kind, &mut rest, self.form);
        }
        fields
    }
}

/// Removes an argument from the beginning.
fn field<'a>(kind: Kind, rest: &mut &'a [u8], form: Form) -> Field<'a> {
    let of_name = |rest: &mut &'a [u8], name: fn(u64) -> Numbered| match form {
        Form::Wide => text(rest),
        Form::Narrow | Form::Tight => Field::Numbered(name(unsigned(rest, 4))),
    };
    match kind {
        Kind::I32 => Field::I32(signed(rest, form.bytes(4)) as i32),
        Kind::U32 => Field::U32(unsigned(rest, form.bytes(4)) as u32),
        Kind::I64 => Field::I64(signed(rest, form.bytes(8))),
        Kind::U64 => Field::U64(unsigned(rest, form.bytes(8))),
        Kind::Count => Field::I32(signed(rest, 4) as i32),
        Kind::Small => Field::I32(signed(rest, form.of_small().bytes(4)) as i32),
        Kind::Text => text(rest),
        Kind::Port => of_name(rest, Numbered::port),
        Kind::Process => of_name(rest, Numbered::process),
    }
}

/// Removes a string and its NUL.
fn text<'a>(rest: &mut &'a [u8]) -> Field<'a> {
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let (text, behind) = rest.split_at(end);
    *rest = behind.get(1..).unwrap_or_default();
    Field::Text(text)
}

/// Removes a number of at most 8 bytes; 0 if there are too few.
fn unsigned(rest: &mut &[u8], bytes: usize) -> u64 {
    let mut number = [0; 8];
    if let Some(own) = rest.split_off(..bytes) {
        let at = if cfg!(target_endian = "little") { 0 } else { 8 - bytes };
        number[at..][..bytes].copy_from_slice(own);
    }
    u64::from_ne_bytes(number)
}

/// Removes a number of at most 8 bytes and extends its sign.
fn signed(rest: &mut &[u8], bytes: usize) -> i64 {
    let unused = 64 - 8 * bytes as u32;
    (unsigned(rest, bytes) << unused) as i64 >> unused
}

impl Payload for &Encoded<'_> {
    #[inline(always)]
    fn form(&self) -> Form {
        self.form
    }

    #[inline(always)]
    fn size(&self, _form: Form) -> usize {
        self.length
    }

    #[inline(always)]
    unsafe fn put(&self, at: *mut u8, _form: Form) {
        // SAFETY: the caller gives `length` bytes in a ring, which do not overlap `space`.
        unsafe { short::copy(self.bytes(), at) }
    }

    #[inline(always)]
    fn time(&self) -> Option<u64> {
        self.time
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        look(&self.fields()[..self.arguments.len().min(MOST)])
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::recorder::descriptor::argument;
    use crate::recorder::payload::{Count, Small};
    use crate::text::{PORT, PROCESS, Recorded, Text};

    static PROBE: Descriptor = Descriptor::new(
        "dyntrace",
        "written",
        &[
            argument("a", Kind::Text),
            argument("b", Kind::U64),
            argument("c", Kind::I32),
            argument("d", Kind::Text),
            argument("e", Kind::I64),
            argument("f", Kind::U32),
            argument("g", Kind::Text),
            argument("h", Kind::Count),
            argument("i", Kind::Small),
            argument("j", Kind::Port),
            argument("k", Kind::Process),
        ],
        ptr::null,
    );

    #[test]
    fn it_is_what_the_arguments_one_by_one_would_be() {
        let texts: [&[u8]; 3] =
            [b"", b"a text that is longer than a few words, and than what is copied by words alone", b"x"];
        let forms = [
            (Form::Tight, -1 << 23, i8::MAX.into(), 7),
            (Form::Narrow, i64::from(i32::MIN), i16::MIN.into(), u32::MAX.into()),
            (Form::Wide, i64::MIN, i32::MIN, 7),
            (Form::Wide, 0, 0, u64::from(u32::MAX) + 1),
        ];
        for (turn, (form, large, small, port)) in forms.into_iter().enumerate() {
            let [one, two, three] = [0, 1, 2].map(|text| Recorded::Bytes(texts[(text + turn) % texts.len()]));
            let mut buffers = [Buffer::new(), Buffer::new()];
            let [first, second] = &mut buffers;
            let port = first.port(Text::numbered(&PORT, port));
            let process = second.process(Text::numbered(&PROCESS, 12));
            let single = (
                one,
                7_u64,
                small,
                two,
                large,
                u32::from(u8::MAX),
                three,
                Count(i32::MIN),
                Small(small as i8 as i32),
                port,
                process,
            );
            let mut space = Encoded::space();
            let mut encoded = Encoded::new(&mut space, &PROBE, None);
            encoded.fill(&single);
            let encoded = &encoded;
            assert_eq!((encoded.form, single.form()), (form, form));
            assert_eq!(put(&encoded), put(&single));
            let shown = single.show(|fields| encoded.show(|same| (texts_of(fields), texts_of(same), same.len())));
            assert_eq!((&shown.0, shown.2), (&shown.1, 11));
        }
    }

    #[test]
    fn a_name_that_is_none_is_text() {
        let mut buffer = Buffer::new();
        let other = (buffer.port(Text::from("not a port")),);
        assert_eq!((other.form(), put(&other)), (Form::Wide, b"not a port\0".to_vec()));
    }

    /// The fields with each text as such.
    fn texts_of(fields: &[Field<'_>]) -> Vec<String> {
        let shown = |field: &Field<'_>| match field {
            Field::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Field::Name(name) => String::from_utf8_lossy(name.write(&mut [0; 16])).into_owned(),
            Field::Numbered(name) => format!("{name:?}"),
            number => format!("{number:?}"),
        };
        fields.iter().map(shown).collect()
    }

    fn put(payload: &impl Payload) -> Vec<u8> {
        let form = payload.form();
        let mut bytes = vec![0; payload.size(form)];
        // SAFETY: `bytes` has the payload's size.
        unsafe { payload.put(bytes.as_mut_ptr(), form) };
        bytes
    }
}
