//! Lays the programs of this package out so that every tracer finds their probes.

fn main() {
    dyntrace_build::link_for_tracers();
}
