//! The names of probes, and globs that users give for them: a glob that no probe matches is a mistake, of which they are told.

use std::collections::BTreeSet;

use dyntrace_metadata::Glob;
use dyntrace_terminal::near::did_you_mean;

use crate::provider::Providers;

/// Names with their providers: `dyntrace:efile_drv-entry`.
pub struct Names(BTreeSet<String>);

impl Names {
    /// Those of the library and its recorder.
    pub fn own() -> anyhow::Result<Names> {
        let providers = Providers::with(&[])?;
        let probes = providers.get("dyntrace").into_iter().flat_map(|provider| &provider.probes);
        let names = probes.map(|probe| format!("dyntrace:{}", probe.tool_name()));
        Ok(Names(names.chain(["recorder:*".to_owned()]).collect()))
    }

    pub fn with(mut self, names: impl IntoIterator<Item = String>) -> Names {
        self.0.extend(names);
        self
    }

    /// Whether the glob matches a probe, with or without its provider.
    pub fn has(&self, glob: &str) -> bool {
        self.0.iter().any(|name| {
            let is_match = |name: &str| Glob::is_match(glob, name.as_bytes());
            is_match(name) || is_match(short(name)) || name == "recorder:*" && glob.starts_with("recorder:")
        })
    }

    /// Whether the glob has no provider, or one of these names has it.
    pub fn knows_provider(&self, glob: &str) -> bool {
        let provider = |name: &str| name.split_once(':').map(|(provider, _)| provider.to_owned());
        provider(glob).is_none_or(|wanted| self.0.iter().any(|name| provider(name).as_ref() == Some(&wanted)))
    }

    /// A question about the glob, which no name matches.
    pub fn did_you_mean(&self, glob: &str) -> String {
        let stem = glob.trim_matches('*');
        let candidates = self.0.iter().map(|name| if glob.contains(':') { name } else { short(name) });
        if stem.is_empty() { String::new() } else { did_you_mean(stem, candidates) }
    }
}

/// The name without its provider.
fn short(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, probe)| probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_of_probes_and_of_none() {
        let names = Names::own().unwrap().with(["shop:order-pay".to_owned()]);
        for glob in ["efile_drv*", "dyntrace:*", "*", "order-pay", "shop:order-*", "recorder:thread"] {
            assert!(names.has(glob), "{glob}");
        }
        for (glob, meant) in
            [("efil_drv*", "did you mean efile_drv-"), ("shop:order-pai", "did you mean shop:order-pay? "), ("Q", "")]
        {
            assert!(!names.has(glob), "{glob}");
            let question = names.did_you_mean(glob);
            assert!(question.starts_with(meant) && question.is_empty() == meant.is_empty(), "{question}");
        }
    }
}
