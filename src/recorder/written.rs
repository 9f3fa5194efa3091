//! Arguments of a firing that are written out before there is a place for them.
//!
//! A probe function takes any texts: at each firing it finds out what they are, how long, and then how to write them. Who fires at few
//! places, and often, knows what they are, and spares most of that.

use std::mem::MaybeUninit;

use super::descriptor::{Argument, Descriptor, Kind};
use super::field::Field;
use super::payload::{Payload, Value};
use crate::short;
use crate::text::Buffer;

/// Where they are written: for five texts, and some numbers.
pub(crate) type Room = [MaybeUninit<u8>; 5 * (Buffer::LIMIT + 1) + 4 * size_of::<u64>()];

/// How many arguments a probe has at most.
const MOST: usize = 12;

/// The arguments of one firing, as a ring has them.
pub(crate) struct Written<'w> {
    room: &'w mut Room,
    length: usize,
    arguments: &'static [Argument],
    time: Option<u64>,
}

impl<'w> Written<'w> {
    /// An empty place.
    #[inline(always)]
    pub(crate) const fn room() -> Room {
        [MaybeUninit::uninit(); _]
    }

    /// None yet, of what happened at this time of the clock, if that was read then.
    #[inline(always)]
    pub(crate) fn new(room: &'w mut Room, probe: &Descriptor, time: Option<u64>) -> Written<'w> {
        Written { room, length: 0, arguments: probe.arguments, time }
    }

    /// One argument more.
    ///
    /// # Panics
    ///
    /// Where there is no room for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, value: impl Value) {
        let place = &mut self.room[self.length..][..value.size()];
        self.length += place.len();
        // SAFETY: there are so many bytes, which nobody else has.
        unsafe { value.put(place.as_mut_ptr().cast()) };
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: `push` has written so many.
        unsafe { self.room[..self.length].assume_init_ref() }
    }

    /// Each as filters see it.
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

/// Takes a number off the beginning; 0 if there is none.
fn first<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    bytes.split_off(..N).and_then(|number| number.try_into().ok()).unwrap_or([0; N])
}

impl Payload for &Written<'_> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.length
    }

    #[inline(always)]
    unsafe fn put(&self, at: *mut u8) {
        // SAFETY: the caller gives so many bytes, in a ring.
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
            let mut room = Written::room();
            let mut written = Written::new(&mut room, &PROBE, None);
            written.push(single.0);
            written.push(single.1);
            written.push(single.2);
            written.push(single.3);
            written.push(single.4);
            written.push(single.5);
            written.push(single.6);
            let written = &written;
            assert_eq!(put(&written), put(&single));
            let shown = single.show(|fields| written.show(|same| (fields.to_vec() == same.to_vec(), same.len())));
            assert_eq!(shown, (true, 7));
        }
    }

    fn put(payload: &impl Payload) -> Vec<u8> {
        let mut bytes = vec![0; payload.size()];
        // SAFETY: there are so many bytes.
        unsafe { payload.put(bytes.as_mut_ptr()) };
        bytes
    }
}
