//! Interned functions and names: events and counts use them after their library is unloaded.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::hold_across_forks;

use super::Function;

/// All that was interned. It is never freed; a library that is loaded again adds nothing.
#[derive(Default)]
struct Interned {
    names: HashSet<&'static str>,
    functions: HashSet<&'static Function>,
}

static INTERNED: Mutex<Option<Interned>> = Mutex::new(None);

/// No code panics under this lock. Always `std`'s: models have sites of their own.
fn lock() -> MutexGuard<'static, Option<Interned>> {
    INTERNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forked children find the lock free. Callers that take it under another lock call this before.
pub(crate) fn prepare() {
    hold_across_forks!(Option<Interned>, lock());
}

/// Returns the interned copy of a function. An export gets the name of its `module`, which its site does not know.
pub(crate) fn intern(function: &Function, module: Option<&str>) -> &'static Function {
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

pub(crate) fn intern_name(name: &str) -> &'static str {
    prepare();
    lock().get_or_insert_default().name(name.into())
}

impl Interned {
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
