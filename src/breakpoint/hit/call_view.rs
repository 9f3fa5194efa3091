//! A call as patterns and events see it.

use std::cell::OnceCell;
use std::fmt::{self, Write};

use crate::breakpoint::pattern::evaluate::Call;
use crate::breakpoint::value::Value;
use crate::breakpoint::value::text::Text;
use dyntrace_processes::process::{self, Pid};
use dyntrace_processes::tag::{self, Tag};

/// The parts of a call that patterns see.
pub(crate) struct CallView<'a> {
    arguments: &'a [Value<'a>],
    /// Both are filled on first use.
    process: OnceCell<Pid>,
    tag: OnceCell<Option<Tag>>,
}

impl<'a> CallView<'a> {
    #[inline]
    pub(crate) fn new(arguments: &'a [Value<'a>]) -> CallView<'a> {
        CallView { arguments, process: OnceCell::new(), tag: OnceCell::new() }
    }

    #[inline]
    pub(crate) fn process(&self) -> Pid {
        *self.process.get_or_init(process::current)
    }
}

impl Call for CallView<'_> {
    fn arguments(&self) -> &[Value<'_>] {
        self.arguments
    }

    fn pid(&self) -> u64 {
        self.process().number()
    }

    fn user_tag(&self) -> Option<&str> {
        self.tag.get_or_init(tag::get_tag).as_deref()
    }

    fn thread(&self) -> u64 {
        process::thread_number().unsigned_abs().into()
    }
}

/// Writes the arguments as events show them.
#[inline(always)]
pub(crate) fn render(arguments: &[Value<'_>], text: &mut Text) -> fmt::Result {
    for (number, argument) in arguments.iter().enumerate() {
        if number != 0 {
            text.write_str(", ")?;
        }
        argument.render(text)?;
    }
    Ok(())
}

/// Renders into `place` once, and returns the text. In place: moving a short text would be most of its cost.
#[inline(always)]
pub(crate) fn rendered(place: &mut Option<Text>, render: impl FnOnce(&mut Text) -> fmt::Result) -> &Text {
    if place.is_none() {
        // An error means that the text is cut, or that its `Debug` has panicked. Half a text is fine.
        let _ = render(place.insert(Text::new()));
    }
    place.as_ref().expect("it is there by now")
}
