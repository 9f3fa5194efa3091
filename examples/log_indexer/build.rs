//! Passes the linker flag with which every tracer finds the probes.

fn main() {
    dyntrace_build::link_for_tracers();
}
