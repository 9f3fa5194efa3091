//! The figures that are compared, by their names in conditions and output.

use crate::figures::{Row, Spread};

/// A time of operations or calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    Total,
    QueueWait,
    Service,
    Delivery,
}

impl Time {
    pub const ALL: [Time; 4] = [Time::Total, Time::QueueWait, Time::Service, Time::Delivery];

    pub fn name(self) -> &'static str {
        match self {
            Time::Total => "total",
            Time::QueueWait => "queue_wait",
            Time::Service => "service",
            Time::Delivery => "delivery",
        }
    }

    pub fn of(self, row: &Row) -> &Spread {
        match self {
            Time::Total => &row.total,
            Time::QueueWait => &row.queue_wait,
            Time::Service => &row.service,
            Time::Delivery => &row.delivery,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    P50,
    P90,
    P99,
    P999,
}

impl Percentile {
    pub const ALL: [Percentile; 4] = [Percentile::P50, Percentile::P90, Percentile::P99, Percentile::P999];

    pub fn name(self) -> &'static str {
        match self {
            Percentile::P50 => "p50",
            Percentile::P90 => "p90",
            Percentile::P99 => "p99",
            Percentile::P999 => "p99.9",
        }
    }

    /// The part of the operations that take at most this time.
    pub fn part(self) -> f64 {
        match self {
            Percentile::P50 => 0.5,
            Percentile::P90 => 0.9,
            Percentile::P99 => 0.99,
            Percentile::P999 => 0.999,
        }
    }
}
