//! What stays of functions when their library is gone: events and counts have it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Function;
use crate::forks::hold_across_forks;

/// What is here stays as long as the program: each once, however often its library comes.
#[derive(Default)]
struct Kept {
    names: HashSet<&'static str>,
    functions: HashSet<&'static Function>,
}

static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Nothing panics under this lock. `std`'s always: models have sites of their own.
fn lock() -> MutexGuard<'static, Option<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forked children find the lock free. For who takes it under another one, before that is held.
pub(crate) fn prepare() {
    hold_across_forks!(Option<Kept>, lock());
}

/// The same one for each that is the same. An export is called by its module, which it does not know itself.
pub(crate) fn kept(function: &Function, module: Option<&str>) -> &'static Function {
    let mut kept = lock();
    let kept = kept.get_or_insert_default();
    let name = kept.name(match (module, function.exported()) {
        (Some(module), Some(name)) => Function::export(module, name).into(),
        _ => function.name.into(),
    });
    let same = Function { name, ..*function };
    if let Some(known) = kept.functions.get(&same) {
        return known;
    }
    let arguments = function.arguments.iter().map(|argument| leaked(argument)).collect();
    let new = Function::new(name, leaked(function.file), function.line, Vec::leak(arguments));
    let new: &'static Function = Box::leak(Box::new(new));
    kept.functions.insert(new);
    new
}

/// The same text, which stays.
pub(crate) fn kept_name(name: &str) -> &'static str {
    prepare();
    lock().get_or_insert_default().name(name.into())
}

impl Kept {
    fn name(&mut self, name: Cow<'_, str>) -> &'static str {
        self.names.get(&*name).copied().unwrap_or_else(|| {
            let name = leaked(&name);
            self.names.insert(name);
            name
        })
    }
}

fn leaked(text: &str) -> &'static str {
    Box::leak(Box::from(text))
}
