//! Names of nodes. Nodes with short names and nodes with long names cannot talk to each other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use erl_dist::node::NodeName;

use super::error::Error;

/// The host of a long name (`-name`) has a dot or a colon, as in Erlang.
fn is_long(host: &str) -> bool {
    host.contains(['.', ':'])
}

/// The name of this node. Without a host it is a short name (`-sname`), with the host name of this machine without its domain.
pub(super) fn own(name: &str) -> Result<NodeName, Error> {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let whole = match name.contains('@') {
        true => name.to_owned(),
        false => format!("{name}@{}", host.split('.').next().unwrap_or("localhost")),
    };
    parse(&whole, "a node")
}

/// The name of a node that `own` talks to.
pub(super) fn of_peer(name: &str, own: &NodeName) -> Result<NodeName, Error> {
    let peer = parse(name, "a node")?;
    if is_long(peer.host()) != is_long(own.host()) {
        let (ours, way) = if is_long(own.host()) { ("long", "-name") } else { ("short", "-sname") };
        let reason = format!("this node, {own}, has a {ours} name, and talks to those only that have one, too ({way})");
        return Err(Error::Name { name: name.to_owned(), what: "a peer", reason });
    }
    if peer == *own {
        let reason = "it is this node itself; its mailboxes are at hand without it".to_owned();
        return Err(Error::Name { name: name.to_owned(), what: "a peer", reason });
    }
    Ok(peer)
}

fn parse(name: &str, what: &'static str) -> Result<NodeName, Error> {
    let refused = |reason: String| Error::Name { name: name.to_owned(), what, reason };
    let parsed: NodeName = name.parse().map_err(|reason| refused(format!("{reason}")))?;
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !parsed.name().bytes().all(of_name) {
        return Err(refused("before the @ it has letters, digits, _ and - only".to_owned()));
    }
    if !parsed.host().bytes().all(|byte| of_name(byte) || byte == b'.' || byte == b':') {
        return Err(refused("behind the @ is a host's name or address".to_owned()));
    }
    Ok(parsed)
}

/// The default address at which a node of this name listens.
pub(super) fn listen_address(name: &NodeName) -> IpAddr {
    match name.host().parse::<IpAddr>() {
        Ok(address) => address,
        Err(_) if name.host() == "localhost" => Ipv4Addr::LOCALHOST.into(),
        Err(_) => Ipv4Addr::UNSPECIFIED.into(),
    }
}

/// The address of epmd on this host.
pub(super) fn own_epmd(listen: IpAddr) -> IpAddr {
    match listen {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_host_gets_this_machines() {
        let name = own("worker").unwrap();
        assert_eq!(name.name(), "worker");
        assert!(!name.host().contains('.'));
    }

    #[test]
    fn short_and_long_names_do_not_meet() {
        let long = own("worker@127.0.0.1").unwrap();
        let short = own("worker@localhost").unwrap();
        assert!(of_peer("erl@127.0.0.1", &long).is_ok());
        assert!(of_peer("erl@localhost", &short).is_ok());
        assert!(of_peer("erl@localhost", &long).unwrap_err().to_string().contains("-name"));
        assert!(of_peer("erl@127.0.0.1", &short).unwrap_err().to_string().contains("-sname"));
    }

    #[test]
    fn malformed_names_are_refused() {
        for name in ["", "@", "a@", "@b", "a b@c", "a@b/c", "a@b@c", &"x".repeat(300)] {
            assert!(own(name).is_err(), "{name:?}");
        }
        let own = own("worker@localhost").unwrap();
        assert!(of_peer("worker@localhost", &own).is_err(), "itself");
        assert!(of_peer("worker", &own).is_err(), "a peer has a host");
    }
}
