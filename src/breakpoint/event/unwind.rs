//! Finds the callers of a traced function on this thread's own stack.
//!
//! It takes addresses only, from the unwinder that the standard library links anyway. So users compile and link nothing more.

use super::stack::Stack;

/// The most frames searched for the traced function. Fewer than ten of our own lie in between.
const MOST: usize = 64;

/// The place of a traced function on the stack and in the code: `__traced_mark!` takes it inside the function.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Mark {
    /// The stack pointer. Frames of the functions that it calls lie below; if the compiler made the call a jump, in place of its own.
    pub stack: usize,
    /// An address in its code. Zero if unknown; then its frame is on the stack, unless the call was a jump.
    pub inside: usize,
}

impl Mark {
    /// For processors without code to take a mark: no caller is found.
    pub const UNKNOWN: Mark = Mark { stack: usize::MAX, inside: 0 };
}

/// The mark of the running function, by the instructions that read the stack pointer and an address in the code.
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_mark_by {
    ($read_stack:literal, $read_address:literal) => {{
        let (stack, before): (usize, usize);
        // SAFETY: reads two registers.
        unsafe {
            ::core::arch::asm!(
                $read_stack,
                $read_address,
                out(reg) stack,
                out(reg) before,
                options(nomem, nostack, preserves_flags)
            )
        };
        // Like a return address: behind the instruction.
        $crate::__traced::Mark { stack, inside: before + 1 }
    }};
}

/// Where the running function is.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_mark {
    () => {
        $crate::__traced_mark_by!("mov {}, rsp", "lea {}, [rip]")
    };
}

/// Where the running function is.
#[cfg(all(target_arch = "aarch64", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_mark {
    () => {
        $crate::__traced_mark_by!("mov {}, sp", "adr {}, .")
    };
}

/// Where the running function is.
#[cfg(all(target_arch = "x86", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_mark {
    () => {{
        let stack: usize;
        // SAFETY: reads a register.
        unsafe { ::core::arch::asm!("mov {}, esp", out(reg) stack, options(nomem, nostack, preserves_flags)) };
        $crate::__traced::Mark { stack, inside: 0 }
    }};
}

/// Where the running function is.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_mark {
    () => {
        $crate::__traced::Mark::UNKNOWN
    };
}

struct Walk {
    mark: Mark,
    /// The number of frames that it may still skip before the caller's.
    left: usize,
    /// The most addresses.
    wanted: usize,
    /// The return address of the last skipped frame.
    last: usize,
    found: Stack,
}

impl Walk {
    /// Starts a walk for this number of callers.
    fn from(mark: Mark, callers: usize) -> Walk {
        Walk { mark, left: MOST, wanted: callers.min(Stack::DEEPEST) + 1, last: 0, found: Stack::EMPTY }
    }

    /// Visits the next frame, which begins at `stack`. Returns whether to go on.
    fn look(&mut self, instruction: usize, stack: usize) -> bool {
        if instruction == 0 {
            // The end of the stack in some C libraries.
            return false;
        }
        if !self.found.addresses().is_empty() {
            // From here on stack addresses need not grow: a signal handler may have a stack of its own.
            self.found.push(instruction);
        } else if stack <= self.mark.stack {
            self.last = instruction;
            self.left -= 1;
            return self.left > 0;
        } else {
            self.found.push(if self.mark.inside == 0 { self.last } else { self.mark.inside });
            self.found.push(instruction);
        }
        self.found.addresses().len() < self.wanted
    }
}

/// Returns an address in the marked function and at most this number of its callers. Empty if the stack cannot be unwound up to the first.
pub(crate) fn stack(mark: Mark, callers: usize) -> Stack {
    let mut walk = Walk::from(mark, callers);
    unwind(&mut |instruction, stack| walk.look(instruction, stack));
    walk.found
}

/// Passes the frames of this thread, from here outwards, to `look` until it returns false: where each continues, and where it begins on
/// the stack.
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
        // SAFETY: the pointer passed to `_Unwind_Backtrace` below, whose target lives until that returns and is not used elsewhere.
        let look = unsafe { &mut *look.cast::<&mut dyn FnMut(usize, usize) -> bool>() };
        // SAFETY: the unwinder passes its own context.
        let (instruction, stack) = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
        if look(instruction, stack) { GO_ON } else { STOP }
    }

    // SAFETY: `step` casts the pointer back to its own type; a panic in it would end the process.
    unsafe { _Unwind_Backtrace(step, (&raw mut look).cast()) };
}

/// These have no such unwinder.
#[cfg(any(miri, target_arch = "arm"))]
fn unwind(_: &mut dyn FnMut(usize, usize) -> bool) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(mark: Mark, callers: usize, frames: &[(usize, usize)]) -> (Vec<usize>, usize) {
        let mut walk = Walk::from(mark, callers);
        let seen = frames.iter().take_while(|(instruction, stack)| walk.look(*instruction, *stack)).count();
        (walk.found.addresses().to_vec(), seen)
    }

    const FRAMES: [(usize, usize); 5] = [(1, 100), (2, 200), (3, 300), (4, 400), (5, 500)];

    #[test]
    fn the_function_of_the_next_frame_is_the_one_returned_to() {
        for stack in [300, 399] {
            for (inside, shown) in [(7, 7), (0, 3)] {
                assert_eq!(walk(Mark { stack, inside }, 1, &FRAMES), (vec![shown, 4], 3), "{stack}");
            }
        }
    }

    #[test]
    fn not_found() {
        for mark in [Mark { stack: 500, inside: 7 }, Mark::UNKNOWN] {
            assert_eq!(walk(mark, 8, &FRAMES), (vec![], 5), "the stack ends before");
        }
        let far: Vec<_> = (1..1000).map(|number| (number, number)).collect();
        assert_eq!(walk(Mark { stack: 500, inside: 7 }, 8, &far), (vec![], MOST - 1));
    }

    #[test]
    fn stacks_end_at_zero() {
        let frames = [(1, 100), (2, 200), (0, 300), (4, 400)];
        assert_eq!(walk(Mark { stack: 100, inside: 7 }, 8, &frames), (vec![7, 2], 2));
    }

    #[test]
    fn stacks_are_bounded() {
        let mark = Mark { stack: 100, inside: 7 };
        assert_eq!(walk(mark, 2, &FRAMES), (vec![7, 2, 3], 2));
        assert_eq!(walk(mark, 8, &FRAMES), (vec![7, 2, 3, 4, 5], 5), "it ends before");
        let elsewhere = [(1, 100), (2, 200), (3, 20), (4, 10)];
        assert_eq!(walk(mark, 8, &elsewhere), (vec![7, 2, 3, 4], 4), "the stack of a signal handler");
        let far: Vec<_> = (1..1000).map(|number| (number, number)).collect();
        let (found, _) = walk(Mark { stack: 5, inside: 7 }, usize::MAX, &far);
        assert_eq!((found.len(), found[1]), (Stack::DEEPEST + 1, 6));
    }
}
