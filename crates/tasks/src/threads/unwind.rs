//! From the copy of a stack to the functions on it.

use super::answer::Ending;
use super::modules::Module;
use super::stack::Copy;

/// Frames, at most.
const MOST: usize = 512;

/// A call on a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Of the instruction, or of the one after a call.
    pub address: u64,
    /// An address inside the instruction itself.
    pub inside: u64,
    /// Where the function begins, if unwind information says so.
    pub function: Option<u64>,
    /// The stack pointer of the caller. `None` if the caller was not found.
    pub end: Option<u64>,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod architectures {
    use framehop::{CacheNative, ExplicitModuleSectionInfo, FrameAddress, Unwinder as _, UnwinderNative};

    use super::{Call, Copy, Ending, MOST, Module};
    use crate::threads::modules::{Section, containing};

    /// Unwinds stacks.
    pub struct Unwinder<'m, 'a> {
        modules: &'m [Module<'a>],
        unwinder: UnwinderNative<&'a [u8], framehop::MayAllocateDuringUnwind>,
        cache: CacheNative<framehop::MayAllocateDuringUnwind>,
    }

    impl<'m, 'a> Unwinder<'m, 'a> {
        pub fn new(modules: &'m [Module<'a>]) -> Unwinder<'m, 'a> {
            let mut unwinder = UnwinderNative::new();
            for module in modules {
                // The library subtracts these from each other.
                if module.code.start < module.bias || module.code.end < module.code.start {
                    continue;
                }
                let range =
                    |section: Section<'_>| section.address..section.address.saturating_add(section.bytes.len() as u64);
                let sections = ExplicitModuleSectionInfo {
                    eh_frame_svma: module.frames.map(range),
                    eh_frame: module.frames.map(|section| section.bytes),
                    eh_frame_hdr_svma: module.table.map(range),
                    eh_frame_hdr: module.table.map(|section| section.bytes),
                    got_svma: module.got.clone(),
                    ..ExplicitModuleSectionInfo::default()
                };
                unwinder.add_module(framehop::Module::new(
                    module.name.clone(),
                    module.code.clone(),
                    module.bias,
                    sections,
                ));
            }
            Unwinder { modules, unwinder, cache: CacheNative::new() }
        }

        /// Returns the calls on a stack, innermost first, and why there are no more.
        pub fn unwind(&mut self, copy: &Copy) -> (Vec<Call>, Ending) {
            let registers = &copy.registers;
            let mut calls = Vec::new();
            let mut frame = FrameAddress::from_instruction_pointer(registers.code);
            #[cfg(target_arch = "x86_64")]
            let mut state = framehop::UnwindRegsNative::new(registers.code, registers.stack, registers.frame);
            #[cfg(target_arch = "aarch64")]
            let mut state = framehop::UnwindRegsNative::new(registers.link, registers.stack, registers.frame);
            let mut read = |address| copy.word(address).ok_or(());
            while calls.len() < MOST {
                let inside = frame.address_for_lookup();
                let module = containing(self.modules, inside);
                let function = module.and_then(|module| module.function(inside));
                calls.push(Call { address: frame.address(), inside, function, end: None });
                // The library would guess by the frame pointer.
                if function.is_none() {
                    return (calls, Ending::UnknownCode);
                }
                let caller = self.unwinder.unwind_frame(frame, &mut state, &mut self.cache, &mut read);
                frame = match caller.map(|caller| caller.and_then(FrameAddress::from_return_address)) {
                    Ok(Some(caller)) => caller,
                    Ok(None) | Err(framehop::Error::ReturnAddressIsNull) => return (calls, Ending::Complete),
                    Err(_) => return (calls, Ending::Cut),
                };
                if let Some(call) = calls.last_mut() {
                    call.end = Some(state.sp());
                }
            }
            (calls, Ending::Cut)
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod architectures {
    use super::{Call, Copy, Ending, Module};

    /// Unwinds nothing: the library does not know this architecture.
    pub struct Unwinder<'m, 'a>(std::marker::PhantomData<&'m Module<'a>>);

    impl<'m, 'a> Unwinder<'m, 'a> {
        pub fn new(_: &'m [Module<'a>]) -> Unwinder<'m, 'a> {
            Unwinder(std::marker::PhantomData)
        }

        pub fn unwind(&mut self, _: &Copy) -> (Vec<Call>, Ending) {
            (Vec::new(), Ending::UnknownCode)
        }
    }
}

pub(super) use architectures::Unwinder;

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::threads::modules::Section;
    use crate::threads::registers::Registers;

    #[test]
    fn addresses_of_a_damaged_file_overflow_nothing() {
        for bias in [0, 0x1000, u64::MAX - 8] {
            for (start, end) in [(0, 16), (16, 0), (8, u64::MAX), (u64::MAX - 16, u64::MAX)] {
                let section = Some(Section { address: u64::MAX - 2, bytes: &[0xff; 16] });
                let code = start.wrapping_add(bias)..end.wrapping_add(bias);
                let (frames, table, got) = (section, section, Some(u64::MAX - 1..u64::MAX));
                let module = Module { image: None, name: String::new(), bias, code, frames, table, got };
                let modules = [module];
                let mut unwinder = Unwinder::new(&modules);
                for code in [0, 8, bias, start.wrapping_add(bias), u64::MAX] {
                    let registers =
                        Registers { code, stack: u64::MAX - 7, frame: u64::MAX, link: 0, all: Vec::new(), call: None };
                    let (calls, _) = unwinder.unwind(&Copy::sample(registers));
                    assert!(!calls.is_empty());
                }
            }
        }
    }
}
