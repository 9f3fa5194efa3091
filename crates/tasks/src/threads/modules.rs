//! Code of the process with its unwind information: images, and the functions that the kernel maps.

use std::ops::Range;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, UnwindSection};
use object::{Object, ObjectSection};

use crate::elf::Elf;
use crate::image::Image;
use crate::memory::Memory;
use crate::memory::maps::Mapping;

/// Bytes of the kernel's functions, at most.
const KERNELS: u64 = 1 << 20;

/// A section: its address in the file, and its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section<'a> {
    pub address: u64,
    pub bytes: &'a [u8],
}

/// Code with its unwind information.
#[derive(Debug)]
pub(super) struct Module<'a> {
    /// Its place among the program's images. `None` for the kernel's functions.
    pub image: Option<usize>,
    /// The name of its file, without folders.
    pub name: String,
    /// The address in the process of the file's address 0.
    pub bias: u64,
    /// Its code, in the process.
    pub code: Range<u64>,
    pub frames: Option<Section<'a>>,
    /// A table to search in `frames`.
    pub table: Option<Section<'a>>,
    pub got: Option<Range<u64>>,
}

impl<'a> Module<'a> {
    pub(super) fn of(index: usize, image: &'a Image) -> Option<Module<'a>> {
        let name = image.path.file_name().unwrap_or(image.path.as_os_str()).to_string_lossy().into_owned();
        Module::read(Some(index), name, image.bias, &image.text, image.bytes())
    }

    /// The kernel's functions, of which `bytes` is the whole file as it is mapped.
    pub(super) fn of_kernel(mapping: &Mapping, bytes: &'a [u8]) -> Option<Module<'a>> {
        let code = 0..mapping.range.end - mapping.range.start;
        Module::read(None, (*mapping.path).to_owned(), mapping.range.start, &[code], bytes)
    }

    fn read(image: Option<usize>, name: String, bias: u64, code: &[Range<u64>], bytes: &'a [u8]) -> Option<Module<'a>> {
        let elf = Elf::parse(bytes).ok()?;
        let section = |name: &str| {
            let section = elf.section_by_name(name)?;
            Some(Section { address: section.address(), bytes: section.data().ok().filter(|bytes| !bytes.is_empty())? })
        };
        let start = code.iter().map(|range| range.start).min()?;
        let end = code.iter().map(|range| range.end).max()?;
        let got = elf.section_by_name(".got");
        Some(Module {
            image,
            name,
            bias,
            code: start.wrapping_add(bias)..end.wrapping_add(bias),
            frames: section(".eh_frame"),
            table: section(".eh_frame_hdr"),
            got: got.map(|got| got.address()..got.address().saturating_add(got.size())),
        })
    }

    /// Returns the first address, in the process, of the function that contains `address`. `None` without unwind
    /// information of that function.
    pub(super) fn function(&self, address: u64) -> Option<u64> {
        let (frames, table) = (self.frames?, self.table?);
        let bases = BaseAddresses::default().set_eh_frame(frames.address).set_eh_frame_hdr(table.address);
        let table = EhFrameHdr::new(table.bytes, LittleEndian).parse(&bases, 8).ok()?;
        let section = EhFrame::new(frames.bytes, LittleEndian);
        let address = address.wrapping_sub(self.bias);
        let cie = |section: &EhFrame<_>, bases: &_, offset| section.cie_from_offset(bases, offset);
        let entry = table.table()?.fde_for_address(&section, &bases, address, cie).ok()?;
        Some(entry.initial_address().wrapping_add(self.bias))
    }
}

/// Reads the mapping of the kernel's functions, if there is one.
pub(super) fn kernels<'m>(memory: &dyn Memory, maps: &'m [Mapping]) -> Option<(&'m Mapping, Vec<u8>)> {
    let mapping = maps.iter().find(|map| &*map.path == "[vdso]")?;
    let length = mapping.range.end - mapping.range.start;
    let mut bytes = vec![0; usize::try_from(length.min(KERNELS)).ok()?];
    memory.read(mapping.range.start, &mut bytes).ok()?;
    Some((mapping, bytes))
}

/// Finds the module that contains `address` among `modules`, which are in the order of their code.
pub(super) fn containing<'m, 'a>(modules: &'m [Module<'a>], address: u64) -> Option<&'m Module<'a>> {
    let after = modules.partition_point(|module| module.code.start <= address);
    modules[..after].last().filter(|module| module.code.contains(&address))
}
