//! The probe functions, made from `dyntrace_tracing.d`.

use dyntrace::sdt as __sdt;

include!("generated.rs");
