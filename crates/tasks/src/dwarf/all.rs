//! All questions at once, for tests and for the fuzzer.

use super::{Sections, TypeId, Types};

/// Asks for everything that can be asked for.
pub(crate) fn read_all(sections: &Sections<'_>) {
    let Ok(types) = Types::load(sections) else { return };
    let ids = types.index.types.iter().map(|(offset, _)| TypeId(*offset)).chain((0..64).map(TypeId));
    for id in ids {
        let kind = types.get(id);
        for member in &kind.members {
            types.get(member.kind);
            types.line_of(id, member);
        }
        types.awaitees(id);
        types.resume_symbol(id);
        let _ = types.runtime_count(id);
    }
    let _ = types.task_layout();
    for (address, _) in &types.index.functions {
        let _ = types.polled(*address);
        let spawns = types.spawns(|wanted| wanted.iter().map(|target| (*address, *target)).collect());
        types.polled(*address).iter().for_each(|polled| drop(types.spawned(&spawns, polled.future)));
    }
    for (address, _) in &types.index.vtables {
        types.behind_vtable(*address);
    }
}
