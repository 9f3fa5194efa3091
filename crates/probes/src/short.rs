//! Copies and searches short texts in place: for a few bytes a call of the C library, or a loop, costs more than the work.

/// Copies bytes.
///
/// # Safety
///
/// `to` is valid for writes of `from.len()` bytes, which do not overlap `from`.
#[inline(always)]
pub unsafe fn copy(from: &[u8], to: *mut u8) {
    let (length, from) = (from.len(), from.as_ptr());
    // SAFETY: no word is longer than `length`; otherwise bytes are copied one by one.
    unsafe {
        // In halves: strings of 16 to 32 bytes, as many are, take two comparisons.
        if length >= 16 {
            match length {
                ..=32 => ends::<u128>(from, to, length),
                33..=64 => ends::<[u128; 2]>(from, to, length),
                _ => to.copy_from_nonoverlapping(from, length),
            }
        } else if length >= 8 {
            ends::<u64>(from, to, length);
        } else if length >= 4 {
            ends::<u32>(from, to, length);
        } else if length > 0 {
            to.write(from.read());
            to.add(length / 2).write(from.add(length / 2).read());
            to.add(length - 1).write(from.add(length - 1).read());
        }
    }
}

/// Copies the first and the last word. If they meet or overlap, these are all bytes.
///
/// # Safety
///
/// A word has at most `length` bytes. `from` is valid for reads and `to` for writes of `length` bytes, and they do not overlap.
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

/// Whether they are at most `most` bytes, without a NUL. `most`: at least 32, so that short ones need no look at it.
#[inline(always)]
pub fn is_plain(bytes: &[u8], most: usize) -> bool {
    let (length, first) = (bytes.len(), bytes.as_ptr());
    // SAFETY: the reads below lie within `length`.
    let half = |at: usize| u64::from(unsafe { first.add(at).cast::<u32>().read_unaligned() });
    debug_assert!(most >= 32);
    if length >= 16 {
        if length <= 32 { !ends_have_nul::<16>(bytes) } else { length <= most && !long_has_nul(bytes) }
    } else if length >= 8 {
        !ends_have_nul::<8>(bytes)
    } else if length >= 4 {
        zeros(half(0) | half(length - 4) << 32) == 0
    } else {
        !bytes.contains(&0)
    }
}

/// Whether a NUL is among the first or the last bytes. The compiler compares all of them at once.
#[inline(always)]
fn ends_have_nul<const NUMBER: usize>(bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<NUMBER>(), bytes.last_chunk::<NUMBER>()) else { return false };
    first.iter().zip(last).fold(false, |found, (one, other)| found | (*one.min(other) == 0))
}

#[inline(never)]
fn long_has_nul(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    words.iter().fold(0, |found, word| found | zeros(u64::from_ne_bytes(*word))) != 0 || rest.contains(&0)
}

/// Sets the highest bit of each byte that is 0. May also set it in bytes of 1 behind a byte of 0.
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
        assert!(!is_plain(&[1; 41], 40));
        for length in 0..=40 {
            for others in [0x01, 0x80, 0xff] {
                let mut text = vec![others; length];
                assert!(is_plain(&text, 40));
                for at in 0..length {
                    text[at] = 0;
                    assert!(!is_plain(&text, 40), "at {at} of {length}");
                    text[at] = others;
                }
            }
        }
    }
}
