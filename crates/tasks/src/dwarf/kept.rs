use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use super::limits;
use super::types::TypeId;

/// Answers about types, computed once each.
pub(crate) struct Kept<V> {
    answers: RwLock<HashMap<TypeId, V>>,
}

impl<V> Default for Kept<V> {
    fn default() -> Kept<V> {
        Kept { answers: RwLock::default() }
    }
}

impl<V: Clone> Kept<V> {
    /// Returns the answer about a type if there is one.
    pub fn known(&self, id: TypeId) -> Option<V> {
        self.answers.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Returns the answer about a type, from `compute` if there is none yet.
    pub fn get(&self, id: TypeId, compute: impl FnOnce() -> V) -> V {
        if let Some(known) = self.known(id) {
            return known;
        }
        // computed without the lock: it asks for further types
        let answer = compute();
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        if answers.len() < limits::TYPES_KEPT {
            answers.insert(id, answer.clone());
        }
        answer
    }
}
