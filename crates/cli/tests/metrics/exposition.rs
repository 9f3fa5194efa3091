//! A reader of Prometheus's text format that accepts nothing doubtful.

use std::collections::{BTreeMap, HashSet};

type Labels = BTreeMap<String, String>;

/// A page, checked.
pub struct Page(Vec<Sample>);

struct Sample {
    name: String,
    labels: Labels,
    value: f64,
}

impl Page {
    /// Panics if the page is not one that any reader of the format accepts, or breaks Prometheus's rules for names.
    pub fn parse(text: &str) -> Page {
        assert!(text.ends_with('\n') && !text.contains('\r') && !text.chars().any(|c| c.is_control() && c != '\n'));
        let (mut all, mut families, mut seen) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut lines = text.lines().peekable();
        while let Some(help) = lines.next() {
            let (name, help) = help.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')).expect(help);
            assert!(is_name(name) && !help.is_empty() && !help.contains('\\'));
            assert!(families.insert(name.to_owned()), "{name} twice");
            let kind = lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).expect(name);
            let mut samples = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
                let sample = Sample::parse(line);
                assert!(seen.insert((sample.name.clone(), sample.labels.clone())), "twice: {line}");
                samples.push(sample);
            }
            assert!(!samples.is_empty(), "{name} has no samples");
            match kind {
                "counter" => {
                    assert!(name.ends_with("_total") && samples.iter().all(|of| of.name == name && of.value >= 0.0))
                }
                "gauge" => assert!(!name.ends_with("_total") && samples.iter().all(|of| of.name == name)),
                "histogram" => check_histogram(name, &samples),
                other => panic!("type {other}"),
            }
            all.extend(samples);
        }
        Page(all)
    }

    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels: Labels = labels.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        self.0.iter().find(|sample| sample.name == name && sample.labels == labels).map(|sample| sample.value)
    }
}

impl Sample {
    fn parse(line: &str) -> Sample {
        let end = line.find(['{', ' ']).expect(line);
        let (name, mut rest) = line.split_at(end);
        assert!(is_name(name), "{line}");
        let mut labels = Labels::new();
        if let Some(text) = rest.strip_prefix('{') {
            rest = text;
            while !rest.starts_with('}') {
                let (label, after) = rest.split_once("=\"").expect(line);
                assert!(is_name(label) && !label.contains(':') && !label.starts_with("__"), "{line}");
                let (value, after) = unquote(after).expect(line);
                assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
                rest = after.strip_prefix(',').unwrap_or(after);
            }
            rest = &rest[1..];
        }
        let value = rest.strip_prefix(' ').and_then(|value| value.parse().ok()).expect(line);
        Sample { name: name.to_owned(), labels, value }
    }
}

/// The text up to the closing quote, and what follows that.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    loop {
        match characters.next()? {
            (at, '"') => return Some((value, &text[at + 1..])),
            (_, '\\') => value.push(match characters.next()?.1 {
                'n' => '\n',
                escaped @ ('\\' | '"') => escaped,
                _ => return None,
            }),
            (_, other) => value.push(other),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

fn check_histogram(name: &str, samples: &[Sample]) {
    let mut series: BTreeMap<Labels, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        let mut labels = sample.labels.clone();
        labels.remove("le");
        series.entry(labels).or_default().push(sample);
    }
    for samples in series.values() {
        let [buckets @ .., sum, count] = samples.as_slice() else { panic!("{name} is too short") };
        assert_eq!((sum.name.as_str(), count.name.as_str()), (&*format!("{name}_sum"), &*format!("{name}_count")));
        let mut last = (f64::NEG_INFINITY, 0.0);
        for bucket in buckets {
            assert_eq!(bucket.name, format!("{name}_bucket"));
            let bound: f64 = bucket.labels["le"].parse().unwrap();
            assert!(bound > last.0 && bucket.value >= last.1, "{name} {bound}");
            last = (bound, bucket.value);
        }
        assert_eq!(last, (f64::INFINITY, count.value), "{name}");
    }
}
