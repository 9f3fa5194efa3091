//! The orders of clients.

use std::path::PathBuf;

use crate::recorder::control::protocol::Record;

/// An order of a client.
///
/// As a record: `do`, then one `file` for each file, or `module`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// List the versions.
    List,
    /// Return the history.
    History,
    /// Return the users of this module's old version.
    Check(String),
    /// Load these files, all or none. Their modules must have no current version.
    Load(Vec<PathBuf>),
    /// Load these files, all or none. Their modules must each have a current version.
    Upgrade(Vec<PathBuf>),
    /// Make the current version of this module old, and its exports missing.
    Delete(String),
    /// Purge the old version of this module as soon as it is not in use.
    Purge(String),
    /// Purge the old version of this module if it is not in use.
    SoftPurge(String),
}

impl Order {
    /// Encodes it as a record. Paths must be UTF-8.
    pub fn record(&self) -> Record {
        let order = |name: &str| Record::default().with("do", name);
        let files = |name, files: &[PathBuf]| {
            files.iter().fold(order(name), |record, file| record.with("file", file.display()))
        };
        match self {
            Order::List => order("list"),
            Order::History => order("history"),
            Order::Check(module) => order("check").with("module", module),
            Order::Load(paths) => files("load", paths),
            Order::Upgrade(paths) => files("upgrade", paths),
            Order::Delete(module) => order("delete").with("module", module),
            Order::Purge(module) => order("purge").with("module", module),
            Order::SoftPurge(module) => order("soft_purge").with("module", module),
        }
    }

    /// Decodes a record. The error is for the client.
    pub(super) fn read(record: &Record) -> Result<Order, String> {
        let what = record.get("do").unwrap_or_default();
        let module = || record.get("module").map(str::to_owned).ok_or(format!("{what}: of which module?"));
        let files = || match record.iter().filter(|(name, _)| *name == "file").map(|(_, file)| file.into()).collect() {
            files if Vec::is_empty(&files) => Err(format!("{what}: of which file?")),
            files => Ok(files),
        };
        Ok(match what {
            "list" => Order::List,
            "history" => Order::History,
            "check" => Order::Check(module()?),
            "load" => Order::Load(files()?),
            "upgrade" => Order::Upgrade(files()?),
            "delete" => Order::Delete(module()?),
            "purge" => Order::Purge(module()?),
            "soft_purge" => Order::SoftPurge(module()?),
            _ => return Err(format!("it cannot {what:?} code: use the dyntrace command of its version")),
        })
    }

    /// Whether it changes anything.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Order::List | Order::History | Order::Check(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back() {
        let (files, module) = (vec!["/srv/a b.so".into(), "/srv/\t.so".into()], "pricing".to_owned());
        for (order, changes) in [
            (Order::List, false),
            (Order::History, false),
            (Order::Check(module.clone()), false),
            (Order::Load(files.clone()), true),
            (Order::Upgrade(files), true),
            (Order::Delete(module.clone()), true),
            (Order::Purge(module.clone()), true),
            (Order::SoftPurge(module), true),
        ] {
            assert_eq!(Order::read(&order.record().to_string().parse().unwrap()), Ok(order.clone()));
            assert_eq!(order.changes(), changes);
        }
    }

    #[test]
    fn malformed_orders_are_refused() {
        for (text, why) in [
            ("do=load", "load: of which file?"),
            ("do=purge", "purge: of which module?"),
            ("do=melt", "it cannot \"melt\" code: use the dyntrace command of its version"),
            ("module=x", "it cannot \"\" code: use the dyntrace command of its version"),
        ] {
            assert_eq!(Order::read(&text.parse().unwrap()), Err(why.to_owned()));
        }
    }
}
