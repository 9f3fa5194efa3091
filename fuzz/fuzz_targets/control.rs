//! Any bytes that arrive at either end of a control socket are parsed or refused; a parsed message is written back unchanged:
//! `cargo +nightly fuzz run control`.
#![no_main]

use dyntrace::recorder::control::protocol::{self, Reply, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut arrived = bytes.to_vec();
    while let Ok(Some(message)) = protocol::take(&mut arrived) {
        understand(&message);
    }
    if let Ok(message) = str::from_utf8(bytes) {
        understand(message);
    }
});

fn understand(message: &str) {
    if let Ok(request) = message.parse::<Request>() {
        assert_eq!(request.to_string().parse(), Ok(request));
    }
    if let Ok(reply) = message.parse::<Reply>() {
        assert_eq!(reply.to_string().parse(), Ok(reply));
    }
}
