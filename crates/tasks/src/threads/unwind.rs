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
    use crate::threads::modules::containing;

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
                let range = |section: super::super::modules::Section<'_>| {
                    section.address..section.address + section.bytes.len() as u64
                };
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
    pub struct Unwinder;

    impl Unwinder {
        pub fn new(_: &[Module<'_>]) -> Unwinder {
            Unwinder
        }

        pub fn unwind(&mut self, _: &Copy) -> (Vec<Call>, Ending) {
            (Vec::new(), Ending::UnknownCode)
        }
    }
}

pub(super) use architectures::Unwinder;
