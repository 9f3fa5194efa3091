//! The output of `sdt::dof` for FreeBSD, illumos and NetBSD: a record of each site in a section of its own.

use std::collections::HashMap;

use object::{
    File, Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget, Section, SectionIndex, Symbol,
    SymbolIndex,
};

use crate::Site;

/// A record is two words: the site's address, and that of a `section::Probe`.
const RECORD: usize = 16;
/// The offsets of the fields of a `section::Probe`; each field is an address and a length.
const PROVIDER: u64 = 0;
const NAME: u64 = 16;
const ARGUMENTS: u64 = 48;
const STR: u64 = 16;

/// Returns the sites that have records.
pub fn sites(objects: &[File<'_>]) -> Vec<Site> {
    let library = Library { objects, pointers: follow(objects) };
    let tables = sections(objects).filter(|(_, section)| section.name() == Ok("dyntrace_sites"));
    let records = tables.flat_map(|(object, table)| {
        let section = table.index();
        (0..table.size()).step_by(RECORD).map(move |offset| Place { object, section, offset })
    });
    records.map(|record| library.site(record)).collect()
}

/// A place in a section of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    object: usize,
    section: SectionIndex,
    offset: u64,
}

impl Place {
    fn after(self, offset: u64) -> Place {
        Place { offset: self.offset + offset, ..self }
    }
}

/// The objects of a library, and the targets of their pointers.
struct Library<'a> {
    objects: &'a [File<'a>],
    pointers: HashMap<Place, Place>,
}

/// The relocations of eight bytes, each with its target.
fn follow(objects: &[File<'_>]) -> HashMap<Place, Place> {
    let public = objects.iter().enumerate().flat_map(|(object, file)| {
        let global = file.symbols().filter(Symbol::is_global);
        global.filter_map(move |symbol| Some((symbol.name().ok()?, place(object, &symbol)?)))
    });
    let public: HashMap<&str, Place> = public.collect();
    let target = |object: usize, symbol: SymbolIndex| {
        let symbol = objects[object].symbol_by_index(symbol).expect("the symbol of a relocation");
        place(object, &symbol).or_else(|| public.get(symbol.name().ok()?).copied())
    };
    let mut pointers = HashMap::new();
    for (object, section) in sections(objects) {
        for (offset, relocation) in section.relocations() {
            if relocation.kind() == RelocationKind::Absolute
                && relocation.size() == 64
                && let RelocationTarget::Symbol(symbol) = relocation.target()
                && let Some(target) = target(object, symbol)
            {
                let from = Place { object, section: section.index(), offset };
                pointers.insert(from, target.after(relocation.addend() as u64));
            }
        }
    }
    pointers
}

/// Each section with the number of its object.
fn sections<'a>(objects: &'a [File<'a>]) -> impl Iterator<Item = (usize, Section<'a, 'a>)> {
    let of = |(number, object): (usize, &'a File<'a>)| object.sections().map(move |section| (number, section));
    objects.iter().enumerate().flat_map(of)
}

impl<'a> Library<'a> {
    fn site(&self, record: Place) -> Site {
        let (code, probe) = (self.pointers[&record], self.pointers[&record.after(8)]);
        let types = self.pointers.get(&probe.after(ARGUMENTS));
        let arguments = types.map(|types| {
            let count = self.word(probe.after(ARGUMENTS + 8));
            (0..count).map(|number| self.text(types.after(number * STR))).collect()
        });
        let site = Site { provider: self.text(probe.after(PROVIDER)), probe: self.text(probe.after(NAME)), arguments };
        // A nop; xor eax, eax.
        let instruction: &[u8] = if site.arguments.is_some() { &[0x90] } else { &[0x31, 0xc0] };
        assert_eq!(self.bytes(code, instruction.len()), instruction, "{site:?}");
        site
    }

    /// Returns the string whose pointer and length are at the place.
    fn text(&self, place: Place) -> String {
        let text = self.bytes(self.pointers[&place], self.word(place.after(8)) as usize);
        String::from_utf8(text.to_vec()).expect("a string")
    }

    fn word(&self, place: Place) -> u64 {
        u64::from_le_bytes(self.bytes(place, 8).try_into().expect("eight bytes"))
    }

    fn bytes(&self, place: Place, length: usize) -> &'a [u8] {
        let section = self.objects[place.object].section_by_index(place.section).expect("a section");
        &section.data().expect("its bytes")[place.offset as usize..][..length]
    }
}

/// Returns the place of a symbol in an object; `None` if it is in another one.
fn place(object: usize, symbol: &Symbol<'_, '_>) -> Option<Place> {
    Some(Place { object, section: symbol.section_index()?, offset: symbol.address() })
}
