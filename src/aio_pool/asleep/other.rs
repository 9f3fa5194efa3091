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

pub(in super::super) struct Sleeps;

impl Sleeps {
    pub fn begin() -> Sleeps {
        Sleeps
    }

    pub fn are_more_than(&mut self, _: libc::c_long) -> bool {
        true
    }
}
