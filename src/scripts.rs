//! The texts of the shipped tracing scripts and of `provider.d`.
//!
//! Each script exists in three languages with the same output. Its header says what it shows and how to run it by hand.
//!
//! ```
//! let script = dyntrace::scripts::find("efile_drv").unwrap();
//! assert!(script.bt.contains("efile_drv__entry"));
//! ```

/// One script in its three languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// Its name, such as `efile_drv`.
    pub name: &'static str,
    /// For DTrace.
    pub d: &'static str,
    /// For SystemTap; the path of the traced binary is its first parameter.
    pub stap: &'static str,
    /// For bpftrace; the path of the traced binary is its first parameter.
    pub bt: &'static str,
}

macro_rules! script {
    ($name:literal) => {
        Script {
            name: $name,
            d: include_str!(concat!("../d-scripts/", $name, ".d")),
            stap: include_str!(concat!("../stap-scripts/", $name, ".stp")),
            bt: include_str!(concat!("../bt-scripts/", $name, ".bt")),
        }
    };
}

/// Every shipped script.
pub const ALL: &[Script] = &[
    script!("aio_pool"),
    script!("blocking_pool"),
    script!("dist"),
    script!("efile_by_tag"),
    script!("efile_drv"),
    script!("efile_errors"),
    script!("efile_latency"),
    script!("message_latency"),
    script!("messages"),
    script!("process-scheduling"),
    script!("spawn-exit"),
    script!("task_latency"),
    script!("task_waits"),
    script!("user-probe"),
];

/// The definition of dyntrace's own probes: the text of `provider.d`.
pub const PROVIDER_D: &str = include_str!("../provider.d");

/// Returns the script of this name, if there is one.
pub fn find(name: &str) -> Option<&'static Script> {
    ALL.iter().find(|script| script.name == name)
}
