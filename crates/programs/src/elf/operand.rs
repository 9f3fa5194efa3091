//! An argument of a note, such as `-4@%eax`: size and sign, then the place of the value.

/// The place of the value when the site is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandPlace {
    Register,
    /// In memory, at an offset from a register.
    Offset,
    /// Anywhere else in memory.
    Memory,
    Constant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub text: String,
    /// In bytes, if given.
    pub size: Option<u8>,
    pub is_signed: bool,
    pub is_float: bool,
    pub place: OperandPlace,
}

impl Operand {
    pub fn c_type(&self) -> String {
        match (self.size, self.is_float, self.is_signed) {
            (None, ..) => "unknown".to_owned(),
            (Some(4), true, _) => "float".to_owned(),
            (Some(8), true, _) => "double".to_owned(),
            (Some(size), _, true) => format!("int{}_t", u32::from(size) * 8),
            (Some(size), _, false) => format!("uint{}_t", u32::from(size) * 8),
        }
    }

    fn parse(text: &str) -> Operand {
        let (shape, place) = text.split_once('@').unwrap_or(("", text));
        let (shape, is_float) = shape.strip_suffix('f').map_or((shape, false), |shape| (shape, true));
        let (digits, is_signed) = shape.strip_prefix('-').map_or((shape, false), |digits| (digits, true));
        let place = if is_offset(place) {
            OperandPlace::Offset
        } else if place.contains(['(', '[']) {
            OperandPlace::Memory
        } else if place.starts_with(['$', '#', '-', '+']) || place.starts_with(|c: char| c.is_ascii_digit()) {
            OperandPlace::Constant
        } else if place.starts_with('%') || is_aarch64_register(place) {
            OperandPlace::Register
        } else {
            // The name of a variable.
            OperandPlace::Memory
        };
        Operand { text: text.to_owned(), size: digits.parse().ok(), is_signed, is_float, place }
    }
}

/// `(%eax)`, `8(%rbp)`: no index, and no negative offset.
fn is_offset(place: &str) -> bool {
    let Some((offset, register)) = place.strip_suffix(')').and_then(|place| place.split_once("(%")) else {
        return false;
    };
    (offset.is_empty() || offset.parse::<u32>().is_ok()) && !register.contains(',')
}

fn is_aarch64_register(place: &str) -> bool {
    place == "sp"
        || place.strip_prefix(['x', 'w']).is_some_and(|number| number.parse::<u8>().is_ok_and(|number| number < 32))
}

/// Parses the arguments of a note, which blanks separate. Some, like `[sp, 8]`, have blanks inside.
pub fn parse_all(text: &str) -> Vec<Operand> {
    let mut depth = 0_u32;
    text.split(|c: char| {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    })
    .filter(|operand| !operand.is_empty())
    .map(Operand::parse)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Operand {
        let mut all = parse_all(text);
        assert_eq!(all.len(), 1, "{text}");
        all.remove(0)
    }

    #[test]
    fn size_sign_and_place() {
        let operand = one("-4@%eax");
        assert_eq!((operand.size, operand.is_signed, operand.place), (Some(4), true, OperandPlace::Register));
        assert_eq!(operand.c_type(), "int32_t");
        assert_eq!(one("8@%rdi").c_type(), "uint64_t");
        assert_eq!(one("8f@%xmm0").c_type(), "double");
        assert_eq!(one("-8@$-9").place, OperandPlace::Constant);
        assert_eq!(one("-8@8(%rax,%rcx,8)").place, OperandPlace::Memory);
        assert_eq!(one("-4@-8(%ebp)").place, OperandPlace::Memory);
        assert_eq!(one("-8@48(%eax)").place, OperandPlace::Offset);
        assert_eq!(one("4@(%edx)").place, OperandPlace::Offset);
        assert_eq!(one("8@x19").place, OperandPlace::Register);
        assert_eq!(one("%rax").c_type(), "unknown");
    }

    #[test]
    fn blanks_inside_an_operand_do_not_split_it() {
        let texts: Vec<String> = parse_all("8@x0  -4@[sp, 12] 4@w3").into_iter().map(|operand| operand.text).collect();
        assert_eq!(texts, ["8@x0", "-4@[sp, 12]", "4@w3"]);
    }
}
