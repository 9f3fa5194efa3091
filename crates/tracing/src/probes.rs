//! The probe functions, made from `dyntrace_tracing.d`.

include!("probes/generated.rs");
