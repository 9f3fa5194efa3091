//! The classification, by kernel, processor and form; and the text of the finding.

use dyntrace_runs::tracer::{TracerKind, Version};
use nix::libc;

use super::super::finding::Status;
use super::form::{Form, Processor};
use super::way::{Kernel, Replaces, SiteNop, Way, at_hit, places};
use super::{Attached, finding};

const NOP: &[u8] = &[0x90, 0xc3];
const NOP_AND_NOP5: &[u8] = &[0x90, 0x0f, 0x1f, 0x44, 0, 0, 0xc3];
const NOP_AND_NOP10: &[u8] = &[0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
const NOP5: &[u8] = &[0x0f, 0x1f, 0x44, 0, 0, 0xc3];

fn kernel(major: u32, minor: u32) -> Kernel {
    let version = Version(major, minor, 0);
    Kernel { version, replaces: Replaces::of(version, None) }
}

#[test]
fn the_form_of_a_site() {
    let of = |code| Form::of(Processor::X86_64, code);
    assert_eq!(
        [NOP, NOP_AND_NOP5, NOP_AND_NOP10, NOP5].map(of),
        [Form::Nop, Form::NopAndNop5, Form::NopAndNop10, Form::Nop5]
    );
    // Another 10-byte nop, which no kernel replaces; a nop at the end of the code; no code.
    assert_eq!(of(&[0x90, 0x66, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]), Form::Nop);
    assert_eq!(
        [of(&[0x90]), of(&[0x0f, 0x1f]), of(&[0x55]), of(&[])],
        [Form::Nop, Form::Other, Form::Other, Form::Other]
    );
    assert_eq!(Form::of(Processor::Aarch64, &[0x1f, 0x20, 0x03, 0xd5, 0, 0]), Form::Nop);
    assert_eq!(Form::of(Processor::Aarch64, NOP), Form::Other);
}

#[test]
fn the_nop_that_a_kernel_replaces() {
    for (major, minor, replaces) in [
        (6, 1, Replaces::Nothing),
        (6, 17, Replaces::Nothing),
        (6, 18, Replaces::Nop5),
        (7, 2, Replaces::Nop5),
        (7, 3, Replaces::Nop10),
        (8, 0, Replaces::Nop10),
    ] {
        assert_eq!(Replaces::of(Version(major, minor, 0), None), replaces, "{major}.{minor}");
    }
    // A kernel's own answer counts more than its version.
    let version = Version(6, 18, 44);
    assert_eq!(Replaces::of(version, Some(libc::EPROTO)), Replaces::Nop10);
    assert_eq!(Replaces::of(version, Some(libc::ENXIO)), Replaces::Nop5);
    assert_eq!(Replaces::of(version, Some(libc::ENOSYS)), Replaces::Nothing);
    assert_eq!(Replaces::of(version, Some(libc::EPERM)), Replaces::Nop5);
    assert!(Replaces::is_worth_asking(version) && !Replaces::is_worth_asking(Version(6, 17, 9)));
}

#[test]
fn the_way_of_each_kernel_at_each_site() {
    use Way::{Emulated, Stepped, SystemCall};
    let kernels = [(6, 1), (6, 15), (6, 16), (6, 18), (7, 2), (7, 3)];
    for (processor, form, place, ways) in [
        (Processor::X86_64, Form::Nop, SiteNop::First, [Emulated; 6]),
        (Processor::X86_64, Form::NopAndNop10, SiteNop::First, [Emulated; 6]),
        (
            Processor::X86_64,
            Form::NopAndNop10,
            SiteNop::Second,
            [Emulated, Emulated, Emulated, Emulated, Emulated, SystemCall],
        ),
        (
            Processor::X86_64,
            Form::NopAndNop5,
            SiteNop::Second,
            [Emulated, Emulated, Emulated, SystemCall, SystemCall, Emulated],
        ),
        (Processor::X86_64, Form::NopAndNop5, SiteNop::First, [Emulated; 6]),
        (Processor::X86_64, Form::Nop5, SiteNop::First, [Stepped, Stepped, Emulated, SystemCall, SystemCall, Emulated]),
        (Processor::X86, Form::Nop, SiteNop::First, [Emulated; 6]),
        (Processor::X86, Form::Nop5, SiteNop::First, [Stepped, Stepped, Emulated, Emulated, Emulated, Emulated]),
        (Processor::Aarch64, Form::Nop, SiteNop::First, [Stepped, Emulated, Emulated, Emulated, Emulated, Emulated]),
    ] {
        for ((major, minor), way) in kernels.into_iter().zip(ways) {
            let found = at_hit(processor, form, place, kernel(major, minor));
            assert_eq!(found, Some(way), "{processor:?}, {form:?}, {place:?}, kernel {major}.{minor}");
        }
    }
    assert_eq!(at_hit(Processor::X86_64, Form::Other, SiteNop::First, kernel(6, 18)), None);
}

#[test]
fn where_tracers_attach() {
    assert_eq!(places(TracerKind::Bpftrace, Version(0, 17, 0)), [SiteNop::First]);
    assert_eq!(places(TracerKind::Bpftrace, Version(0, 24, 0)), [SiteNop::First, SiteNop::Second]);
    assert_eq!(places(TracerKind::Dtrace, Version(2, 0, 7)), [SiteNop::First]);
    assert_eq!(places(TracerKind::Stap, Version(5, 5, 0)), [SiteNop::First]);
}

fn attached() -> [Attached; 2] {
    let by_libbpf = places(TracerKind::Bpftrace, Version(0, 27, 1));
    [("bpftrace 0.27.1".to_owned(), by_libbpf), ("perf".to_owned(), &[SiteNop::First])]
}

/// The finding's status and text about two sites of this code.
fn said(processor: Processor, code: &[u8], kernel: Kernel, tracers: &[Attached]) -> (Status, String) {
    let finding = finding(processor, &[code.to_vec(), code.to_vec()], kernel, "R", tracers).expect("a finding");
    assert_eq!(finding.remedy.is_some(), finding.status != Status::Ok, "{finding:?}");
    (finding.status, finding.text)
}

#[test]
fn a_default_site() {
    let text = "on kernel R, 2 sites of a nop and a 10-byte nop: int3, emulated (bpftrace 0.27.1, perf)";
    let default = |kernel| said(Processor::X86_64, NOP_AND_NOP10, kernel, &attached());
    assert_eq!(default(kernel(6, 1)), (Status::Ok, text.to_owned()));
    let nop5 = format!(
        "{text}; built with dyntrace's feature nop5, for programs that do not fork: optimised to a system call"
    );
    assert_eq!(default(kernel(6, 18)), (Status::Ok, nop5));
    let (status, text) = default(kernel(7, 3));
    assert_eq!(status, Status::Ok);
    let either = "int3, emulated (perf); int3, emulated, or optimised to a system call if its libbpf attaches to the second nop \
                  (bpftrace 0.27.1)";
    assert_eq!(text, format!("on kernel R, 2 sites of a nop and a 10-byte nop: {either}"));
}

#[test]
fn a_site_of_the_feature_nop5() {
    let nop5 = |kernel| said(Processor::X86_64, NOP5, kernel, &attached()[1..]);
    let text = "on kernel R, 2 sites of a 5-byte nop: ";
    assert_eq!(nop5(kernel(6, 1)), (Status::Warn, format!("{text}int3, single-stepped (perf)")));
    let (status, said) = nop5(kernel(6, 18));
    assert_eq!(status, Status::Warn, "a forked child dies there");
    assert!(said.starts_with(&format!("{text}optimised to a system call (perf); a child ")), "{said}");
    assert_eq!(nop5(kernel(7, 3)).0, Status::Ok);
}

#[test]
fn sites_of_several_forms_and_no_tracer() {
    let code = [NOP.to_vec(), NOP5.to_vec(), vec![0x55], NOP.to_vec()];
    let finding = finding(Processor::X86_64, &code, kernel(6, 16), "R", &[]).expect("a finding");
    assert_eq!(
        finding.text,
        "on kernel R, 2 sites of a nop: int3, emulated (any tracer); 1 site of a 5-byte nop: int3, emulated (any tracer); \
         1 site of another instruction than a nop: not known for this instruction (any tracer)"
    );
    assert!(super::finding(Processor::X86_64, &[], kernel(6, 18), "R", &[]).is_none());
}
