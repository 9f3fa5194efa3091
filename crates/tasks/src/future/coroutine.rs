//! Suspended `async fn`s and blocks.

use std::collections::BTreeSet;

use super::names;
use super::value::Value;
use super::walk::{Frame, Walk};
use crate::dwarf::Member;
use crate::listing::{Await, Progress, SourceLine, WaitsFor};

impl Walk<'_, '_> {
    pub(super) fn coroutine(&self, value: &Value, frame: Option<&Frame<'_>>, depth: u32) -> Await {
        let types = self.reader.types;
        let mut shown = Await { future: names::of(types, &value.kind), ..Await::default() };
        let Some((variant, variables)) = self.steady.variant(value) else { return shown };
        shown.progress = match variant.as_str() {
            "Unresumed" => Progress::Unresumed,
            "Returned" => Progress::Returned,
            "Panicked" => Progress::Panicked,
            name if name.starts_with("Suspend") => Progress::Suspended,
            _ => Progress::Unknown,
        };
        if shown.progress != Progress::Suspended {
            return shown;
        }
        shown.place = variant.member().and_then(|member| self.place(value, member, &variables));
        if self.ran() {
            let awaited = variables.kind.member("__awaitee");
            shown.awaits.extend(awaited.map(|member| self.by_type(member.kind)));
            return shown;
        }
        match self.steady.field(&variables, "__awaitee") {
            Some(awaited) => {
                let here = Frame { outer: frame, path: &value.kind.path, variables: &variables };
                shown.add(self.future(&awaited, Some(&here), depth + 1));
            }
            None => shown.waits_for = Some(WaitsFor::UnknownLeaf),
        }
        // after the await: futures that it has not seen are not polled
        self.held_by(&variables, &mut shown.holds);
        shown
    }

    /// Returns the line of the await. In a macro it is the line that uses the macro, if that is certain.
    pub(super) fn place(&self, value: &Value, member: &Member, variables: &Value) -> Option<SourceLine> {
        let types = self.reader.types;
        let place = types.line_of(value.kind.id, member);
        let own = value.kind.variants.as_ref().and_then(|variants| variants.list.first()).map(|(_, first)| first.file);
        if own.is_none_or(|own| own == member.file) {
            return place;
        }
        // the variant has the line inside the macro, the variable `__awaitee` of the function the line outside
        let awaited = types.get(variables.kind.member("__awaitee")?.kind);
        let same = |kind| types.get(kind).path == awaited.path;
        let awaitees = types.awaitees(value.kind.id);
        let places: BTreeSet<&SourceLine> = awaitees.iter().filter(|it| same(it.kind)).map(|it| &it.place).collect();
        let mut places = places.into_iter();
        match (places.next(), places.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => place,
        }
    }
}
