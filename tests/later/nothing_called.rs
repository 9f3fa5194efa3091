//! A library with an uncalled traced function, which the linker may drop.

#[dyntrace::traced]
fn nobody_calls_this() {}
