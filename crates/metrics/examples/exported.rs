//! The counts of dyntrace among the metrics of a program that has Prometheus's exporter of the `metrics` facade.
//!
//! ```console
//! $ cargo run -p dyntrace-metrics --example exported
//! ```

use dyntrace_metrics::Publisher;
use metrics_exporter_prometheus::PrometheusBuilder;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let exporter = PrometheusBuilder::new().install_recorder()?;
    // A program that serves its metrics would rather call `dyntrace_metrics::register()?` here.
    let mut publisher = Publisher::default();

    metrics::counter!("shop_orders_total").increment(1);
    for path in ["Cargo.toml", "Cargo.lock", "no such file"] {
        let _ = dyntrace::fs::read(path).await;
    }
    publisher.publish();
    print!("{}", exporter.render());
    Ok(())
}
