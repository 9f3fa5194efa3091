//! String arguments of probes, as call sites give them.

use std::ffi::{CStr, CString};
use std::fmt;
use std::panic::Location;
use std::path::{Path, PathBuf};

use super::numbered::Shape;

/// A string argument of a probe, before it is encoded.
///
/// Creating one is free: the probe encodes it when it fires, into a buffer on the stack. Tracers see valid UTF-8 (invalid bytes become
/// U+FFFD), which ends at the first NUL and is cut at the last character boundary within [`Buffer::LIMIT`](crate::sdt::Buffer::LIMIT)
/// bytes. A [`CStr`] is passed unchanged, whatever its length. [`Text::NULL`], or `None`, is a null pointer.
///
/// ```
/// use dyntrace_probes::sdt::Text;
///
/// let _ = [Text::from("literal"), Text::from(&String::from("owned")), Text::from(c"unchanged"), Text::from(None::<&str>)];
/// let _ = Text::from(std::path::Path::new("/tmp"));
/// ```
#[derive(Clone, Copy)]
pub struct Text<'a>(pub(super) TextKind<'a>);

#[derive(Clone, Copy)]
pub(super) enum TextKind<'a> {
    Null,
    Utf8(&'a str),
    /// Without NUL.
    Plain(&'static str),
    Bytes(&'a [u8]),
    Terminated(&'a CStr),
    Numbered {
        shape: &'static Shape,
        number: u64,
    },
    SourcePlace(&'a Location<'a>),
}

impl Text<'_> {
    /// An absent string: a null pointer.
    pub const NULL: Self = Text(TextKind::Null);
}

impl Text<'static> {
    /// A text that the program's source gives, or the compiler, without NUL. Rings need not search it for one: such a byte would end the text
    /// for their readers, and damage the event's other arguments.
    #[inline(always)]
    pub const fn plain(text: &'static str) -> Self {
        Text(TextKind::Plain(text))
    }

    /// A name that contains a number, formatted only when the probe fires.
    #[inline]
    pub const fn numbered(shape: &'static Shape, number: u64) -> Self {
        Text(TextKind::Numbered { shape, number })
    }
}

macro_rules! from {
    ($($borrowed:ty => |$text:ident| $made:expr;)+) => { $(
        impl<'a> From<&'a $borrowed> for Text<'a> {
            #[inline]
            fn from($text: &'a $borrowed) -> Self {
                $made
            }
        }
    )+ };
}

from! {
    str => |text| Text(TextKind::Utf8(text));
    String => |text| Text::from(text.as_str());
    [u8] => |bytes| Text(TextKind::Bytes(bytes));
    CStr => |text| Text(TextKind::Terminated(text));
    CString => |text| Text::from(text.as_c_str());
    Path => |path| Text::from(path.as_os_str().as_encoded_bytes());
    PathBuf => |path| Text::from(path.as_path());
}

impl<'a, T: Into<Text<'a>>> From<Option<T>> for Text<'a> {
    #[inline]
    fn from(text: Option<T>) -> Self {
        text.map_or(Text(TextKind::Null), Into::into)
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TextKind::Null => f.write_str("NULL"),
            TextKind::Utf8(text) | TextKind::Plain(text) => fmt::Debug::fmt(text, f),
            TextKind::Bytes(bytes) => fmt::Debug::fmt(&String::from_utf8_lossy(bytes), f),
            TextKind::Terminated(text) => fmt::Debug::fmt(text, f),
            TextKind::Numbered { shape, number } => {
                let [prefix, suffix] = [shape.prefix, shape.suffix]
                    .map(|part| String::from_utf8_lossy(&part.bytes[..part.length]).into_owned());
                write!(f, "{prefix}{number}{suffix}")
            }
            TextKind::SourcePlace(place) => write!(f, "\"{}:{}\"", place.file().escape_debug(), place.line()),
        }
    }
}
