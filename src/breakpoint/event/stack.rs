//! Stacks of calls, as addresses.

use std::fmt;

use super::object::CodeAddress;

/// The stack of a call: addresses in this process, the innermost first. Taking it allocates no memory.
///
/// The first address is in the traced function. Each further one is a return address: the instruction behind a call. Inlined functions
/// have no addresses of their own. `dyntrace trace` looks up the functions and lines. [`Display`](fmt::Display) prints a line
/// `FILE+0xADDRESS` for each address; `addr2line -ie FILE ADDRESS` takes them.
///
/// ```
/// use std::sync::mpsc;
///
/// use dyntrace::trace::{Limits, Session};
///
/// #[dyntrace::traced]
/// fn parcel(grams: u32) {}
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (send, events) = mpsc::channel();
/// let session = Session::start(Limits::default(), move |event| drop(send.send(event.clone())))?;
/// session.set("**::parcel do current_stacktrace(3)").await?;
/// parcel(7);
/// session.close().await;
/// let stack = events.recv()?.stack.expect("the pattern asks for it");
/// // The function, and at most three callers.
/// assert!(stack.addresses().len() <= 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stack {
    addresses: [usize; Stack::DEEPEST + 1],
    length: u8,
}

impl Stack {
    /// The most callers that it holds.
    pub const DEEPEST: usize = 32;

    pub(crate) const EMPTY: Stack = Stack { addresses: [0; Stack::DEEPEST + 1], length: 0 };

    /// Returns its addresses, the innermost first. There are none if the stack cannot be unwound: on 32-bit ARM, and below code without
    /// unwind information.
    pub fn addresses(&self) -> &[usize] {
        &self.addresses[..self.length.into()]
    }

    /// Adds an address if there is room.
    pub(crate) fn push(&mut self, address: usize) {
        if let Some(place) = self.addresses.get_mut(usize::from(self.length)) {
            *place = address;
            self.length += 1;
        }
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addresses().fmt(f)
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, address) in self.addresses().iter().enumerate() {
            let end_of_line = if number == 0 { "" } else { "\n" };
            write!(f, "{end_of_line}{}", CodeAddress::of(*address))?;
        }
        Ok(())
    }
}
