//! Work whose answer is handed to a function, because nobody may be there to await it.

use std::io;

use super::operation::fault_error;
use crate::aio_pool::{Fault, Lane, Work};
use crate::sdt::Decision;

/// A work that keeps its output until it is settled and hands it on then: whoever gets the answer can rely on it that
/// the work was settled before. The function gets the work, too: one that never ran still has what it was to work on.
pub(super) struct Detached<W: Work, A> {
    work: W,
    output: Option<W::Output>,
    answer: Option<A>,
}

impl<W: Work, A> Detached<W, A> {
    pub(super) fn new(work: W, answer: A) -> Detached<W, A> {
        Detached { work, output: None, answer: Some(answer) }
    }
}

impl<W, A> Work for Detached<W, A>
where
    W: Work,
    A: FnOnce(io::Result<W::Output>, &mut W) + Send + 'static,
{
    type Output = ();

    fn lane(&self) -> Lane {
        self.work.lane()
    }

    fn taken(&self) -> Decision {
        self.work.taken()
    }

    fn run(&mut self) {
        self.output = Some(self.work.run());
    }

    fn ran(&mut self) {
        self.work.ran();
    }

    fn settle(&mut self, outcome: Result<&(), &Fault>) {
        let result = match outcome {
            Ok(()) => {
                let output = self.output.take().expect("run left an output");
                self.work.settle(Ok(&output));
                Ok(output)
            }
            Err(fault) => {
                self.work.settle(Err(fault));
                Err(fault_error(fault))
            }
        };
        if let Some(answer) = self.answer.take() {
            answer(result, &mut self.work);
        }
    }
}
