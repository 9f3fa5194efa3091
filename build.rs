//! Compiles `provider.d` into the probe functions of `src/probes.rs`.

fn main() {
    dyntrace_build::compile("provider.d");
}
