//! Kinds of types: trait objects, pointers and lists of futures.

use super::value::{Value, Values};
use crate::dwarf::{Member, Shape, Type, TypeId, Types};

pub(crate) fn is_trait_object(kind: &Type) -> bool {
    kind.members.len() == 2 && kind.member("pointer").is_some() && kind.member("vtable").is_some()
}

/// Returns the element type, the first element's address and the length of a `Vec`, a slice behind a pointer, or an array.
pub(crate) fn list(values: &Values<'_, '_>, value: &Value) -> Option<(TypeId, u64, u64)> {
    let number = |steps: &[&str]| values.follow(value, steps).and_then(|value| values.number(&value));
    if let Shape::Array { element, count } = value.kind.shape {
        return Some((element, value.address, count));
    }
    if let Some(element) = vec_of(&value.kind) {
        let begin = number(&["buf", "inner", "ptr", "pointer", "pointer"])?;
        return Some((element, begin, number(&["len", "only"])?));
    }
    let element = slice_of(&value.kind, values.types)?;
    Some((element, number(&["data_ptr"])?, number(&["length"])?))
}

/// Whether a type is the closure of a `select!`.
pub(crate) fn is_select(kind: &Type) -> bool {
    kind.name.starts_with("{closure_env") && kind.member("_ref__disabled").is_some()
}

/// Pointers through which a future polls futures that it owns or has borrowed alone.
pub(crate) fn is_owned(name: &str) -> bool {
    name.starts_with("alloc::boxed::Box<") || name.starts_with("Box<") || name.starts_with("&mut ")
}

/// Pointers to shared values: others may poll these.
pub(super) fn is_shared(kind: &Type) -> bool {
    let bare = kind.bare();
    [
        "core::task::wake::",
        "alloc::sync::",
        "alloc::rc::",
        "core::ptr::non_null::",
        "core::marker::",
        "core::sync::atomic",
    ]
    .iter()
    .any(|prefix| bare.starts_with(prefix))
}

/// Whether a trait object is a future. `polled`: or a stream or body.
pub(crate) fn is_future_object(kind: &Type, polled: bool) -> bool {
    names_future(&kind.name, polled)
}

fn names_future(pointer: &str, polled: bool) -> bool {
    let object = pointer.split_once("dyn ").and_then(|(_, object)| object.split_once('<'));
    let path = object.map_or("", |(object, _)| object);
    let name = path.rsplit("::").next().unwrap_or(path);
    // a trait of hyper's whose objects are futures
    name == "Future" || path == "hyper::rt::timer::Sleep" || polled && matches!(name, "Stream" | "Body")
}

/// Whether a `NonNull` points to a future that only it can poll: tokio's reusable box.
pub(super) fn is_boxed_object(kind: &Type, types: &Types<'_>) -> bool {
    let object = |member: &Member| {
        let object = types.get(member.kind);
        is_trait_object(&object) && is_future_object(&object, false)
    };
    kind.bare() == "core::ptr::non_null::NonNull" && kind.member("pointer").is_some_and(object)
}

/// Returns the element type of a `Vec`.
pub(super) fn vec_of(kind: &Type) -> Option<TypeId> {
    let element = kind.parameters.iter().find(|(name, _)| name == "T");
    (kind.bare() == "alloc::vec::Vec").then_some(element?.1)
}

/// Returns the element type of a pointer to a slice.
pub(super) fn slice_of(kind: &Type, types: &Types<'_>) -> Option<TypeId> {
    if kind.members.len() != 2 || kind.member("length").is_none() {
        return None;
    }
    match types.get(kind.member("data_ptr")?.kind).shape {
        Shape::Pointer(target) => target,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::names_future;

    #[test]
    fn a_trait_object_is_a_future_by_its_trait() {
        let boxed =
            |object: &str| format!("alloc::boxed::Box<(dyn {object} + core::marker::Send), alloc::alloc::Global>");
        assert!(names_future(&boxed("core::future::future::Future<Output=()>"), false));
        assert!(names_future(&boxed("hyper::rt::timer::Sleep<Output=()>"), false));
        assert!(!names_future(&boxed("app::Sleep<Output=()>"), false));
        assert!(!names_future(&boxed("app::Serve<Answer=(dyn core::future::future::Future<Output=()>)>"), false));
        assert!(!names_future(&boxed("futures_core::stream::Stream<Item=u32>"), false));
        assert!(names_future(&boxed("futures_core::stream::Stream<Item=u32>"), true));
    }
}
