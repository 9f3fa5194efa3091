//! Sends OTLP by HTTP, in JSON, to a collector.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, RETRY_AFTER};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long one export may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often an export is sent that the endpoint cannot take now.
const TRIES: u32 = 6;
/// The pause before the second try; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause that an endpoint can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const LONGEST: usize = 64 << 10;
/// The path of traces in OTLP by HTTP.
const TRACES: &str = "/v1/traces";

/// The address of a collector.
pub struct Endpoint {
    runtime: Runtime,
    host: String,
    port: u16,
    authority: String,
    path: String,
    rejected: u64,
    /// Why spans were rejected last.
    reason: String,
}

/// How an endpoint takes one export.
#[derive(Debug)]
pub enum Verdict {
    /// It takes the spans, except for some. An answer of success in another form says nothing of rejected spans.
    Taken { rejected: u64, reason: String },
    /// It cannot take them now.
    Busy { answer: String, retry_after: Option<Duration> },
    /// It never takes them.
    Refused { answer: String },
}

/// The answer to one export.
struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
    body: Bytes,
}

impl Endpoint {
    /// The endpoint that `output` is the address of; `None` if it is a path.
    pub fn of(output: &Path) -> io::Result<Option<Endpoint>> {
        let Some(address) = output.to_str().filter(|text| text.contains("://")) else { return Ok(None) };
        let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        let uri: Uri = address.parse().map_err(|error| invalid(format!("it is no address: {error}")))?;
        let host = match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(host)) => host.trim_matches(['[', ']']).to_owned(),
            _ => return Err(invalid("an address begins with http://HOST:PORT; send to a collector nearby".to_owned())),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Some(Endpoint {
            runtime: tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?,
            host,
            port: uri.port_u16().unwrap_or(80),
            authority: uri.authority().map(ToString::to_string).unwrap_or_default(),
            path: if path == "/" { TRACES } else { path }.to_owned(),
            rejected: 0,
            reason: String::new(),
        }))
    }

    /// Sends one export, again if the endpoint cannot take it now.
    pub fn send(&mut self, body: Vec<u8>) -> io::Result<()> {
        let body = Bytes::from(body);
        for attempt in 1.. {
            match self.try_send(body.clone())? {
                Verdict::Taken { rejected: 0, .. } => return Ok(()),
                Verdict::Taken { rejected, reason } => {
                    self.rejected = self.rejected.saturating_add(rejected);
                    self.reason = reason;
                    return Ok(());
                }
                Verdict::Busy { retry_after, .. } if attempt < TRIES => {
                    let own = PAUSE * 2_u32.pow(attempt - 1);
                    thread::sleep(retry_after.unwrap_or(own));
                }
                Verdict::Busy { answer, .. } | Verdict::Refused { answer } => {
                    return Err(io::Error::other(format!("the endpoint answered {answer}")));
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Sends one export once.
    pub fn try_send(&self, body: Bytes) -> io::Result<Verdict> {
        let Answer { status, retry_after, body } = self.exchange(body)?;
        let answer = || format!("{status}: {}", dyntrace_terminal::escape::name(&body[..body.len().min(500)]));
        Ok(match status {
            StatusCode::OK | StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                let (rejected, reason) = rejected(&body);
                Verdict::Taken { rejected, reason }
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                Verdict::Busy { answer: answer(), retry_after: retry_after.map(|after| after.min(LONGEST_PAUSE)) }
            }
            _ => Verdict::Refused { answer: answer() },
        })
    }

    /// Fails if the endpoint rejected spans.
    pub fn finish(&self) -> io::Result<()> {
        match self.rejected {
            0 => Ok(()),
            rejected => {
                let reason = dyntrace_terminal::escape::name(&self.reason);
                Err(io::Error::other(format!("the endpoint rejected {rejected} spans: {reason}")))
            }
        }
    }

    fn exchange(&self, body: Bytes) -> io::Result<Answer> {
        let exchanged = self.runtime.block_on(async { timeout(PATIENCE, self.post(body)).await });
        exchanged.unwrap_or_else(|_| {
            let why = format!("no answer within {} s", PATIENCE.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        })
    }

    async fn post(&self, body: Bytes) -> io::Result<Answer> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        let request = Request::post(&self.path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(io::Error::other)?;
        let connection = tokio::task::spawn(connection);
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let (status, retry_after) = (response.status(), seconds.map(Duration::from_secs));
        let body = Limited::new(response.into_body(), LONGEST).collect().await.map_err(io::Error::other)?.to_bytes();
        connection.abort();
        Ok(Answer { status, retry_after, body })
    }
}

/// Returns the number of spans that an answer of success says were rejected, and why.
fn rejected(body: &[u8]) -> (u64, String) {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return (0, String::new()) };
    let partial = &answer["partialSuccess"];
    // A number of 64 bits is a text in JSON's form of protocol buffers; readers take both.
    let count = &partial["rejectedSpans"];
    let rejected = count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0);
    (rejected, partial["errorMessage"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths() {
        let of = |text: &str| Endpoint::of(Path::new(text));
        for (address, host, port, path) in [
            ("http://127.0.0.1:4318", "127.0.0.1", 4318, TRACES),
            ("http://[::1]:4318/", "::1", 4318, TRACES),
            ("http://collector/a/v1/traces?x=1", "collector", 80, "/a/v1/traces?x=1"),
        ] {
            let endpoint = of(address).unwrap().unwrap();
            assert_eq!((&*endpoint.host, endpoint.port, &*endpoint.path), (host, port, path));
        }
        for path in ["spans.jsonl", "/tmp/http:/x", "http:"] {
            assert!(of(path).unwrap().is_none(), "{path}");
        }
        for address in ["https://127.0.0.1:4318", "grpc://x", "http://", "http://a b", "://"] {
            assert!(of(address).is_err(), "{address}");
        }
    }

    #[test]
    fn answers_with_rejected_spans() {
        for body in ["", "{}", r#"{"partialSuccess":{}}"#, "[1]", r#"{"partialSuccess":{"rejectedSpans":"x"}}"#] {
            assert_eq!(rejected(body.as_bytes()).0, 0, "{body}");
        }
        let text = br#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
        assert_eq!(rejected(text), (2, "too old".to_owned()));
        let number = br#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":"too \u001b old"}}"#;
        let (count, reason) = rejected(number);
        let mut endpoint = Endpoint::of(Path::new("http://x")).unwrap().unwrap();
        assert!(endpoint.finish().is_ok());
        (endpoint.rejected, endpoint.reason) = (count, reason);
        assert_eq!(endpoint.finish().unwrap_err().to_string(), "the endpoint rejected 3 spans: too \\x1b old");
    }
}
