//! Who called a traced function, found by unwinding this thread's own stack.
//!
//! By the unwinder that the standard library links anyhow, asked for no more than addresses: so users of the library compile and
//! link nothing for it.

use super::caller::Address;

/// How many frames are looked at. There are fewer than ten of our own in between.
const MOST: usize = 64;

/// Where in the stack a traced function's frame is.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    /// An address in that frame, or in that of a function that it calls and that has not returned.
    address: usize,
    is_own: bool,
}

impl Mark {
    /// By a place in the frame of the function that the traced one has called. It must be there when the caller is looked for.
    pub(super) fn in_callee(place: &u8) -> Mark {
        Mark { address: std::ptr::from_ref(place).addr(), is_own: false }
    }

    /// By a place in the traced function's own frame.
    pub(super) fn in_own<T>(place: &T) -> Mark {
        Mark { address: std::ptr::from_ref(place).addr(), is_own: true }
    }
}

struct Walk {
    mark: Mark,
    left: usize,
    /// Where the frame continues that was seen last.
    last: usize,
    inside: Option<usize>,
    found: Option<Address>,
}

impl Walk {
    /// Looks at the next frame, which has its part of the stack from `stack` on; whether it wants more.
    fn look(&mut self, instruction: usize, stack: usize) -> bool {
        self.left -= 1;
        if stack <= self.mark.address {
            self.last = instruction;
        } else if let Some(inside) = self.inside.or(self.mark.is_own.then_some(self.last)) {
            self.found = Some(Address { inside, returns_to: instruction });
        } else {
            self.inside = Some(instruction);
        }
        self.found.is_none() && self.left > 0
    }
}

/// Where the function returns to that has the marked frame. `None` where the stack cannot be unwound so far.
pub(super) fn caller(mark: Mark) -> Option<Address> {
    let mut walk = Walk { mark, left: MOST, last: 0, inside: None, found: None };
    unwind(&mut |instruction, stack| walk.look(instruction, stack));
    walk.found
}

/// Shows `look` each frame of this thread, from here on, until it wants no more: where the frame continues, and where on the stack it
/// begins.
#[cfg(not(any(miri, target_arch = "arm")))]
fn unwind(mut look: &mut dyn FnMut(usize, usize) -> bool) {
    use std::ffi::{c_int, c_void};

    #[repr(C)]
    struct Context {
        _opaque: [u8; 0],
    }
    type Step = extern "C" fn(*mut Context, *mut c_void) -> c_int;
    unsafe extern "C" {
        fn _Unwind_Backtrace(step: Step, look: *mut c_void) -> c_int;
        fn _Unwind_GetIP(context: *mut Context) -> usize;
        fn _Unwind_GetCFA(context: *mut Context) -> usize;
    }
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;

    extern "C" fn step(context: *mut Context, look: *mut c_void) -> c_int {
        // SAFETY: it is what was given to `_Unwind_Backtrace` below, which lives until that returns, and nobody else has it.
        let look = unsafe { &mut *look.cast::<&mut dyn FnMut(usize, usize) -> bool>() };
        // SAFETY: the unwinder calls this with its context.
        let (instruction, stack) = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
        if look(instruction, stack) { GO_ON } else { STOP }
    }

    // SAFETY: `step` takes the pointer for what it is, and no panic leaves it: it would end the process.
    unsafe { _Unwind_Backtrace(step, (&raw mut look).cast()) };
}

/// There is no unwinder that could be asked so.
#[cfg(any(miri, target_arch = "arm"))]
fn unwind(_: &mut dyn FnMut(usize, usize) -> bool) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(mark: Mark, frames: &[(usize, usize)]) -> (Option<Address>, usize) {
        let mut walk = Walk { mark, left: MOST, last: 0, inside: None, found: None };
        let seen = frames.iter().take_while(|(instruction, stack)| walk.look(*instruction, *stack)).count();
        (walk.found, seen)
    }

    const FRAMES: [(usize, usize); 5] = [(1, 100), (2, 200), (3, 300), (4, 400), (5, 500)];
    const FOUND: Option<Address> = Some(Address { inside: 3, returns_to: 4 });

    #[test]
    fn marks_of_either_kind_lead_to_the_same_frame() {
        for (address, is_own) in [(200, false), (299, false), (300, true), (399, true)] {
            assert_eq!(walk(Mark { address, is_own }, &FRAMES), (FOUND, 3), "{address}");
        }
    }

    #[test]
    fn not_found() {
        let mark = Mark { address: 499, is_own: false };
        assert_eq!(walk(mark, &FRAMES), (None, 5), "the stack ends before");
        let far: Vec<_> = (0..1000).map(|number| (number, number)).collect();
        assert_eq!(walk(Mark { address: 500, is_own: true }, &far), (None, MOST - 1));
    }
}
