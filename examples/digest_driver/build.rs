//! Compiles the provider definition.

fn main() {
    dyntrace_build::compile("digest.d");
}
