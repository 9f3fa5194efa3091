//! Arguments of a firing that are encoded before the ring reserves space for them.
//!
//! A generated probe function accepts any texts: at each firing it finds out their kinds and lengths, then how to write them. Call sites
//! that fire often know the kinds, and save most of that.

use std::mem::MaybeUninit;

use super::descriptor::{Argument, Descriptor, Kind};
use super::field::Field;
use super::payload::{Payload, Value};
use crate::short;
use crate::text::Buffer;

/// Space for five texts and four numbers.
pub(crate) type Space = [MaybeUninit<u8>; 5 * (Buffer::LIMIT + 1) + 4 * size_of::<u64>()];

/// The most arguments of a probe.
const MOST: usize = 12;

/// The arguments of one firing, encoded as in a ring.
pub(crate) struct Encoded<'w> {
    space: &'w mut Space,
    length: usize,
    /// Whether every argument until now fits the narrow form, which `space` has then.
    narrow: bool,
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
        Encoded { space, length: 0, narrow: true, arguments: probe.arguments, time }
    }

    /// Adds an argument.
    ///
    /// # Panics
    ///
    /// If there is no space for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: impl Value) {
        if self.narrow && !value.fits() {
            self.widen();
        }
        let place = &mut self.space[self.length..][..value.size(self.narrow)];
        self.length += place.len();
        // SAFETY: `place` has the value's size, and is borrowed mutably.
        unsafe { value.put(place.as_mut_ptr().cast(), self.narrow) };
    }

    /// Encodes the arguments until now in the wide form.
    #[cold]
    #[inline(never)]
    fn widen(&mut self) {
        let mut space = Self::space();
        let mut wide = Encoded { space: &mut space, length: 0, narrow: false, arguments: self.arguments, time: None };
        let mut rest = self.bytes();
        for argument in self.arguments {
            if rest.is_empty() {
                break;
            }
            match field(argument.kind, &mut rest, true) {
                Field::I32(number) => wide.push(number),
                Field::U32(number) => wide.push(number),
                Field::I64(number) => wide.push(number),
                Field::U64(number) => wide.push(number),
                Field::Text(text) => wide.push(text),
                Field::Name(_) => {}
            }
        }
        let length = wide.length;
        *self.space = space;
        (self.length, self.narrow) = (length, false);
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: `push` has encoded `length` bytes.
        unsafe { self.space[..self.length].assume_init_ref() }
    }

    /// The arguments as filters see them.
    fn fields(&self) -> [Field<'_>; MOST] {
        let (mut fields, mut rest) = ([Field::U32(0); MOST], self.bytes());
        for (decoded, argument) in fields.iter_mut().zip(self.arguments) {
            *decoded = field(argument.kind, &mut rest, self.narrow);
        }
        fields
    }
}

/// Removes an argument from the beginning.
fn field<'a>(kind: Kind, rest: &mut &'a [u8], narrow: bool) -> Field<'a> {
    match (kind, narrow) {
        (Kind::I32, true) => Field::I32(i16::from_ne_bytes(first(rest)).into()),
        (Kind::Small, true) => Field::I32(i8::from_ne_bytes(first(rest)).into()),
        (Kind::I32 | Kind::Count | Kind::Small, _) => Field::I32(i32::from_ne_bytes(first(rest))),
        (Kind::U32, true) => Field::U32(u16::from_ne_bytes(first(rest)).into()),
        (Kind::U32, false) => Field::U32(u32::from_ne_bytes(first(rest))),
        (Kind::I64, true) => Field::I64(i32::from_ne_bytes(first(rest)).into()),
        (Kind::I64, false) => Field::I64(i64::from_ne_bytes(first(rest))),
        (Kind::U64, true) => Field::U64(u32::from_ne_bytes(first(rest)).into()),
        (Kind::U64, false) => Field::U64(u64::from_ne_bytes(first(rest))),
        (Kind::Text, _) => {
            let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
            let (text, behind) = rest.split_at(end);
            *rest = behind.get(1..).unwrap_or_default();
            Field::Text(text)
        }
    }
}

/// Removes a number from the beginning; 0 if the bytes are too few.
fn first<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    bytes.split_off(..N).and_then(|number| number.try_into().ok()).unwrap_or([0; N])
}

impl Payload for &Encoded<'_> {
    #[inline(always)]
    fn fits(&self) -> bool {
        self.narrow
    }

    #[inline(always)]
    fn size(&self, _narrow: bool) -> usize {
        self.length
    }

    #[inline(always)]
    unsafe fn put(&self, at: *mut u8, _narrow: bool) {
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
    use crate::text::Recorded;

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
        ],
        ptr::null,
    );

    #[test]
    fn it_is_what_the_arguments_one_by_one_would_be() {
        let texts: [&[u8]; 3] =
            [b"", b"a text that is longer than a few words, and than what is copied by words alone", b"x"];
        for turn in 0..texts.len() {
            let [one, two, three] = [0, 1, 2].map(|text| Recorded::Bytes(texts[(text + turn) % texts.len()]));
            let wide = [i64::MIN, i64::from(i32::MIN) - 1][turn % 2];
            let single = (one, 7_u64, -3_i32, two, if turn == 0 { 5 } else { wide }, u32::from(u16::MAX), three);
            let mut space = Encoded::space();
            let mut encoded = Encoded::new(&mut space, &PROBE, None);
            encoded.push(single.0);
            encoded.push(single.1);
            encoded.push(single.2);
            encoded.push(single.3);
            encoded.push(single.4);
            encoded.push(single.5);
            encoded.push(single.6);
            let encoded = &encoded;
            assert_eq!(put(&encoded), put(&single));
            let shown = single.show(|fields| encoded.show(|same| (fields.to_vec() == same.to_vec(), same.len())));
            assert_eq!(shown, (true, 7));
        }
    }

    fn put(payload: &impl Payload) -> Vec<u8> {
        let narrow = payload.fits();
        let mut bytes = vec![0; payload.size(narrow)];
        // SAFETY: `bytes` has the payload's size.
        unsafe { payload.put(bytes.as_mut_ptr(), narrow) };
        bytes
    }
}
