//! Systems without a query for this: a thread counts as blocked when its job takes long.

#[derive(Clone, Copy)]
pub struct KernelThread;

impl KernelThread {
    pub fn current() -> KernelThread {
        KernelThread
    }

    pub fn is_blocked(self) -> bool {
        true
    }

    pub fn bind(self, _: u16, _: KernelThread) -> bool {
        false
    }

    pub fn release(self, _: KernelThread) {}
}

pub fn processor() -> Option<u16> {
    None
}

pub struct BlockMeter;

impl BlockMeter {
    pub fn start() -> BlockMeter {
        BlockMeter
    }

    pub fn has_blocked(&mut self, is_long: bool, _: libc::c_long) -> bool {
        is_long
    }
}
