//! Copies of texts, most of which are shorter than a call of the library's function is worth.

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
}
