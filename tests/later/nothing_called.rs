//! A library whose traced function nobody calls: the linker may leave it out.

#[dyntrace::traced]
fn nobody_calls_this() {}
