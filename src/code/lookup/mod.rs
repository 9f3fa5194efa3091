//! Look-ups in the tables: handles of exports, views, lists, addresses.

pub(crate) mod find;
pub(crate) mod handle;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod resolve;
pub(crate) mod signature;
pub(crate) mod view;
