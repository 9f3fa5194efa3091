//! Cores that repeat an operation: work of their own, and then a resource that one of them has at a time, first come first served.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An operation, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Path {
    /// Work that cores do side by side.
    pub own: f64,
    /// Work that one core does at a time, with the resource in its own cache.
    pub held: f64,
    /// The time that this takes more if another core had the resource before.
    pub handover: f64,
}

#[derive(Clone, Copy, Default)]
struct Line {
    free_at: u64,
    last: Option<usize>,
}

/// The simulated time, in picoseconds: whole numbers have an order.
const END: u64 = 2_000_000_000;

/// Returns the operations of `cores` cores, which share out `lines` resources, relative to `cores` times the operations of one core.
pub fn share(path: Path, lines: usize, cores: usize) -> f64 {
    operations(path, lines, cores) as f64 / (cores * operations(path, 1, 1).max(1)) as f64
}

fn operations(path: Path, lines: usize, cores: usize) -> usize {
    let [own, held, handover] = [path.own, path.held, path.handover].map(|time| (time * 1000.0) as u64);
    let mut lines = vec![Line::default(); lines];
    // The cores that arrive at their resource, by time. They begin apart, as they would be found.
    let mut arrivals: BinaryHeap<_> =
        (0..cores).map(|core| Reverse((own + core as u64 * own / cores as u64, core))).collect();
    let mut done = 0;
    while let Some(Reverse((now, core))) = arrivals.pop() {
        if now >= END {
            break;
        }
        let at = core % lines.len();
        let line = &mut lines[at];
        let moves = line.last.replace(core).is_some_and(|last| last != core);
        line.free_at = now.max(line.free_at) + held + if moves { handover } else { 0 };
        done += 1;
        arrivals.push(Reverse((line.free_at + own, core)));
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { own: 900.0, held: 100.0, handover: 0.0 };

    #[test]
    fn a_resource_serves_as_many_cores_as_its_share_of_the_time() {
        assert!((share(PATH, 1, 10) - 1.0).abs() < 0.01);
        assert!((share(PATH, 1, 20) - 0.5).abs() < 0.01);
        assert!((share(PATH, 2, 20) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_handover_is_paid_where_cores_share() {
        let path = Path { handover: 400.0, ..PATH };
        assert!((share(path, 1, 20) - 0.1).abs() < 0.01);
        assert!((share(path, 20, 20) - 1.0).abs() < 0.01);
    }
}
