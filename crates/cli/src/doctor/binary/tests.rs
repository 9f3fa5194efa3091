//! The checks of a program, each against an object that breaks one rule.

use dyntrace_programs::elf::Segment;

use super::*;
use crate::doctor::finding::Status;

const TEXT: u64 = 0x1000;
const DATA: u64 = 0x4000;

fn segment(offset: u64, address: u64, writable: bool, executable: bool) -> Segment {
    // Zeros follow the data, which the file does not contain.
    let memory_size = if writable { 0x2000 } else { 0x1000 };
    Segment { offset, address, file_size: 0x1000, memory_size, writable, executable }
}

/// A program with one probe, in order.
fn sound() -> Object {
    let note = |operands: &str| {
        let mut bytes: Vec<u8> =
            [TEXT + 8, 0x800, DATA + 4].iter().flat_map(|address: &u64| address.to_le_bytes()).collect();
        bytes.extend(format!("dyntrace\0efile_drv__int_entry\0{operands}\0").bytes());
        Note::parse(&bytes, true, object::Endianness::Little).unwrap()
    };
    Object {
        notes: vec![note("-4@%eax -4@%ecx -4@%edx")],
        broken: Vec::new(),
        entry: TEXT,
        base: Some(0x800),
        segments: vec![
            segment(0, 0, false, false),
            segment(TEXT, TEXT, false, true),
            segment(0x3000, DATA, true, false),
        ],
        is_64_bit: true,
        ..Object::default()
    }
}

fn providers() -> Providers {
    Providers::with(&[]).unwrap()
}

/// The topics that are not in order.
fn topics(object: &Object, status: Status) -> Vec<&'static str> {
    let findings = check(object, &providers(), false);
    assert!(findings.iter().all(|finding| (finding.status == Status::Ok) == finding.remedy.is_none()));
    findings.iter().filter(|finding| finding.status == status).map(|finding| finding.topic).collect()
}

#[test]
fn a_sound_program() {
    assert_eq!(topics(&sound(), Status::Ok).len(), 6);
}

#[test]
fn a_program_without_probes() {
    assert_eq!(topics(&Object::default(), Status::Fail), ["probes"]);
}

#[test]
fn damaged_notes() {
    let object = Object { broken: vec!["note 1 ends too soon".to_owned()], ..sound() };
    assert_eq!(topics(&object, Status::Fail), ["notes"]);
}

#[test]
fn arguments_that_differ_from_the_definition() {
    let mut object = sound();
    object.notes[0].operands.pop();
    assert_eq!(topics(&object, Status::Fail), ["notes"]);
}

#[test]
fn arguments_that_some_tracers_cannot_read() {
    let mut object = sound();
    object.notes[0].provider = "other".to_owned();
    object.notes[0].operands[1].place = OperandPlace::Memory;
    assert_eq!(topics(&object, Status::Warn), ["arguments"]);
    object.notes[0].operands[1].place = OperandPlace::Register;
    object.notes[0].operands[1].size = Some(2);
    assert_eq!(topics(&object, Status::Warn), ["arguments"]);
    object.notes[0].operands[1].is_float = true;
    assert_eq!(topics(&object, Status::Warn), ["arguments"]);
}

#[test]
fn a_lost_base() {
    assert_eq!(topics(&Object { base: None, ..sound() }, Status::Fail), ["base"]);
    assert_eq!(topics(&Object { base: Some(0), ..sound() }, Status::Fail), ["base"]);
    let mut object = sound();
    object.notes[0].base = 0;
    assert_eq!(topics(&object, Status::Fail), ["base"]);
}

#[test]
fn a_site_that_is_not_code() {
    let mut object = sound();
    object.notes[0].location = DATA;
    assert_eq!(topics(&object, Status::Fail), ["sites"]);
}

#[test]
fn semaphores_that_no_tracer_can_count() {
    for semaphore in [TEXT, DATA + 0x1000, 0x9_0000] {
        let mut object = sound();
        object.notes[0].semaphore = Some(semaphore);
        assert_eq!(topics(&object, Status::Fail), ["semaphores"], "{semaphore:#x}");
    }
}

#[test]
fn semaphores_in_a_page_that_is_mapped_twice() {
    // The read-only data ends in the page where the semaphores' segment begins.
    let mut object = sound();
    object.segments.insert(2, segment(0x2800, 0x3800, true, false));
    object.segments[2].file_size = 0x8d0;
    object.segments[2].memory_size = 0x800;
    assert_eq!(topics(&object, Status::Fail), ["semaphores"]);
    object.segments[2].file_size = 0x800;
    assert!(topics(&object, Status::Fail).is_empty());
    // Kernels of this processor may have pages of 64 KiB.
    object.machine = elf::EM_AARCH64;
    assert_eq!(topics(&object, Status::Fail), ["semaphores"]);
}

#[test]
fn sites_that_do_not_share_their_semaphore() {
    let mut object = sound();
    object.notes.push(Note { semaphore: Some(DATA + 8), ..object.notes[0].clone() });
    assert_eq!(topics(&object, Status::Warn), ["semaphores"]);
}

#[test]
fn text_that_lies_elsewhere_in_memory_than_in_the_file() {
    let mut object = sound();
    object.segments[1].offset -= 0x800;
    assert_eq!(topics(&object, Status::Fail), ["layout"]);
    // A program that is not position independent is moved as a whole.
    let mut object = sound();
    object.segments.iter_mut().for_each(|segment| segment.address += 0x40_0000);
    let note = &mut object.notes[0];
    (note.location, note.semaphore) =
        (note.location + 0x40_0000, note.semaphore.map(|semaphore| semaphore + 0x40_0000));
    assert!(topics(&object, Status::Fail).is_empty());
}
