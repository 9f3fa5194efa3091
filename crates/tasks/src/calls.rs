//! Direct calls in machine code, without a disassembler: each place that could be one is tried, and only targets that
//! are known functions count.

use std::collections::HashSet;

use object::Architecture;

/// Returns the targets of possible direct calls and jumps in `code`, which is at `address`.
#[must_use]
pub fn targets(architecture: Architecture, address: u64, code: &[u8]) -> Vec<u64> {
    match architecture {
        Architecture::X86_64 => x86_64(address, code),
        Architecture::Aarch64 => aarch64(address, code),
        _ => Vec::new(),
    }
}

/// Returns possible direct calls and jumps to `wanted` in `code`: the address of each, and its target.
#[must_use]
pub fn to(architecture: Architecture, address: u64, code: &[u8], wanted: &HashSet<u64>) -> Vec<(u64, u64)> {
    let (step, length) = if architecture == Architecture::Aarch64 { (4, 4) } else { (1, 5) };
    let mut found = Vec::new();
    for at in (0..code.len()).step_by(step) {
        let Some(instruction) = code.get(at..at + length) else { break };
        // Most bytes begin no call, and this loop reads all code.
        if length == 5 && !matches!(instruction[0], 0xe8 | 0xe9) {
            continue;
        }
        let site = address.wrapping_add(at as u64);
        let target = targets(architecture, site, instruction).first().copied();
        found.extend(target.filter(|target| wanted.contains(target)).map(|target| (site, target)));
    }
    found
}

/// Returns the target of the direct jump at the beginning of `code`, which is at `address`: optimised code has functions that
/// are only a jump. `None` if it begins with another instruction.
#[must_use]
pub fn jump(architecture: Architecture, address: u64, code: &[u8]) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    let skipped = if code.starts_with(&ENDBR64) { ENDBR64.len() } else { 0 };
    let code = &code[skipped..];
    let address = address.wrapping_add(skipped as u64);
    let (length, is_jump) = match architecture {
        Architecture::X86_64 => (5, *code.first()? == 0xe9),
        // The highest bit is that of `bl`, a call.
        Architecture::Aarch64 => (4, *code.get(3)? & 0x80 == 0),
        _ => return None,
    };
    targets(architecture, address, code.get(..length)?).first().copied().filter(|_| is_jump)
}

/// `call` is E8, `jmp` E9, each with a distance from the next instruction.
fn x86_64(address: u64, code: &[u8]) -> Vec<u64> {
    let may_be = |(index, bytes): (usize, &[u8])| {
        let distance = i32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?);
        matches!(bytes[0], 0xe8 | 0xe9)
            .then(|| address.wrapping_add(index as u64 + 5).wrapping_add_signed(distance.into()))
    };
    code.windows(5).enumerate().filter_map(may_be).collect()
}

/// `b` and `bl`, each with a distance in instructions.
fn aarch64(address: u64, code: &[u8]) -> Vec<u64> {
    let may_be = |(index, bytes): (usize, &[u8])| {
        let instruction = u32::from_le_bytes(bytes.try_into().ok()?);
        let distance = i64::from(instruction.cast_signed() << 6 >> 6) * 4;
        (instruction & 0x7c00_0000 == 0x1400_0000)
            .then(|| address.wrapping_add(index as u64 * 4).wrapping_add_signed(distance))
    };
    code.chunks_exact(4).enumerate().filter_map(may_be).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn finds_calls_in_both_directions() {
        let code = [0x90, 0xe8, 0x10, 0, 0, 0, 0xe9, 0xf0, 0xff, 0xff, 0xff, 0xc3];
        assert_eq!(targets(Architecture::X86_64, 0x1000, &code), [0x1016, 0xffb]);
        assert_eq!(to(Architecture::X86_64, 0x1000, &code, &HashSet::from([0xffb, 0x1000])), [(0x1006, 0xffb)]);
        // nop; bl +8; b -4
        let code = [0x1f, 0x20, 0x03, 0xd5, 2, 0, 0, 0x94, 0xff, 0xff, 0xff, 0x17];
        assert_eq!(targets(Architecture::Aarch64, 0x1000, &code), [0x100c, 0x1004]);
        assert_eq!(to(Architecture::Aarch64, 0x1000, &code, &HashSet::from([0x100c])), [(0x1004, 0x100c)]);
    }

    #[test]
    fn finds_functions_that_are_only_a_jump() {
        assert_eq!(jump(Architecture::X86_64, 0x1000, &[0xe9, 0x10, 0, 0, 0, 0xcc]), Some(0x1015));
        assert_eq!(jump(Architecture::X86_64, 0x1000, &[0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x10, 0, 0, 0]), Some(0x1019));
        assert_eq!(jump(Architecture::X86_64, 0x1000, &[0xe8, 0x10, 0, 0, 0]), None);
        assert_eq!(jump(Architecture::Aarch64, 0x1000, &[2, 0, 0, 0x14]), Some(0x1008));
        assert_eq!(jump(Architecture::Aarch64, 0x1000, &[2, 0, 0, 0x94]), None);
    }

    proptest! {
        #[test]
        fn never_panics(address: u64, code: Vec<u8>) {
            let _ = jump(Architecture::X86_64, address, &code);
            let _ = jump(Architecture::Aarch64, address, &code);
            let _ = targets(Architecture::X86_64, address, &code);
            let _ = targets(Architecture::Aarch64, address, &code);
            let _ = targets(Architecture::Riscv64, address, &code);
            let _ = to(Architecture::X86_64, address, &code, &HashSet::from([address]));
        }
    }
}
