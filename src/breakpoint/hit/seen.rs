//! A call as patterns and events see it.

use std::cell::OnceCell;
use std::fmt::{self, Write};

use crate::breakpoint::pattern::evaluate::Call;
use crate::breakpoint::value::Value;
use crate::breakpoint::value::text::Text;
use crate::process::{self, Pid};
use crate::tag::Tag;

/// A call, as far as patterns look at it.
pub(crate) struct Seen<'a> {
    arguments: &'a [Value<'a>],
    /// Once they have been asked for.
    process: OnceCell<Pid>,
    tag: OnceCell<Option<Tag>>,
}

impl<'a> Seen<'a> {
    #[inline]
    pub(crate) fn new(arguments: &'a [Value<'a>]) -> Seen<'a> {
        Seen { arguments, process: OnceCell::new(), tag: OnceCell::new() }
    }

    #[inline]
    pub(crate) fn process(&self) -> Pid {
        *self.process.get_or_init(process::current)
    }

    #[inline]
    pub(crate) fn render(&self, text: &mut Text) -> fmt::Result {
        for (number, argument) in self.arguments.iter().enumerate() {
            if number != 0 {
                text.write_str(", ")?;
            }
            argument.render(text)?;
        }
        Ok(())
    }
}

impl Call for Seen<'_> {
    fn arguments(&self) -> &[Value<'_>] {
        self.arguments
    }

    fn pid(&self) -> u64 {
        self.process().number()
    }

    fn user_tag(&self) -> Option<&str> {
        self.tag.get_or_init(crate::get_tag).as_deref()
    }

    fn thread(&self) -> u64 {
        process::thread_number().unsigned_abs().into()
    }
}

/// Renders something, within bounds.
pub(crate) type Render<'r> = dyn Fn(&mut Text) -> fmt::Result + 'r;

/// What was rendered in its place, or is now: in place, since to move it is most of what a short one costs.
#[inline]
pub(crate) fn rendered(place: &mut Option<Text>, render: impl FnOnce(&mut Text) -> fmt::Result) -> &Text {
    if place.is_none() {
        // An error is a text that is cut, or one whose value has panicked while it was printed: half a text is one.
        let _ = render(place.insert(Text::new()));
    }
    place.as_ref().expect("it is there by now")
}

/// Nothing is to be said.
pub(crate) fn nothing(_: &mut Text) -> fmt::Result {
    Ok(())
}
