use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use thread_local::ThreadLocal;

use super::description::TypeId;
use super::limits;

/// Answers about types. Each thread computes its own once: a lock that all share would take longer than most answers.
pub(crate) struct Answers<V: Send> {
    answers: ThreadLocal<RefCell<HashMap<TypeId, V, BuildHasherDefault<Offset>>>>,
}

/// The hash of a type's offset. A chain asks for dozens of types: the standard library's hash would take most of the time of each answer.
#[derive(Default)]
struct Offset(u64);

impl Hasher for Offset {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        // Fibonacci hashing. The map takes low bits, which are the best ones after the rotation.
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl<V: Send> Default for Answers<V> {
    fn default() -> Answers<V> {
        Answers { answers: ThreadLocal::new() }
    }
}

impl<V: Clone + Send> Answers<V> {
    /// Returns the answer about a type if there is one.
    pub fn known(&self, id: TypeId) -> Option<V> {
        self.answers.get_or_default().borrow().get(&id).cloned()
    }

    /// Returns the answer about a type, from `compute` if there is none yet.
    pub fn get(&self, id: TypeId, compute: impl FnOnce() -> V) -> V {
        if let Some(known) = self.known(id) {
            return known;
        }
        // not borrowed: `compute` asks for further types
        let answer = compute();
        let mut answers = self.answers.get_or_default().borrow_mut();
        if answers.len() < limits::TYPES_KEPT {
            answers.insert(id, answer.clone());
        }
        answer
    }
}
