//! Links the programs as their own packages do: only so do perf and SystemTap find the probes of a program that lld has linked.

#[path = "../../build/linker.rs"]
mod linker;

fn main() {
    if linker::takes_separate_code() {
        println!("cargo::rustc-link-arg=-Wl,-z,separate-code");
    }
}
