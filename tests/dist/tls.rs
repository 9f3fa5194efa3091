//! The distribution under TLS: `-proto_dist inet_tls`, certificates checked on both sides.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use dyntrace::dist::{Error, Node, Options, Received, Tls, term};

use crate::cuts::cut_every;
use crate::erl::{COOKIE, World, ask, connected};
use crate::world;

/// Authorities and certificates, made by `openssl`.
struct Certificates {
    directory: tempfile::TempDir,
}

impl Certificates {
    /// The authorities `ours` and `theirs`.
    fn new() -> Certificates {
        let certificates = Certificates { directory: tempfile::tempdir().unwrap() };
        for authority in ["ours", "theirs"] {
            let subject = format!("/CN={authority}");
            certificates.openssl(&[
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                &subject,
                "-addext",
                "basicConstraints=critical,CA:TRUE",
                "-addext",
                "keyUsage=critical,keyCertSign",
                "-keyout",
                &format!("{authority}.key"),
                "-out",
                &format!("{authority}.pem"),
            ]);
        }
        certificates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let mut openssl = Command::new("openssl");
        openssl.args(arguments).current_dir(self.directory.path()).stdin(Stdio::null());
        let output = openssl.output().expect("openssl, which makes the certificates");
        assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Creates a certificate of an authority for an address, also as a name, as Erlang requires.
    fn issue(&self, authority: &str, name: &str, host: &str) {
        let [key, request, certificate, extensions] =
            ["key", "csr", "pem", "ext"].map(|extension| format!("{name}.{extension}"));
        std::fs::write(self.path(&extensions), format!("subjectAltName=IP:{host},DNS:{host}\n")).unwrap();
        let subject = format!("/CN={name}");
        self.openssl(&["req", "-newkey", "rsa:2048", "-nodes", "-subj", &subject, "-keyout", &key, "-out", &request]);
        let (ca, ca_key) = (format!("{authority}.pem"), format!("{authority}.key"));
        self.openssl(&[
            "x509", "-req", "-in", &request, "-CA", &ca, "-CAkey", &ca_key, "-CAcreateserial", "-days", "2",
            "-extfile", &extensions, "-out", &certificate,
        ]);
    }

    /// Returns the TLS settings of a dyntrace node with the certificate `name` that trusts `authority`.
    fn tls(&self, name: &str, authority: &str) -> Tls {
        let [certificate, key] = ["pem", "key"].map(|extension| self.path(&format!("{name}.{extension}")));
        Tls::from_pem(certificate, key, self.path(&format!("{authority}.pem"))).unwrap()
    }

    /// Returns the arguments of an Erlang node with the same settings.
    fn erl(&self, name: &str, authority: &str) -> Vec<String> {
        let file = |name: &str, extension: &str| self.path(&format!("{name}.{extension}")).display().to_string();
        let side = |side: &str| {
            let mut options =
                ["certfile", "keyfile", "cacertfile", "verify"].map(|option| format!("{side}_{option}")).to_vec();
            for (at, value) in [file(name, "pem"), file(name, "key"), file(authority, "pem"), "verify_peer".to_owned()]
                .into_iter()
                .enumerate()
            {
                options.insert(2 * at + 1, value);
            }
            options
        };
        let setup = SETUP.as_secs().to_string();
        let mut arguments = ["-kernel", "net_setuptime", &setup, "-proto_dist", "inet_tls", "-ssl_dist_opt"]
            .map(str::to_owned)
            .to_vec();
        arguments.extend(side("server"));
        arguments.extend(["server_fail_if_no_peer_cert", "true"].map(str::to_owned));
        arguments.extend(side("client"));
        arguments
    }
}

/// The timeout of a connection, for both sides, on a busy machine.
const SETUP: Duration = Duration::from_secs(60);

fn node(world: &World, name: &str, tls: Tls) -> Node {
    Node::start_with(name, COOKIE, Options { tls: Some(tls), setup_time: SETUP, ..world.options() }).unwrap()
}

/// Waits until the node exists, and returns the error of connecting to it.
async fn refused(node: &Node, peer: &str) -> Error {
    loop {
        match node.connect(peer).await {
            Err(Error::NoSuchNode { .. } | Error::Unreachable { .. }) => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(error) => return error,
            Ok(()) => panic!("{peer} let it connect"),
        }
    }
}

#[tokio::test]
async fn a_real_node_and_ours_talk_both_ways() {
    let mut world = world!();
    let certificates = Certificates::new();
    certificates.issue("ours", "node", "127.0.0.1");
    certificates.issue("ours", "erl", "127.0.0.1");
    let node = node(&world, "worker@127.0.0.1", certificates.tls("node", "ours"));
    let mut inbox = node.register("worker").unwrap();

    // The Erlang node dials.
    world.erl_over(
        "-name",
        "dials@127.0.0.1",
        &certificates.erl("erl", "ours"),
        &["dial", "worker@127.0.0.1", "worker"],
    );
    let hello = tokio::time::timeout(2 * SETUP, inbox.recv_message()).await.expect("it dials");
    assert!(hello.term.to_string().contains("hello"), "{}", hello.term);
    inbox.send(hello.sender.as_ref().expect("who sent it"), term!(welcome)).await.unwrap();

    // This node dials, and sends messages of all sizes, also larger than TLS records.
    world.erl_over("-name", "erl@127.0.0.1", &certificates.erl("erl", "ours"), &[]);
    connected(&node, "erl@127.0.0.1").await;
    for size in [0, 1, 16_384, 3_000_000] {
        let bytes = vec![7u8; size];
        let answer = ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!((bytes.clone()))]).await;
        assert_eq!(answer.term, term!({echo, (bytes)}));
    }
    let mut nodes = node.nodes();
    nodes.sort();
    assert_eq!(nodes, ["dials@127.0.0.1", "erl@127.0.0.1"]);

    // A killed node is also reported as lost.
    world.kill_last();
    let lost = async {
        while node.nodes().len() > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SETUP, lost).await.expect("the node is lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_of_others_are_refused_on_both_sides() {
    let mut world = world!();
    let certificates = Certificates::new();
    certificates.issue("ours", "node", "127.0.0.1");
    certificates.issue("ours", "elsewhere", "127.0.0.2");
    certificates.issue("theirs", "stranger", "127.0.0.1");
    let node = node(&world, "worker@127.0.0.1", certificates.tls("node", "ours"));
    let mut inbox = node.register("worker").unwrap();
    let dial = ["dial", "worker@127.0.0.1", "worker"];

    // Connections to an Erlang node with a certificate of another authority, or for another host, fail.
    for (name, certificate) in [("stranger@127.0.0.1", "stranger"), ("elsewhere@127.0.0.1", "elsewhere")] {
        let arguments = certificates.erl(certificate, "ours");
        world.erl_over("-name", name, &arguments, if certificate == "stranger" { &dial } else { &[] });
        let error = refused(&node, name).await;
        assert!(matches!(&error, Error::Tls { .. }), "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    // A node without TLS: each waits for the other.
    world.erl("-name", "plain@127.0.0.1", &[]);
    let tls = Some(certificates.tls("node", "ours"));
    let options = Options { tls, setup_time: Duration::from_secs(1), ..world.options() };
    let impatient = Node::start_with("impatient@127.0.0.1", COOKIE, options).unwrap();
    let error = refused(&impatient, "plain@127.0.0.1").await;
    assert!(matches!(&error, Error::Tls { .. } | Error::TooSlow { .. }), "{error}");

    // An Erlang node that trusts another authority refuses our connection.
    world.erl_over("-name", "other@127.0.0.1", &certificates.erl("node", "theirs"), &[]);
    let error = refused(&node, "other@127.0.0.1").await;
    assert!(matches!(&error, Error::Tls { .. } | Error::Handshake { .. }), "{error}");

    // The stranger has dialled, too; none of its messages arrived.
    world.erl_over("-name", "erl@127.0.0.1", &certificates.erl("node", "ours"), &[]);
    connected(&node, "erl@127.0.0.1").await;
    assert_eq!(node.nodes(), ["erl@127.0.0.1"]);
    assert_eq!(ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!(1)]).await.term, term!({echo, 1}));
}

#[tokio::test]
async fn two_of_ours_and_one_without_a_certificate_that_is_believed() {
    let world = world!();
    let certificates = Certificates::new();
    certificates.issue("ours", "node", "127.0.0.1");
    certificates.issue("theirs", "stranger", "127.0.0.1");
    let [near, far] =
        ["near@127.0.0.1", "far@127.0.0.1"].map(|name| node(&world, name, certificates.tls("node", "ours")));
    let mut inbox = far.register("inbox").unwrap();
    // The tag is sent, too, as the nodes found each other by epmd.
    dyntrace::put_tag("request 7").unwrap();
    let before = dyntrace::spread_tag(true);
    near.send(("inbox", "far@127.0.0.1"), term!(1)).await.unwrap();
    dyntrace::restore_tag(before).unwrap();
    let Received::Message(message) = inbox.recv().await else { panic!("a message") };
    assert_eq!((message.term, message.tag.as_deref()), (term!(1), Some("request 7")));

    let stranger = node(&world, "stranger@127.0.0.1", certificates.tls("stranger", "ours"));
    let error = refused(&stranger, "far@127.0.0.1").await;
    assert!(matches!(&error, Error::Tls { .. } | Error::Handshake { .. }), "{error}");
    assert_eq!(far.nodes(), ["near@127.0.0.1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cuts_anywhere_in_the_handshake_do_no_harm() {
    let world = world!();
    let certificates = Certificates::new();
    certificates.issue("ours", "node", "127.0.0.1");
    let peer = node(&world, "peer@127.0.0.1", certificates.tls("node", "ours"));
    let options = Options { tls: Some(certificates.tls("node", "ours")), ..Options::default() };
    let through = cut_every(53, peer.address().port(), "peer@127.0.0.1", options).await;
    // Both sides have sent certificates.
    assert!(through.iter().all(|bytes| (1_000..10_000).contains(bytes)), "{through:?}");
}

#[test]
fn files_that_are_none_are_named() {
    let certificates = Certificates::new();
    certificates.issue("ours", "node", "127.0.0.1");
    certificates.issue("ours", "other", "127.0.0.1");
    std::fs::write(certificates.path("empty"), "").unwrap();
    let tls = |certificate: &str, key: &str, authorities: &str| {
        Tls::from_pem(certificates.path(certificate), certificates.path(key), certificates.path(authorities))
    };
    for (result, file) in [
        (tls("nothing", "node.key", "ours.pem"), "nothing"),
        (tls("empty", "node.key", "ours.pem"), "empty"),
        (tls("node.pem", "node.pem", "ours.pem"), "node.pem"),
        (tls("node.pem", "other.key", "ours.pem"), "node.pem"),
        (tls("node.pem", "node.key", "empty"), "empty"),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(&error, Error::Certificate { file: named, .. } if named.ends_with(file)), "{error}");
        assert!(error.to_string().contains(Path::new(file).to_str().unwrap()), "{error}");
    }
}
