//! Everything that the reader says of the example `dyntrace_sockets`, which uses dyntrace's sockets, is true.

mod program;

use dyntrace_tasks::listing::{Ready, WaitsFor};
use program::{Program, leaves, roots};

#[test]
fn sockets_of_dyntrace_are_true() {
    let program = Program::run("dyntrace_sockets");
    let roots = roots(&program);
    let sockets = |name: &str| -> Vec<(String, Option<Ready>)> {
        let socket = |leaf: &WaitsFor| match leaf {
            WaitsFor::Descriptor { describes: Some(text), ready, .. } => (text.clone(), *ready),
            other => panic!("{name} waits for {other:?}"),
        };
        leaves(&roots[name]).into_iter().map(socket).collect()
    };
    let printed = |name: &str| {
        let start = format!("between {name} ");
        let protocol = if name == "receives" { "udp" } else { "tcp" };
        let line = program.lines.iter().find_map(|line| line.strip_prefix(&start));
        format!("{protocol} {}", line.unwrap())
    };
    let (readable, writable) = (Some(Ready::Readable), Some(Ready::Writable));
    for (name, ready) in [
        ("accepts", readable),
        ("receives", readable),
        ("reads", readable),
        ("peeks", readable),
        ("is_readable", readable),
        ("writes", writable),
        ("by_hand", readable),
    ] {
        assert_eq!(sockets(name), [(printed(name), ready)], "{name}");
    }
    for name in ["halves", "owned_halves"] {
        assert_eq!(sockets(name), [(printed(name), readable), (printed(name), writable)], "{name}");
    }
    assert_eq!(sockets("reads_unix"), [("unix socket without a path".to_owned(), readable)]);
}
