//! Systems where it is not asked: what takes long is taken for asleep.

#[derive(Clone, Copy)]
pub(in super::super) struct ThreadNumber;

impl ThreadNumber {
    pub fn current() -> ThreadNumber {
        ThreadNumber
    }

    pub fn is_asleep(self) -> bool {
        true
    }
}

pub(in super::super) struct Waits;

impl Waits {
    pub fn begin() -> Waits {
        Waits
    }

    pub fn were_for_others(&mut self, is_long: bool, _: libc::c_long) -> bool {
        is_long
    }
}
