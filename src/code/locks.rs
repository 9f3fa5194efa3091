//! The locks that a forked child finds free, and what they guard whole.

/// To be called before one of them is taken. Repeated calls do nothing.
pub(super) fn prepare() {
    // In models nobody forks.
    #[cfg(not(loom))]
    {
        use super::{entry, history, missing, tables, version};
        use crate::forks::hold_across_forks;
        // Who stages gives back what it replaces: the lock that is taken first is noted last.
        hold_across_forks!(version::Rooms, version::rooms());
        hold_across_forks!(entry::Entries, tables::tables().entries());
        hold_across_forks!(std::collections::VecDeque<history::Event>, history::events());
        hold_across_forks!(missing::Handler, missing::handler());
        hold_across_forks!(tables::Stale, tables::tables().stale());
    }
}
