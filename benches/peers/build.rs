//! Compiles the same probe for dyntrace and for the `usdt` crate.

fn main() {
    dyntrace_build::compile("peers.d");
    println!("cargo::rerun-if-changed=peers_usdt.d");
    usdt::Builder::new("peers_usdt.d").build().expect("the usdt crate compiles its provider");
}
