//! The structures of tokio that the reader needs to find tasks.

use super::Sections;
use super::description::{Type, TypeId};
use super::types::Types;
use crate::cell::{ALIGNMENT, HeaderLayout};
use crate::image::Image;
use crate::layout::{TaskLayout, VtableLayout};

impl TaskLayout {
    /// Returns the layout that the types of an image's tokio describe; `None` if it has no such types.
    ///
    /// # Errors
    ///
    /// If the types lack a field, or contradict each other: returns the field.
    pub fn by_types(image: &Image) -> Result<Option<TaskLayout>, &'static str> {
        let sections = image.debug_bytes().and_then(|bytes| Sections::load(bytes).ok());
        // Those of tokio are few: the others are left for later.
        let types = sections.as_ref().and_then(|sections| Types::load_of_crate(sections, "tokio").ok());
        types.map_or(Ok(None), |types| types.task_layout())
    }
}

impl Types<'_> {
    /// Returns the layout that the structures have; `None` if they are not described.
    ///
    /// # Errors
    ///
    /// If they lack a field, or several differ: returns the field.
    pub(super) fn task_layout(&self) -> Result<Option<TaskLayout>, &'static str> {
        let header = self.same("tokio::runtime::task::core::Header", header)?;
        let vtable = self.same("tokio::runtime::task::raw::Vtable", vtable)?;
        let links = self.same("tokio::runtime::task::core::Trailer", links)?;
        let Some(((header, vtable), links)) = header.zip(vtable).zip(links) else { return Ok(None) };
        Ok(Some(TaskLayout { header, vtable, links }))
    }

    /// Returns the layout that all structures of a path have.
    fn same<L: PartialEq>(
        &self,
        path: &'static str,
        read: impl Fn(&Types<'_>, &Type) -> Result<L, &'static str>,
    ) -> Result<Option<L>, &'static str> {
        let mut found: Option<L> = None;
        for structure in &self.index.structures {
            let structure = self.get(TypeId(*structure));
            // A declaration has no size.
            if structure.path != path || structure.size == 0 {
                continue;
            }
            let layout = read(self, &structure)?;
            if found.as_ref().is_some_and(|known| *known != layout) {
                return Err("one layout of this structure");
            }
            found = Some(layout);
        }
        Ok(found)
    }
}

fn header(_: &Types<'_>, header: &Type) -> Result<HeaderLayout, &'static str> {
    let offset = |name| header.member(name).map(|member| member.offset);
    let layout = HeaderLayout {
        state: offset("state").ok_or("Header.state")?,
        queue_next: offset("queue_next").ok_or("Header.queue_next")?,
        vtable: offset("vtable").ok_or("Header.vtable")?,
        owner: offset("owner_id").ok_or("Header.owner_id")?,
    };
    if layout.length() <= ALIGNMENT { Ok(layout) } else { Err("Header in 128 bytes") }
}

fn vtable(_: &Types<'_>, vtable: &Type) -> Result<VtableLayout, &'static str> {
    let offset = |name| vtable.member(name).map(|member| member.offset);
    let functions = vtable.members.iter().filter(|member| !member.name.ends_with("_offset"));
    Ok(VtableLayout {
        functions: functions.map(|member| member.offset).collect(),
        poll: offset("poll").ok_or("Vtable.poll")?,
        schedule: offset("schedule").ok_or("Vtable.schedule")?,
        dealloc: offset("dealloc").ok_or("Vtable.dealloc")?,
        trailer: offset("trailer_offset").ok_or("Vtable.trailer_offset")?,
        scheduler: offset("scheduler_offset").ok_or("Vtable.scheduler_offset")?,
        id: offset("id_offset").ok_or("Vtable.id_offset")?,
        spawn_location: offset("spawn_location_offset").unwrap_or(vtable.size),
    })
}

/// The links are in cells: the fields that these have are peeled off.
fn links(types: &Types<'_>, trailer: &Type) -> Result<u64, &'static str> {
    let owned = trailer.member("owned").ok_or("Trailer.owned")?;
    let (mut kind, mut offset) = (types.get(owned.kind), owned.offset);
    for _ in 0..4 {
        if let Some(previous) = kind.member("prev") {
            let next = kind.member("next").map(|next| next.offset);
            let is_known = next == previous.offset.checked_add(8);
            return offset.checked_add(previous.offset).filter(|_| is_known).ok_or("Pointers.next");
        }
        let Some(inner) = kind.members.first() else { break };
        offset = offset.checked_add(inner.offset).ok_or("Pointers.prev")?;
        kind = types.get(inner.kind);
    }
    Err("Pointers.prev")
}
