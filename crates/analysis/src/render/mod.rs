//! The lines of the shipped scripts, made from recorded events. A test here compares them with the text for bpftrace,
//! `crates/cli/tests/tracers` with bpftrace's output.

mod aio_pool;
pub mod append;
mod blocking_pool;
mod efile_by_tag;
mod efile_errors;
mod efile_latency;
mod lines;
mod message_latency;
pub mod operation;
pub mod slow;
mod task_latency;
mod task_waits;
mod template;
mod times;
mod way;

pub use template::Piece;
pub use way::{Printer, Rendering, Settings, Way};

/// All shipped scripts.
pub const ALL: &[Rendering] = &[
    Rendering::new("aio_pool", aio_pool::WAY),
    Rendering::new("blocking_pool", blocking_pool::WAY),
    Rendering::new("dist", Way::Lines(lines::DIST)),
    Rendering::new("efile_by_tag", efile_by_tag::WAY),
    Rendering::new("efile_drv", Way::Lines(lines::EFILE_DRV)),
    Rendering::new("efile_errors", efile_errors::WAY),
    Rendering::new("efile_latency", efile_latency::WAY),
    Rendering::new("message_latency", message_latency::WAY),
    Rendering::new("messages", Way::Lines(lines::MESSAGES)),
    Rendering::new("process-scheduling", Way::Lines(lines::PROCESS_SCHEDULING)),
    Rendering::new("spawn-exit", Way::Lines(lines::SPAWN_EXIT)),
    Rendering::new("task_latency", task_latency::WAY),
    Rendering::new("task_waits", task_waits::WAY),
    Rendering::new("user-probe", Way::Lines(lines::USER_PROBE)),
];

/// The rendering of the script called `name`.
pub fn find(name: &str) -> Option<&'static Rendering> {
    ALL.iter().find(|rendering| rendering.script == name)
}

/// The line of the first of `renderings` that prints the probe. `None` if none does, or if the event lacks a field of the line.
pub fn pieces(renderings: &[Rendering], probe: &str, position: impl Fn(&str) -> Option<usize>) -> Option<Vec<Piece>> {
    let line = renderings.iter().flat_map(Rendering::lines).find(|line| line.probe == probe)?;
    template::parse(line.template, position)
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;
    use dyntrace_build::model::Provider;

    use super::*;

    /// The format and the arguments of the one printf in a block for bpftrace.
    fn printf(block: &str) -> (String, Vec<&str>) {
        let call = block.split_once("printf(\"").unwrap().1;
        let (format, arguments) = call.split_once("\\n\",").unwrap();
        let arguments = arguments.split_once(");").unwrap().0;
        (format.to_owned(), arguments.split(',').map(str::trim).collect())
    }

    /// The template that prints the same as the printf.
    fn template(provider: &Provider, probe: &str, block: &str) -> String {
        let probe = provider.probes.iter().find(|known| known.name == probe).unwrap();
        let (format, arguments) = printf(block);
        let mut parts = format.split('%');
        let mut template = parts.next().unwrap().to_owned();
        for (part, argument) in parts.zip(&arguments) {
            let number: String = argument.chars().filter(char::is_ascii_digit).collect();
            let name = &probe.arguments[number.parse::<usize>().unwrap()].name;
            let op = if argument.starts_with("@op_map[") { ":op" } else { "" };
            let rest = part.strip_prefix("ld").or_else(|| part.strip_prefix('s')).unwrap();
            template += &format!("${name}{op}{rest}");
        }
        template
    }

    #[test]
    fn every_shipped_script_has_a_rendering_that_says_what_it_says() {
        let provider = dyntrace_build::parse(scripts::PROVIDER_D, "provider.d").unwrap();
        for script in scripts::ALL {
            let rendering = find(script.name).unwrap_or_else(|| panic!("no rendering of {}", script.name));
            let blocks: Vec<(&str, &str)> =
                script.bt.split("\nusdt:$1:dyntrace:").skip(1).map(|block| block.split_once('\n').unwrap()).collect();
            let named = blocks.iter().map(|(probe, _)| format!("dyntrace:{}", probe.replace("__", "-")));
            assert_eq!(named.collect::<Vec<_>>(), rendering.probes(), "{}", script.name);
            for ((probe, block), line) in blocks.into_iter().zip(rendering.lines()) {
                assert_eq!(template(&provider, probe, block), line.template, "{}", line.probe);
            }
        }
    }
}
