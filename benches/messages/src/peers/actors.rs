//! Actors that count messages and answer questions: processes with a mailbox, and those of two crates.
//!
//! The crates are built without their spans of `tracing`, which is their fastest form.

use std::future::Future;

use dyntrace::mailbox::{self, Mailbox, Options};
use kameo::prelude::{Context, Spawn};
use ractor::{ActorProcessingErr, RpcReplyPort};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Message;

pub trait Actors: 'static {
    type Address: Clone + Send + Sync + 'static;

    /// Starts an actor that reports when it has been told `expected` messages.
    fn start(counter: Counter) -> impl Future<Output = Self::Address> + Send;
    /// Sends a message that is not answered.
    fn tell(address: &Self::Address, message: Message) -> impl Future<Output = bool> + Send;
    /// Sends a message and waits for the answer.
    fn ask(address: &Self::Address, message: Message) -> impl Future<Output = Message> + Send;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
        tokio::spawn(future)
    }
}

/// Places of a mailbox with a bound.
const PLACES: usize = 256;

/// The state of an actor.
pub struct Counter {
    expected: u64,
    counted: Option<oneshot::Sender<()>>,
}

impl Counter {
    /// Returns the state, and the end that waits until it has counted `expected` messages.
    pub fn new(expected: u64) -> (Counter, oneshot::Receiver<()>) {
        let (counted, all) = oneshot::channel();
        (Counter { expected, counted: Some(counted) }, all)
    }

    fn count(&mut self) {
        self.expected -= 1;
        if self.expected == 0 {
            let counted = self.counted.take().expect("it comes to 0 once");
            counted.send(()).expect("it is awaited");
        }
    }
}

/// Processes with a mailbox.
pub struct Processes<const BOUNDED: bool>;

pub enum Request {
    Tell(#[expect(dead_code, reason = "it is only counted")] Message),
    Ask(Message, dyntrace::sync::oneshot::Sender<Message>),
}

impl<const BOUNDED: bool> Actors for Processes<BOUNDED> {
    type Address = mailbox::Address<Request>;

    async fn start(mut counter: Counter) -> Self::Address {
        let options = if BOUNDED { Options::new().bounded(PLACES) } else { Options::new() };
        let (address, _) = options.spawn(async move |mut mailbox: Mailbox<Request>| {
            while let Some(request) = mailbox.recv().await {
                match request {
                    Request::Tell(_) => counter.count(),
                    Request::Ask(message, answer) => answer.send(message).expect("it is awaited"),
                }
            }
        });
        address
    }

    async fn tell(address: &Self::Address, message: Message) -> bool {
        address.send(Request::Tell(message)).await.is_ok()
    }

    async fn ask(address: &Self::Address, message: Message) -> Message {
        let (answer, answered) = dyntrace::sync::oneshot::channel();
        assert!(address.send(Request::Ask(message, answer)).await.is_ok());
        answered.await.expect("it answers")
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
        dyntrace::spawn(future).into_inner()
    }
}

pub struct Kameo<const BOUNDED: bool>;

#[derive(kameo::Actor)]
pub struct KameoActor(Counter);

pub struct Tell(#[expect(dead_code, reason = "it is only counted")] Message);

impl kameo::message::Message<Tell> for KameoActor {
    type Reply = ();

    async fn handle(&mut self, _: Tell, _: &mut Context<Self, Self::Reply>) {
        self.0.count();
    }
}

#[derive(kameo::Reply)]
pub struct Answer(Message);

pub struct Ask(Message);

impl kameo::message::Message<Ask> for KameoActor {
    type Reply = Answer;

    async fn handle(&mut self, Ask(message): Ask, _: &mut Context<Self, Self::Reply>) -> Answer {
        Answer(message)
    }
}

impl<const BOUNDED: bool> Actors for Kameo<BOUNDED> {
    type Address = kameo::actor::ActorRef<KameoActor>;

    async fn start(counter: Counter) -> Self::Address {
        let mailbox = if BOUNDED { kameo::mailbox::bounded(PLACES) } else { kameo::mailbox::unbounded() };
        KameoActor::spawn_with_mailbox(KameoActor(counter), mailbox)
    }

    async fn tell(address: &Self::Address, message: Message) -> bool {
        address.tell(Tell(message)).send().await.is_ok()
    }

    async fn ask(address: &Self::Address, message: Message) -> Message {
        let Answer(message) = address.ask(Ask(message)).send().await.expect("it answers");
        message
    }
}

/// Its mailboxes have no bound.
pub struct Ractor;

pub struct RactorActor;

pub enum RactorRequest {
    Tell(#[expect(dead_code, reason = "it is only counted")] Message),
    Ask(Message, RpcReplyPort<Message>),
}

impl ractor::Actor for RactorActor {
    type Msg = RactorRequest;
    type State = Counter;
    type Arguments = Counter;

    async fn pre_start(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        counter: Counter,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(counter)
    }

    async fn handle(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        request: Self::Msg,
        counter: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match request {
            RactorRequest::Tell(_) => counter.count(),
            RactorRequest::Ask(message, answer) => answer.send(message)?,
        }
        Ok(())
    }
}

impl Actors for Ractor {
    type Address = ractor::ActorRef<RactorRequest>;

    async fn start(counter: Counter) -> Self::Address {
        let (address, _) = ractor::Actor::spawn(None, RactorActor, counter).await.expect("it starts");
        address
    }

    async fn tell(address: &Self::Address, message: Message) -> bool {
        address.cast(RactorRequest::Tell(message)).is_ok()
    }

    async fn ask(address: &Self::Address, message: Message) -> Message {
        let answered = address.call(|answer| RactorRequest::Ask(message, answer), None).await;
        answered.expect("it is sent").expect("it answers")
    }
}
