//! The service: tasks that call the module, and upgrades beside them.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use dyntrace::code::{self, HandleOf, Policy};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, yield_now};
use tokio::time::sleep_until;

use crate::order::{Order, Price};

/// Tasks on each runtime.
const TASKS: usize = 32;
/// Calls of a task before it yields.
const CALLS: u64 = 100;
/// The module's versions, used in turn, and their prices.
const VERSIONS: [(&str, u64); 2] = [("libhot_pricing_1.so", 130), ("libhot_pricing_2.so", 125)];

#[derive(Clone, Copy, Parser)]
struct Options {
    /// Run time in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Upgrades in that time; with 0, upgrade it from outside
    #[arg(long, default_value_t = 1000)]
    upgrades: u32,
}

struct Service {
    price: HandleOf<fn(&Order) -> Price>,
    /// The last load whose finish has begun. `None` if upgrades come from outside.
    begun: Option<AtomicU64>,
    /// The newest load that has answered any task, or whose finish has ended.
    seen: AtomicU64,
    is_over: AtomicBool,
}

#[derive(Default)]
struct Tally {
    calls: u64,
    wrong: u64,
    longest_gap: Duration,
}

impl Service {
    /// Whether a current version could answer so, after load `seen` has answered.
    fn is_right(&self, seen: u64, quantity: u64, price: &Price) -> bool {
        let is_price_of = |version: usize| price.cents == quantity * VERSIONS[version].1;
        price.load >= seen
            && match &self.begun {
                Some(begun) => {
                    price.load <= begun.load(Ordering::Acquire)
                        && is_price_of((price.load - 1) as usize % VERSIONS.len())
                }
                None => (0..VERSIONS.len()).any(is_price_of),
            }
    }

    async fn customer(self: Arc<Self>) -> Tally {
        thread_local! {
            static LAST_CALL: Cell<Option<Instant>> = const { Cell::new(None) };
        }
        let mut tally = Tally::default();
        while !self.is_over.load(Ordering::Relaxed) {
            for quantity in 1..=CALLS {
                // Acquire: this task must now see the version that another task has seen.
                let seen = self.seen.load(Ordering::Acquire);
                match self.price.call(&Order { quantity }) {
                    Ok(price) if self.is_right(seen, quantity, &price) => {
                        if price.load > seen {
                            self.seen.fetch_max(price.load, Ordering::Release);
                        }
                    }
                    _ => tally.wrong += 1,
                }
                let now = Instant::now();
                if let Some(last) = LAST_CALL.replace(Some(now)) {
                    tally.longest_gap = tally.longest_gap.max(now - last);
                }
            }
            tally.calls += CALLS;
            yield_now().await;
        }
        tally
    }

    /// Upgrades the module at even intervals.
    async fn upgrade(&self, directory: &Path, options: Options) -> anyhow::Result<()> {
        let start = tokio::time::Instant::now();
        let time = Duration::from_secs(options.seconds.into());
        for (number, load) in (1..=options.upgrades).zip(2..) {
            sleep_until(start + time * number / (options.upgrades + 1)).await;
            let (file, _) = VERSIONS[(load - 1) as usize % VERSIONS.len()];
            let prepared = code::prepare(directory.join(file)).await?;
            if let Some(begun) = &self.begun {
                begun.store(load, Ordering::Release);
            }
            code::finish([prepared]).await?;
            self.seen.fetch_max(load, Ordering::Release);
            code::purge("pricing").await?;
        }
        sleep_until(start + time).await;
        Ok(())
    }
}

/// The whole program.
pub fn run() -> anyhow::Result<()> {
    let options = Options::parse();
    let program = std::env::current_exe()?;
    let directory = program.parent().context("the program is in no directory")?;
    let are_ours = options.upgrades > 0;
    code::allow(Policy::new().directory(directory).remote(!are_ours))?;
    let runtime = || Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtimes: [Runtime; 2] = [runtime()?, runtime()?];

    runtimes[0].block_on(async {
        let first = code::prepare(directory.join(VERSIONS[0].0)).await;
        code::finish([first.context("build all of it: cargo build --release --examples")?]).await?;
        let service = Arc::new(Service {
            price: code::lookup::<fn(&Order) -> Price>("pricing", "price")?,
            begun: are_ours.then(|| AtomicU64::new(1)),
            seen: AtomicU64::new(1),
            is_over: AtomicBool::new(false),
        });
        let mut customers = JoinSet::new();
        for runtime in &runtimes {
            for _ in 0..TASKS {
                customers.spawn_on(Arc::clone(&service).customer(), runtime.handle());
            }
        }
        let upgraded = service.upgrade(directory, options).await;
        service.is_over.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        while let Some(tally) = customers.join_next().await {
            let Tally { calls, wrong, longest_gap } = tally?;
            all.calls += calls;
            all.wrong += wrong;
            all.longest_gap = all.longest_gap.max(longest_gap);
        }
        upgraded?;
        let Tally { calls, wrong, longest_gap } = all;
        let (upgrades, gap) = (options.upgrades, longest_gap.as_nanos());
        println!(r#"{{"calls": {calls}, "upgrades": {upgrades}, "longest_gap_ns": {gap}, "wrong": {wrong}}}"#);
        anyhow::ensure!(wrong == 0, "{wrong} answers were wrong");
        Ok(())
    })
}
