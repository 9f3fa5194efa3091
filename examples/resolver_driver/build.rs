//! Compiles the provider definition.

fn main() {
    dyntrace_build::compile("resolver.d");
}
