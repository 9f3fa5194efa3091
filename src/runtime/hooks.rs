//! tokio's hooks of tasks, in programs that are built with `tokio_unstable`.

use std::sync::Arc;

use tokio::runtime::TaskMeta;

use super::Builder;
use dyntrace_processes::process::RuntimeTasks;

/// A function that the runtime calls for a task.
type Callback = Arc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;

/// The functions of the user.
#[derive(Default)]
pub(super) struct Hooks {
    spawn: Option<Callback>,
    before_poll: Option<Callback>,
    after_poll: Option<Callback>,
    terminate: Option<Callback>,
}

impl Hooks {
    /// Has the next runtime of `tokio` tell of its tasks.
    pub(super) fn set(&self, tokio: &mut tokio::runtime::Builder) {
        let others = Arc::new(RuntimeTasks::new());
        tokio.on_task_spawn(with(&others, &self.spawn, |others, task| others.spawned(task.id(), task.spawned_at())));
        tokio.on_before_task_poll(with(&others, &self.before_poll, |others, task| others.scheduled(task.id())));
        tokio.on_after_task_poll(with(&others, &self.after_poll, |others, task| others.unscheduled(task.id())));
        tokio.on_task_terminate(with(&others, &self.terminate, |others, task| others.ended(task.id())));
    }
}

/// Removes the functions, which otherwise keep their runtime's tasks as long as the builder.
pub(super) fn unset(tokio: &mut tokio::runtime::Builder) {
    tokio.on_task_spawn(|_| ()).on_before_task_poll(|_| ()).on_after_task_poll(|_| ()).on_task_terminate(|_| ());
}

/// Calls `tell`, and then the function of the user.
fn with(
    others: &Arc<RuntimeTasks>,
    call: &Option<Callback>,
    tell: impl Fn(&RuntimeTasks, &TaskMeta<'_>) + Send + Sync + 'static,
) -> impl Fn(&TaskMeta<'_>) + Send + Sync + 'static {
    let (others, call) = (Arc::clone(others), call.clone());
    move |task| {
        tell(&others, task);
        if let Some(call) = &call {
            call(task);
        }
    }
}

/// In programs that are built with `tokio_unstable`.
impl Builder {
    /// Sets a function that the runtime calls for each task that is spawned.
    pub fn on_task_spawn(&mut self, call: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> &mut Builder {
        self.hooks.spawn = Some(Arc::new(call));
        self
    }

    /// Sets a function that the runtime calls before each poll of a task.
    pub fn on_before_task_poll(&mut self, call: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> &mut Builder {
        self.hooks.before_poll = Some(Arc::new(call));
        self
    }

    /// Sets a function that the runtime calls after each poll of a task.
    pub fn on_after_task_poll(&mut self, call: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> &mut Builder {
        self.hooks.after_poll = Some(Arc::new(call));
        self
    }

    /// Sets a function that the runtime calls for each task that has ended.
    pub fn on_task_terminate(&mut self, call: impl Fn(&TaskMeta<'_>) + Send + Sync + 'static) -> &mut Builder {
        self.hooks.terminate = Some(Arc::new(call));
        self
    }
}
