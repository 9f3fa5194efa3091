//! The same source compiles with tokio's locks, channels, timers and tasks and with dyntrace's, and behaves the same. Channels of `mpsc` are in
//! `tests/mailbox/drop_in.rs`.

mod of_tokio {
    use tokio::{sync, task, time};

    include!("signatures.rs");
    include!("behaviour.rs");
    include!("rwlock.rs");
    include!("cells.rs");
    include!("channels.rs");
    include!("tasks.rs");
}

mod of_dyntrace {
    use dyntrace::{sync, task, time};

    include!("signatures.rs");
    include!("behaviour.rs");
    include!("rwlock.rs");
    include!("cells.rs");
    include!("channels.rs");
    include!("tasks.rs");
}

mod names;

/// Runs each of these with both.
macro_rules! alike {
    ($($test:ident)+) => { $(
        #[test]
        fn $test() {
            of_tokio::run(of_tokio::$test);
            of_dyntrace::run(of_dyntrace::$test);
        }
    )+ };
}

alike! {
    every_item_is_there
    a_mutex_serves_in_order
    a_guard_of_a_part_keeps_the_lock
    a_panic_in_map_frees_the_lock
    a_forgotten_guard_keeps_the_lock
    unsized_values_are_locked
    permits_are_merged_split_and_forgotten
    a_closed_semaphore_refuses
    waiting_threads_are_served
    blocking_in_a_task_panics
    notifications_are_kept_and_passed_on
    one_value_is_received_once
    texts_are_alike
    every_item_of_rwlock_is_there
    readers_share_and_writers_do_not
    a_writer_that_waits_is_not_overtaken
    guards_are_downgraded
    guards_of_parts_keep_the_lock
    a_panic_in_a_guards_function_frees_the_lock
    readers_have_a_limit
    threads_read_and_write
    every_item_of_the_cells_is_there
    a_barrier_opens_for_all_at_once
    one_task_makes_the_value
    the_next_task_makes_the_value_if_one_fails
    a_cell_whose_value_is_taken_receives_another
    all_that_wait_for_a_value_see_it
    texts_of_cells_are_alike
    every_item_of_watch_is_there
    every_item_of_broadcast_is_there
    a_receiver_sees_the_last_value
    a_receiver_waits_for_a_certain_value
    a_panic_in_send_modify_keeps_the_channel
    every_receiver_receives_every_value
    a_broadcast_ends_with_its_receivers
    texts_of_channels_are_alike
    a_task_that_never_waits_lets_others_run
    after_a_wait_for_its_turn_a_task_sees_the_end
    timers_are_reset_and_given_up
    every_item_of_a_handle_is_there
    an_aborted_task_drops_its_future
    a_panic_reaches_the_handle
    a_dropped_handle_leaves_its_task_running
    a_handle_keeps_the_value
    a_handle_is_awaited_by_reference
    closures_and_local_tasks_have_handles
    the_end_of_a_runtime_ends_its_tasks
    every_item_of_a_set_is_there
    a_set_joins_its_tasks_as_they_end
    a_set_tells_panics_and_aborts
    a_set_aborts_or_detaches_its_tasks
    a_set_has_local_tasks_and_those_of_other_runtimes
}
