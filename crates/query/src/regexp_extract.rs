//! The SQL function `regexp_extract`, which DuckDB and Spark have, and the engine lacks.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray as _, StringArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use regex::Regex;

/// Returns the function `regexp_extract(text, pattern, group)`: the group of the first match, by its number; an empty text if nothing
/// matches, and null if an argument is null.
pub fn regexp_extract() -> ScalarUDF {
    let arguments = vec![DataType::Utf8, DataType::Utf8, DataType::Int64];
    create_udf("regexp_extract", arguments, DataType::Utf8, Volatility::Immutable, Arc::new(extract))
}

fn extract(arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(arguments)?;
    let (texts, patterns) = (arrays[0].as_string::<i32>(), arrays[1].as_string::<i32>());
    let groups = arrays[2].as_primitive::<Int64Type>();
    // Mostly all rows have one pattern.
    let mut last: Option<(&str, Regex)> = None;
    let extracted = texts.iter().zip(patterns).zip(groups).map(|((text, pattern), group)| {
        let (Some(text), Some(pattern), Some(group)) = (text, pattern, group) else { return Ok(None) };
        let regex = match last.take() {
            Some((known, regex)) if known == pattern => regex,
            _ => Regex::new(pattern).map_err(|error| exec_datafusion_err!("regexp_extract: {error}"))?,
        };
        let found = group_of(&regex, text, group);
        last = Some((pattern, regex));
        found.map(Some)
    });
    let extracted: StringArray = extracted.collect::<Result<_>>()?;
    Ok(ColumnarValue::Array(Arc::new(extracted)))
}

fn group_of<'t>(regex: &Regex, text: &'t str, group: i64) -> Result<&'t str> {
    let groups = regex.captures_len() - 1;
    let number = usize::try_from(group).ok().filter(|number| *number <= groups);
    let number = number.ok_or_else(|| exec_datafusion_err!("regexp_extract: there is no group {group} in {regex}"))?;
    Ok(regex.captures(text).and_then(|found| found.get(number)).map_or("", |found| found.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_number_as_duckdb_has_them() {
        let regex = Regex::new("^/[^/]*(/[^/]*)?").unwrap();
        assert_eq!(group_of(&regex, "/tmp/a/b", 0).unwrap(), "/tmp/a");
        assert_eq!(group_of(&regex, "/tmp/a/b", 1).unwrap(), "/a");
        assert_eq!(group_of(&regex, "/tmp", 1).unwrap(), "");
        assert_eq!(group_of(&regex, "tmp", 0).unwrap(), "");
        assert!(group_of(&regex, "/tmp", 2).is_err());
        assert!(group_of(&regex, "/tmp", -1).is_err());
    }
}
