//! Nodes and their runtimes: either may end first.

use dyntrace::dist::{Received, term};
use tokio::runtime::{Builder, Runtime};

use crate::erl::{World, in_the_end, next};
use crate::world;

const NEAR: &str = "near@127.0.0.1";
const FAR: &str = "far@127.0.0.1";

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn a_node_whose_runtime_has_ended_is_lost_and_says_so() {
    let world: World = world!();
    let (first, second) = (runtime(), runtime());
    let near = {
        let _entered = first.enter();
        world.node(NEAR)
    };
    second.block_on(async {
        let far = world.node(FAR);
        let mut there = far.register("there").unwrap();
        let mut inbox = near.register("here").unwrap();
        near.send(("there", FAR), term!(before)).await.unwrap();
        assert_eq!(next(&mut there).await.term, term!(before));
        there.monitor(("here", NEAR)).await.unwrap();
        inbox.monitor(("there", FAR)).await.unwrap();

        first.shutdown_background();
        let Received::Down { reason, .. } = in_the_end(there.recv()).await else { panic!("it is told") };
        assert_eq!(reason, term!(noconnection));
        let Received::Down { reason, .. } = in_the_end(inbox.recv()).await else { panic!("so is this side") };
        assert_eq!(reason, term!(noconnection));
        assert!(near.nodes().is_empty());
        in_the_end(near.flush()).await;
        drop((inbox, near));
        // Its name is free again.
        world.node(NEAR);
    });
}
