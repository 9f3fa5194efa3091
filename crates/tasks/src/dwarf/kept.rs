use std::cell::RefCell;
use std::collections::HashMap;

use thread_local::ThreadLocal;

use super::limits;
use super::types::TypeId;

/// Answers about types. Each thread computes its own once: a lock that all share would take longer than most answers.
pub(crate) struct Kept<V: Send> {
    answers: ThreadLocal<RefCell<HashMap<TypeId, V>>>,
}

impl<V: Send> Default for Kept<V> {
    fn default() -> Kept<V> {
        Kept { answers: ThreadLocal::new() }
    }
}

impl<V: Clone + Send> Kept<V> {
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
