//! Doc comments of D: their text, and the descriptions of parameters.

/// A parsed doc comment.
pub(crate) struct Doc {
    text: Vec<String>,
    parameters: Vec<(String, String)>,
}

/// Parses a comment with its `/**` and `*/`, or an empty string.
///
/// `@param name text` goes on until an empty line or the next `@`.
pub(crate) fn of(comment: &str) -> Doc {
    let mut doc = Doc { text: Vec::new(), parameters: Vec::new() };
    let mut in_parameter = false;
    let inner = comment.trim_start_matches("/**").trim_end_matches("*/");
    for line in inner.lines() {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line).trim();
        if let Some(parameter) = line.strip_prefix("@param ") {
            let (name, meaning) = parameter.trim().split_once(char::is_whitespace).unwrap_or((parameter.trim(), ""));
            doc.parameters.push((name.to_owned(), meaning.trim().to_owned()));
            in_parameter = true;
        } else if in_parameter && !line.is_empty() && !line.starts_with('@') {
            if let Some((_, meaning)) = doc.parameters.last_mut() {
                meaning.push(' ');
                meaning.push_str(line);
            }
        } else {
            in_parameter = false;
            doc.text.push(line.to_owned());
        }
    }
    doc
}

impl Doc {
    /// Removes and returns the description of the parameter `name`.
    pub fn take_parameter(&mut self, name: &str) -> String {
        match self.parameters.iter().position(|(documented, _)| documented == name) {
            Some(place) => self.parameters.remove(place).1,
            None => String::new(),
        }
    }

    /// Returns the text, followed by a list of descriptions whose parameters do not exist, so that none is lost.
    pub fn rest(self) -> String {
        let mut text = self.text.join("\n").trim().to_owned();
        if !text.is_empty() && !self.parameters.is_empty() {
            text.push('\n');
        }
        for (name, meaning) in self.parameters {
            text.push_str(&format!("\n- `{name}`: {meaning}"));
        }
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_parameters() {
        let mut doc = of(
            "/**\n   * One.\n   *\n   * Two\n   * three.\n   *\n   * @param a the a,\n   *   more\n   * @param b\n   */",
        );
        assert_eq!(doc.take_parameter("a"), "the a, more");
        assert_eq!(doc.take_parameter("a"), "");
        assert_eq!(doc.take_parameter("b"), "");
        assert_eq!(doc.rest(), "One.\n\nTwo\nthree.");
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(of("/** One. @ two\n@param x gone\n\n@see y */").rest(), "One. @ two\n\n@see y\n\n- `x`: gone");
        assert_eq!(of("").rest(), "");
        assert_eq!(of("/***/").rest(), "");
    }
}
