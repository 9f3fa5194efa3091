//! The values that an exporter of the facade gets.

use std::collections::HashMap;
use std::time::Duration;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use dyntrace_metrics::{Publisher, register_every};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

/// The values of all series: by name, and by the values of their labels.
fn values(snapshotter: &Snapshotter) -> HashMap<String, DebugValue> {
    let series = snapshotter.snapshot().into_vec();
    let named = series.into_iter().map(|(key, _, _, value)| {
        let labels = key.key().labels().map(|label| format!(" {}", label.value())).collect::<String>();
        (format!("{}{labels}", key.key().name()), value)
    });
    named.collect()
}

fn counter(values: &HashMap<String, DebugValue>, name: &str) -> u64 {
    match values.get(name) {
        Some(DebugValue::Counter(count)) => *count,
        None => 0,
        other => panic!("{name}: {other:?}"),
    }
}

/// One test: the counts are those of the process.
#[test]
fn operations_of_the_process() {
    // Each operation is a job of the pool.
    assert!(Driver::install(Driver::new(Pool::builder().build()).inline(Inline::Off)).is_ok());
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut publisher = Publisher::default();
    let read = || {
        runtime.block_on(async {
            dyntrace::fs::read(own).await.unwrap();
            dyntrace::fs::read("no such file").await.unwrap_err();
        });
    };
    read();
    // A thread adds its counts with its next batch.
    let shown = loop {
        read();
        metrics::with_local_recorder(&recorder, || publisher.publish());
        let shown = values(&snapshotter);
        if counter(&shown, "dyntrace_operation_errors_total efile_drv READ_FILE") > 0 {
            break shown;
        }
    };
    assert!(counter(&shown, "dyntrace_operations_total efile_drv READ_FILE") >= 2, "{shown:#?}");
    assert!(counter(&shown, "dyntrace_pool_jobs_total fast") >= 4);
    let gauge = |name: &str| match shown[name] {
        DebugValue::Gauge(value) => value.into_inner(),
        ref other => panic!("{name}: {other:?}"),
    };
    assert!(gauge("dyntrace_operation_service_seconds_total efile_drv READ_FILE") > 0.0);
    assert!(gauge("dyntrace_pool_threads fast") >= 1.0);
    assert_eq!(gauge("dyntrace_pool_waiting_jobs"), 0.0);
    assert!(!shown.keys().any(|name| name.starts_with("dyntrace_recorder")), "unknown in the process itself");

    // Each time is published once, wherever it is read.
    let once = |shown: &HashMap<String, DebugValue>| match &shown["dyntrace_pool_wait_seconds fast"] {
        DebugValue::Histogram(values) => values.len(),
        other => panic!("{other:?}"),
    };
    let jobs = dyntrace::aio_pool::metrics().fast.operations;
    metrics::with_local_recorder(&recorder, || publisher.publish());
    // The snapshotter drains histograms.
    assert!(once(&values(&snapshotter)) as u64 <= jobs);
    metrics::with_local_recorder(&recorder, || publisher.publish());
    assert_eq!(once(&values(&snapshotter)), 0);

    // The thread of `register` publishes into the recorder of the process.
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    recorder.install().unwrap();
    register_every(Duration::from_millis(1)).unwrap();
    register_every(Duration::from_millis(1)).unwrap();
    while counter(&values(&snapshotter), "dyntrace_operations_total efile_drv READ_FILE") == 0 {
        std::thread::yield_now();
    }
}
