//! Processes: the part of the crate [dyntrace](https://docs.rs/dyntrace) that its other rooms stand on. Programs use `dyntrace`, which
//! has these modules and names.
#![cfg_attr(not(unix), allow(unused))]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the rooms of `dyntrace` are hidden, and explain themselves by their files"
)]
#![allow(clippy::new_without_default, reason = "they are statics of `dyntrace`")]

// Hidden ones are for the crate `dyntrace`. They may change at any time.
#[doc(hidden)]
pub mod environment;
#[doc(hidden)]
pub mod panic_text;
pub mod probes;
pub mod process;
#[doc(hidden)]
pub mod reentry;
#[doc(hidden)]
pub mod scope;
pub mod seq_trace;
#[doc(hidden)]
pub mod sequence;
pub mod tag;
pub mod task;
#[doc(hidden)]
pub mod task_table;
#[doc(hidden)]
pub mod unpark;
pub mod user_trace;
pub mod waiting;

/// A hash of the sources: copies of this crate with equal ones can share types.
#[cfg(feature = "modules")]
#[doc(hidden)]
pub const SOURCES: &str = env!("DYNTRACE_PROCESSES_SOURCES");

#[doc(no_inline)]
pub use dyntrace_probes::{include_provider, sdt};
#[doc(no_inline)]
pub use process::JoinSetExt;
#[doc(no_inline)]
pub use tag::{
    EnteredTag, Tag, TagError, Tagged, enter_tag, get_tag, get_tag_data, put_tag, restore_tag, spread_tag, take_tag,
    with_tag,
};
#[doc(no_inline)]
pub use task::{spawn, spawn_blocking, spawn_local};
#[doc(no_inline)]
pub use waiting::wait;
