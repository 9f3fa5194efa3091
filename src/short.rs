//! Texts, most of which are shorter than a call of the library's functions is worth, or a loop.

/// Copies bytes.
///
/// # Safety
///
/// There are `from.len()` bytes at `to`, outside of `from`.
#[inline(always)]
pub(crate) unsafe fn copy(from: &[u8], to: *mut u8) {
    let (length, from) = (from.len(), from.as_ptr());
    // SAFETY: each word is no longer than `length`, or the bytes are taken one by one.
    unsafe {
        match length {
            0 => {}
            1..4 => {
                to.write(from.read());
                to.add(length / 2).write(from.add(length / 2).read());
                to.add(length - 1).write(from.add(length - 1).read());
            }
            4..8 => ends::<u32>(from, to, length),
            8..=16 => ends::<u64>(from, to, length),
            17..=32 => ends::<u128>(from, to, length),
            33..=64 => ends::<[u128; 2]>(from, to, length),
            _ => to.copy_from_nonoverlapping(from, length),
        }
    }
}

/// Copies the first word and the last one: all there is, if they meet or overlap.
///
/// # Safety
///
/// A word has at most `length` bytes, which there are at `from` and, outside of them, at `to`.
#[inline(always)]
unsafe fn ends<Word: Copy>(from: *const u8, to: *mut u8, length: usize) {
    let last = length - size_of::<Word>();
    // SAFETY: both words lie within `length`.
    unsafe {
        let (head, tail) = (from.cast::<Word>().read_unaligned(), from.add(last).cast::<Word>().read_unaligned());
        to.cast::<Word>().write_unaligned(head);
        to.add(last).cast::<Word>().write_unaligned(tail);
    }
}

/// Whether there is a NUL.
#[inline(always)]
pub(crate) fn has_nul(bytes: &[u8]) -> bool {
    let (length, first) = (bytes.len(), bytes.as_ptr());
    // SAFETY: no more is read than the length that is asked for.
    let word = |at: usize| unsafe { first.add(at).cast::<u64>().read_unaligned() };
    match length {
        0..8 => bytes.contains(&0),
        8..=16 => zeros(word(0)) | zeros(word(length - 8)) != 0,
        17..=32 => zeros(word(0)) | zeros(word(8)) | zeros(word(length - 16)) | zeros(word(length - 8)) != 0,
        _ => long_has_nul(bytes),
    }
}

#[inline(never)]
fn long_has_nul(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    words.iter().fold(0, |found, word| found | zeros(u64::from_ne_bytes(*word))) != 0 || rest.contains(&0)
}

/// The highest bit of a byte is set if it was 0; and, after one that was, perhaps if it was 1.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_and_no_others_are_touched() {
        let from: Vec<u8> = (1..=100).collect();
        for length in 0..from.len() {
            let mut to = vec![0; length + 1];
            // SAFETY: there is room for `length` bytes in another place.
            unsafe { copy(&from[..length], to.as_mut_ptr()) };
            assert_eq!((&to[..length], to[length]), (&from[..length], 0));
        }
    }

    #[test]
    fn a_nul_is_found_wherever_it_is() {
        for length in 0..40 {
            for others in [0x01, 0x80, 0xff] {
                let mut text = vec![others; length];
                assert!(!has_nul(&text));
                for at in 0..length {
                    text[at] = 0;
                    assert!(has_nul(&text), "at {at} of {length}");
                    text[at] = others;
                }
            }
        }
    }
}
