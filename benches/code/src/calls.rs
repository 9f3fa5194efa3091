//! The time of a call: by a plain pointer, into a module, and by other libraries' replaceable functions.

use std::hint::black_box;

use arc_swap::ArcSwap;
use dyntrace::code;
use libloading::Library;
use serde_json::{Map, Value};

use crate::clock::call_ns;
use crate::made::{self, Made, name};
use crate::runtime;

type Price = fn(u32) -> u64;

/// The same computation as the module's function.
#[inline(never)]
fn price(quantity: u32) -> u64 {
    u64::from(quantity) * 130
}

/// It finds its library beside the program, where cargo has built it.
#[hot_lib_reloader::hot_module(dylib = "bench_module", lib_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/target/release"))]
mod reloaded {
    #[hot_functions]
    extern "Rust" {
        pub fn bare_price(quantity: u32) -> u64;
    }
}

/// Returns nanoseconds of a call, for each round.
pub fn measure(rounds: usize) -> Value {
    let made = Made::new();
    runtime().block_on(async { code::finish([made.prepared(0).await]).await.expect("a module in force") });
    let export = code::lookup::<Price>(&name(0), "price").expect("its export");
    let by_pointer = code::lookup::<fn(usize) -> f64>(&name(0), "by_pointer").expect("its export");
    let by_import = code::lookup::<fn() -> f64>(&name(0), "by_import").expect("its export");
    // SAFETY: the library's constructors have no preconditions.
    let library = unsafe { Library::new(made::library()) }.expect("a library");
    // SAFETY: the symbol has this type.
    let symbol = *unsafe { library.get::<Price>(b"bare_price") }.expect("its function");
    let pointer = black_box(price as Price);
    let swapped = ArcSwap::from_pointee(pointer);
    let ways: [(&str, &dyn Fn() -> f64); 7] = [
        ("pointer", &|| call_ns(|number| black_box(pointer)(number))),
        ("export", &|| call_ns(|number| export.call(number).expect("a version is current"))),
        ("dlsym", &|| call_ns(|number| black_box(symbol)(number))),
        ("arc_swap", &|| call_ns(|number| swapped.load()(number))),
        ("hot_lib_reloader", &|| call_ns(reloaded::bare_price)),
        ("pointer_in_module", &|| by_pointer.call(pointer as usize).expect("a version is current")),
        ("export_in_module", &|| by_import.call().expect("a version is current")),
    ];
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for (column, (_, measure)) in columns.iter_mut().zip(&ways) {
            column.push(measure());
        }
    }
    Value::Object(
        ways.iter().zip(columns).map(|((way, _), column)| ((*way).into(), column.into())).collect::<Map<_, _>>(),
    )
}
