//! Peers of trace settings: `peers ROUNDS` prints medians in nanoseconds, as JSON. `reload` changes a filter of `tracing`, to one that
//! enables all events of 50,000 callsites and back to one that enables none. `key` changes one static key, which its library allows only
//! while no other thread may run the code.

use std::hint::black_box;
use std::sync::OnceLock;

use serde_json::json;
use settings::machine::{median, time};
use static_keys::{define_static_key_false, static_branch_unlikely};
use tracing::callsite::{self, Callsite, Identifier};
use tracing::field::FieldSet;
use tracing::level_filters::LevelFilter;
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

const CALLSITES: usize = 50_000;
const TARGET: &str = "made";

define_static_key_false!(KEY);

fn main() {
    let rounds = std::env::args().nth(1).expect("ROUNDS").parse().expect("a number of rounds");
    let (on, off) = reload(rounds);
    let key = key(rounds);
    println!("{}", json!({"callsites": CALLSITES, "reload_on": on, "reload_off": off, "key": key}));
}

fn reload(rounds: usize) -> (u64, u64) {
    let (filter, handle) = reload::Layer::new(Targets::new());
    tracing_subscriber::registry().with(filter).init();
    (0..CALLSITES).for_each(|_| callsite::register(Made::leaked()));
    let [mut on, mut off] = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        let told = Targets::new().with_target(TARGET, LevelFilter::INFO);
        on.push(time(|| handle.reload(told).expect("the subscriber lives")).0);
        off.push(time(|| handle.reload(Targets::new()).expect("the subscriber lives")).0);
    }
    (median(on), median(off))
}

/// A callsite like those of `tracing`'s macros, without a source location.
#[derive(Default)]
struct Made {
    metadata: OnceLock<Metadata<'static>>,
}

impl Made {
    fn leaked() -> &'static Made {
        let callsite: &'static Made = Box::leak(Box::default());
        let fields = FieldSet::new(&["a", "b"], Identifier(callsite));
        callsite
            .metadata
            .get_or_init(|| Metadata::new("event", TARGET, Level::INFO, None, None, None, fields, Kind::EVENT));
        callsite
    }
}

impl Callsite for Made {
    fn set_interest(&self, interest: Interest) {
        black_box(interest);
    }

    fn metadata(&self) -> &Metadata<'_> {
        self.metadata.get().expect("set before anybody knows of it")
    }
}

fn key(rounds: usize) -> u64 {
    static_keys::global_init();
    let is_enabled = || if static_branch_unlikely!(KEY) { 1 } else { 0 };
    let mut samples = Vec::new();
    for _ in 0..rounds {
        // SAFETY: no other thread runs.
        samples.push(time(|| unsafe { KEY.enable() }).0);
        assert_eq!(black_box(is_enabled()), 1);
        // SAFETY: as above.
        unsafe { KEY.disable() };
    }
    median(samples)
}
