//! The arguments of one firing, as rings take them.

use super::field::Field;
use super::form::Form;
use crate::short;
use crate::text::{Named, Recorded};

/// One argument, as generated code passes it.
pub trait Value: Copy {
    /// The part of its value that the form lacks; 0 if the form has it. The wide form has every value.
    #[inline(always)]
    fn excess(self, _form: Form) -> u64 {
        0
    }

    /// Its size in a ring, in bytes.
    fn size(self, form: Form) -> usize;

    /// Writes the value. Returns the address after it.
    ///
    /// # Safety
    ///
    /// `at` points to `size(form)` bytes that no one else uses. The form has the value.
    unsafe fn put(self, at: *mut u8, form: Form) -> *mut u8;

    /// The value as filters see it.
    fn field(&self) -> Field<'_>;
}

macro_rules! integers {
    ($($value:ty: $integer:ident, $of:expr, $in_form:expr, $half:expr, $kind:ident);* $(;)?) => {
        $(impl Value for $value {
            #[inline(always)]
            fn excess(self, form: Form) -> u64 {
                let (bytes, number): (usize, $integer) = ($in_form(form), $of(self));
                if bytes == size_of::<$integer>() {
                    return 0;
                }
                // With half of the values added, the negative ones of a signed integer are the lower half.
                let half = if $half { 1 << (8 * bytes - 1) } else { 0 };
                ((number as u64).wrapping_add(half) & (u64::MAX >> (64 - $integer::BITS))) >> (8 * bytes)
            }

            #[inline(always)]
            fn size(self, form: Form) -> usize {
                $in_form(form)
            }

            #[inline(always)]
            unsafe fn put(self, at: *mut u8, form: Form) -> *mut u8 {
                let (bytes, number): (usize, $integer) = ($in_form(form), $of(self));
                // SAFETY: the caller gives `size(form)` bytes.
                unsafe { put_integer(number as u64, bytes, at) }
            }

            fn field(&self) -> Field<'_> {
                Field::$kind($of(*self))
            }
        })*
    };
}

integers! {
    i32: i32, |number| number, |form: Form| form.bytes(4), true, I32;
    u32: u32, |number| number, |form: Form| form.bytes(4), false, U32;
    i64: i64, |number| number, |form: Form| form.bytes(8), true, I64;
    u64: u64, |number| number, |form: Form| form.bytes(8), false, U64;
    Count: i32, |Count(number)| number, |_| 4, true, I32;
    Small: i32, |Small(number)| number, |form: Form| form.of_small().bytes(4), true, I32;
}

/// Writes the low 1, 2, 3, 4 or 8 bytes of a number. Returns the address after them.
///
/// # Safety
///
/// `at` points to as many bytes that no one else uses.
#[inline(always)]
unsafe fn put_integer(number: u64, bytes: usize, at: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        match bytes {
            1 => at.write(number as u8),
            2 => at.cast::<u16>().write_unaligned(number as u16),
            3 if cfg!(target_endian = "little") => {
                at.cast::<u16>().write_unaligned(number as u16);
                at.add(2).write((number >> 16) as u8);
            }
            3 => {
                at.write((number >> 16) as u8);
                at.add(1).cast::<u16>().write_unaligned(number as u16);
            }
            4 => at.cast::<u32>().write_unaligned(number as u32),
            _ => at.cast::<u64>().write_unaligned(number),
        }
        at.add(bytes)
    }
}

/// A number of [`RecordedKind::Count`](super::RecordedKind::Count).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Count(pub i32);

/// A number of [`RecordedKind::Small`](super::RecordedKind::Small).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Small(pub i32);

/// A string without NUL, of at most [`Buffer::LIMIT`](crate::sdt::Buffer::LIMIT) bytes; a NUL is added.
impl Value for &[u8] {
    #[inline(always)]
    fn size(self, _form: Form) -> usize {
        self.len() + 1
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8, _form: Form) -> *mut u8 {
        // SAFETY: the caller gives `size` bytes, one more than the string has. They are in a ring, so they do not overlap the string.
        unsafe {
            short::copy(self, at);
            at.add(self.len()).write(0);
            at.add(self.len() + 1)
        }
    }

    fn field(&self) -> Field<'_> {
        Field::Text(self)
    }
}

impl Value for Recorded<'_> {
    #[inline(always)]
    fn size(self, form: Form) -> usize {
        match self {
            Recorded::Name(name) => name.size(),
            Recorded::Bytes(bytes) => bytes.size(form),
        }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8, form: Form) -> *mut u8 {
        // SAFETY: the caller gives `size` bytes, and a name has no fewer than 8.
        unsafe {
            match self {
                Recorded::Name(name) => {
                    let ([head, tail], size) = (name.ends(), name.size());
                    at.cast::<[u8; 8]>().write(head);
                    at.add(size - 8).cast::<[u8; 8]>().write(tail);
                    at.add(size)
                }
                Recorded::Bytes(bytes) => bytes.put(at, form),
            }
        }
    }

    fn field(&self) -> Field<'_> {
        match self {
            Recorded::Name(name) => Field::Name(*name),
            Recorded::Bytes(bytes) => bytes.field(),
        }
    }
}

/// The number of a name, or its text if it has none or the form has no numbers of names.
impl Value for Named<'_> {
    #[inline(always)]
    fn excess(self, form: Form) -> u64 {
        match (self, form) {
            (_, Form::Wide) => 0,
            (Named::Number(name), _) => name.number() >> 32,
            (Named::Text(_), _) => 1,
        }
    }

    #[inline(always)]
    fn size(self, form: Form) -> usize {
        match (self, form) {
            (_, Form::Narrow | Form::Tight) => 4,
            (Named::Text(text), Form::Wide) => text.size(form),
            (Named::Number(name), Form::Wide) => name.with(|text| text.size(form)),
        }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8, form: Form) -> *mut u8 {
        // SAFETY: the caller gives `size` bytes.
        unsafe {
            match (self, form) {
                (Named::Number(name), Form::Narrow | Form::Tight) => put_integer(name.number(), 4, at),
                (Named::Number(name), Form::Wide) => name.with(|text| text.put(at, form)),
                (Named::Text(text), _) => text.put(at, form),
            }
        }
    }

    fn field(&self) -> Field<'_> {
        match self {
            Named::Number(name) => Field::Numbered(*name),
            Named::Text(text) => text.field(),
        }
    }
}

/// All arguments of one firing: a tuple of [`Value`]s.
pub trait Payload: Copy {
    /// The tightest form that has their values.
    fn form(&self) -> Form;

    /// Their size in a ring, in bytes. `form`: [`form`](Self::form).
    fn size(&self, form: Form) -> usize;

    /// Writes the arguments. `form`: [`form`](Self::form).
    ///
    /// # Safety
    ///
    /// `at` points to `size(form)` bytes that no one else uses.
    unsafe fn put(&self, at: *mut u8, form: Form);

    /// The clock's time of the firing, if the caller has read it.
    #[inline(always)]
    fn time(&self) -> Option<u64> {
        None
    }

    /// Calls `look` with the arguments as filters see them.
    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R;
}

/// Arguments, and the clock's time of their firing if the caller has read it.
#[cfg(recorded)]
#[derive(Clone, Copy)]
pub struct Timed<P> {
    pub arguments: P,
    pub time: Option<u64>,
}

#[cfg(recorded)]
impl<P: Payload> Payload for Timed<P> {
    #[inline(always)]
    fn form(&self) -> Form {
        self.arguments.form()
    }

    #[inline(always)]
    fn size(&self, form: Form) -> usize {
        self.arguments.size(form)
    }

    #[inline(always)]
    unsafe fn put(&self, at: *mut u8, form: Form) {
        // SAFETY: as the caller promises.
        unsafe { self.arguments.put(at, form) }
    }

    #[inline(always)]
    fn time(&self) -> Option<u64> {
        self.time
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        self.arguments.show(look)
    }
}

macro_rules! payloads {
    ($($value:ident $number:tt)*) => {
        payloads!(@ [] $($value $number)*);
    };
    (@ [$($value:ident $number:tt)*] $next:ident $next_number:tt $($rest:tt)*) => {
        payloads!(= $($value $number)*);
        payloads!(@ [$($value $number)* $next $next_number] $($rest)*);
    };
    (@ [$($value:ident $number:tt)*]) => {
        payloads!(= $($value $number)*);
    };
    (= $($value:ident $number:tt)*) => {
        #[allow(unused_unsafe)]
        impl<$($value: Value),*> Payload for ($($value,)*) {
            #[inline(always)]
            fn form(&self) -> Form {
                // Without a branch for each.
                let excess = |_form| 0 $(| self.$number.excess(_form))*;
                if excess(Form::Tight) == 0 {
                    Form::Tight
                } else if excess(Form::Narrow) == 0 {
                    Form::Narrow
                } else {
                    Form::Wide
                }
            }

            #[inline(always)]
            fn size(&self, _form: Form) -> usize {
                0 $(+ self.$number.size(_form))*
            }

            #[inline(always)]
            unsafe fn put(&self, at: *mut u8, _form: Form) {
                // SAFETY: the caller gives `size(form)` bytes, the sum of the sizes of the values, which follow one another.
                unsafe {
                    $(let at = self.$number.put(at, _form);)*
                    let _ = at;
                }
            }

            fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
                look(&[$(self.$number.field()),*])
            }
        }
    };
}

payloads!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);

#[cfg(all(test, recorded))]
mod tests {
    use super::*;
    use crate::text::{Buffer, PORT, PROCESS, Text};

    #[test]
    fn arguments_with_a_time_are_the_same_arguments() {
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
            let arguments = (
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
            let timed = Timed { arguments, time: Some(5) };
            assert_eq!((timed.form(), arguments.form(), timed.time(), arguments.time()), (form, form, Some(5), None));
            assert_eq!(put(&timed), put(&arguments));
            let shown = |fields: &[Field<'_>]| fields.iter().map(|field| format!("{field:?}")).collect::<Vec<_>>();
            assert_eq!((timed.show(shown).len(), timed.show(shown)), (11, arguments.show(shown)));
        }
    }

    #[test]
    fn a_name_that_is_none_is_text() {
        let mut buffer = Buffer::new();
        let other = (buffer.port(Text::from("not a port")),);
        assert_eq!((other.form(), put(&other)), (Form::Wide, b"not a port\0".to_vec()));
    }

    fn put(payload: &impl Payload) -> Vec<u8> {
        let form = payload.form();
        let mut bytes = vec![0; payload.size(form)];
        // SAFETY: `bytes` has the payload's size.
        unsafe { payload.put(bytes.as_mut_ptr(), form) };
        bytes
    }
}
