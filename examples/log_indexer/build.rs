//! Has the program linked so that every tracer finds its probes.

fn main() {
    dyntrace_build::link_for_tracers();
}
