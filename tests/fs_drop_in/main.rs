//! The same source compiles with `tokio::fs` and `dyntrace::fs`, and behaves the same.

/// The source with tokio's files: checks that `of_dyntrace` expects tokio's behaviour.
mod of_tokio {
    use tokio::fs;

    include!("signatures.rs");
    include!("behaviour.rs");
    include!("arguments.rs");
    include!("outcomes.rs");
    include!("unseekable.rs");
}

mod of_dyntrace {
    use dyntrace::fs;

    include!("signatures.rs");
    include!("behaviour.rs");
    include!("arguments.rs");
    include!("outcomes.rs");
    include!("unseekable.rs");
}

mod lifetimes;
#[path = "../common/missing.rs"]
mod missing;
mod names;
mod streams_alike;
mod tables;

/// Runs each of these with both, on a runtime of each kind.
macro_rules! alike {
    ($($test:ident)+) => { $(
        mod $test {
            use crate::{of_dyntrace, of_tokio};

            #[test]
            fn tokio_on_one_thread() {
                of_tokio::run(tokio::runtime::Builder::new_current_thread(), of_tokio::$test);
            }

            #[test]
            fn tokio_on_many_threads() {
                of_tokio::run(tokio::runtime::Builder::new_multi_thread(), of_tokio::$test);
            }

            #[test]
            fn dyntrace_on_one_thread() {
                of_dyntrace::run(tokio::runtime::Builder::new_current_thread(), of_dyntrace::$test);
            }

            #[test]
            fn dyntrace_on_many_threads() {
                of_dyntrace::run(tokio::runtime::Builder::new_multi_thread(), of_dyntrace::$test);
            }
        }
    )+ };
}

alike! {
    every_item_is_there
    seeks_go_where_the_caller_is
    written_bytes_are_read_without_a_flush
    a_dropped_file_has_its_write
    a_write_error_comes_with_the_next_flush
    a_read_only_file_tells_of_a_write
    appending_is_at_the_end
    a_copy_through_two_files
    read_buf_fills_what_there_is_room_for
    the_length_is_set_under_a_buffer
    a_clone_shares_the_cursor
    std_goes_on_after_outstanding_writes
    a_file_in_use_does_not_become_stds
    a_file_is_stds_as_soon_as_its_operation_is_answered
    a_seek_waits_for_its_turn
    vectored_writes_go_as_one
    the_buffer_has_the_size_that_is_set
    times_are_set
    options_of_std_open
    directories_are_made_and_listed
    errors_are_alike
    a_read_that_is_given_up_is_not_lost
    a_threads_destructors_use_files
}
