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
        Encoded { space, length: 0, arguments: probe.arguments, time }
    }

    /// Adds an argument.
    ///
    /// # Panics
    ///
    /// If there is no space for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: impl Value) {
        let place = &mut self.space[self.length..][..value.size()];
        self.length += place.len();
        // SAFETY: `place` has `value.size()` bytes, and is borrowed mutably.
        unsafe { value.put(place.as_mut_ptr().cast()) };
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: `push` has encoded `length` bytes.
        unsafe { self.space[..self.length].assume_init_ref() }
    }

    /// The arguments as filters see them.
    fn fields(&self) -> [Field<'_>; MOST] {
        let (mut fields, mut rest) = ([Field::U32(0); MOST], self.bytes());
        for (field, argument) in fields.iter_mut().zip(self.arguments) {
            *field = match argument.kind {
                Kind::I32 => Field::I32(i32::from_ne_bytes(first(&mut rest))),
                Kind::U32 => Field::U32(u32::from_ne_bytes(first(&mut rest))),
                Kind::I64 => Field::I64(i64::from_ne_bytes(first(&mut rest))),
                Kind::U64 => Field::U64(u64::from_ne_bytes(first(&mut rest))),
                Kind::Text => {
                    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
                    let (text, behind) = rest.split_at(end);
                    rest = behind.get(1..).unwrap_or_default();
                    Field::Text(text)
                }
            };
        }
        fields
    }
}

/// Removes a number from the beginning; 0 if the bytes are too few.
fn first<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    bytes.split_off(..N).and_then(|number| number.try_into().ok()).unwrap_or([0; N])
}

impl Payload for &Encoded<'_> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.length
    }

    #[inline(always)]
    unsafe fn put(&self, at: *mut u8) {
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
            let single = (one, 7_u64, -3_i32, two, i64::MIN, u32::MAX, three);
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
        let mut bytes = vec![0; payload.size()];
        // SAFETY: `bytes` has `payload.size()` bytes.
        unsafe { payload.put(bytes.as_mut_ptr()) };
        bytes
    }
}
