//! The events that bpftrace prints, put together and made into lines.

use std::collections::{BTreeMap, HashMap, HashSet};

use dyntrace_analysis::render::{Rendering, Way};
use dyntrace_analysis::view::{Format, OfTag};
use dyntrace_build::model::{ArgumentKind, Probe};
use dyntrace_reader::Source;
use memchr::memmem;

use crate::run::marks::{Mark, Tally};

use super::description::{STRING, THREAD, is_text};

/// Scripts that relate events to each other, as every one does that selects by user tag, get them in the order of time: an event waits until there is one so many nanoseconds
/// later. Each processor delivers its events in less time.
const ORDERED_AFTER: i64 = 1_000_000_000;

/// Reads the output of bpftrace.
pub struct Events {
    mark: Mark,
    /// Bytes that arrived and are not a whole record yet.
    rest: Vec<u8>,
    probes: Vec<Probe>,
    /// By processor, the event whose records arrive.
    begun: HashMap<u32, Begun>,
    threads: HashSet<u64>,
    /// Events that wait for their turn, by time and order of arrival. `None` where lines are printed as events arrive.
    waiting: Option<BTreeMap<(i64, u64), Arrived>>,
    /// How many have waited.
    waited: u64,
    /// Selects the events that make lines. `None`: all do.
    of_tag: Option<OfTag>,
    source: Source,
    format: Format,
    /// Whether a string was as long as bpftrace keeps.
    pub has_cut: bool,
    /// How many events there were, and how many arrived whole.
    pub tally: Tally,
}

/// An event without some of its strings.
struct Begun {
    probe: usize,
    at: i64,
    tid: u64,
    numbers: Vec<u64>,
    texts: Vec<Vec<u8>>,
}

/// A whole event.
struct Arrived {
    class: u16,
    at: i64,
    tid: u64,
    data: Vec<u8>,
}

impl Events {
    /// Reads the events of these `probes`; `rendering` turns those that `of_tag` takes into lines in this `format`.
    pub fn new(
        mark: Mark,
        rendering: &Rendering,
        probes: Vec<Probe>,
        of_tag: Option<OfTag>,
        source: Source,
        format: Format,
    ) -> Events {
        let is_related = matches!(rendering.way, Way::Summary { .. }) || of_tag.is_some();
        Events {
            mark,
            rest: Vec::new(),
            probes,
            begun: HashMap::new(),
            threads: HashSet::new(),
            waiting: is_related.then(BTreeMap::new),
            waited: 0,
            of_tag,
            source,
            format,
            has_cut: false,
            tally: Tally::default(),
        }
    }

    /// Takes the next piece in, and returns the lines that are complete.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(piece);
        let (mut text, mut out) = (std::mem::take(&mut self.rest), Vec::new());
        // Before the records: those of another processor may arrive after the count.
        self.count(&text);
        let mut at = 0;
        while let Some((record, after)) = self.mark.first_record(&text[at..]) {
            // A record is dropped if its event has lost another record: the count at the end reports that.
            let _ = self.take(&text[at..][record], &mut out);
            at += after;
        }
        text.drain(..at);
        self.rest = text;
        out
    }

    /// Returns the lines that are left when bpftrace has ended.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for arrived in self.waiting.take().into_iter().flat_map(BTreeMap::into_values) {
            self.show(&arrived, &mut out);
        }
        self.format.0.end(&mut out);
        out
    }

    /// Reads the count of all events, if it is there.
    fn count(&mut self, text: &[u8]) {
        let (from, to) = self.mark.around_count();
        let Some(begin) = memmem::find(text, from.as_bytes()).map(|at| at + from.len()) else { return };
        let Some(length) = memmem::find(&text[begin..], to.as_bytes()) else { return };
        let text = String::from_utf8_lossy(&text[begin..begin + length]);
        // bpftrace prints nothing for an empty map.
        self.tally.fired = Some(text.rsplit_once(':').and_then(|(_, count)| count.trim().parse().ok()).unwrap_or(0));
    }

    /// Takes a record in. `None` if it does not continue the records before it.
    fn take(&mut self, record: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut words = record.splitn(5, |&byte| byte == b' ');
        let mut number = || str::from_utf8(words.next()?).ok()?.parse::<u64>().ok();
        let (cpu, probe, at) = (u32::try_from(number()?).ok()?, usize::try_from(number()?).ok()?, number()?);
        let (at, kind, rest) = (at.cast_signed(), words.next()?, words.next()?);
        let known = self.probes.get(probe)?;
        let texts = known.arguments.iter().filter(|argument| is_text(argument)).count();
        match kind {
            b"n" => {
                let mut words = rest.splitn(known.arguments.len() - texts + 2, |&byte| byte == b' ');
                let mut number = || Some(str::from_utf8(words.next()?).ok()?.parse::<i128>().ok()? as u64);
                let tid = number()?;
                let numbers = (texts..known.arguments.len()).map(|_| number()).collect::<Option<_>>()?;
                let name = words.next()?;
                self.begun.insert(cpu, Begun { probe, at, tid, numbers, texts: Vec::new() });
                self.name(at, tid, name, out);
            }
            b"s" => {
                let begun = self.begun.get_mut(&cpu).filter(|begun| (begun.probe, begun.at) == (probe, at))?;
                self.has_cut |= rest.len() + 1 >= STRING;
                begun.texts.push(rest.to_vec());
            }
            _ => return None,
        }
        if self.begun.get(&cpu)?.texts.len() == texts {
            let whole = self.begun.remove(&cpu)?;
            let data = data(&self.probes[probe], &whole);
            self.tally.printed += 1;
            let class = THREAD + 1 + u16::try_from(probe).ok()?;
            self.arrived(Arrived { class, at: whole.at, tid: whole.tid, data }, out);
        }
        Some(())
    }

    /// Adds an event with the name of a thread, before the thread's first event.
    fn name(&mut self, at: i64, tid: u64, name: &[u8], out: &mut Vec<u8>) {
        if self.threads.insert(tid) {
            let data = [&tid.to_ne_bytes(), name, b"\0"].concat();
            self.arrived(Arrived { class: THREAD, at, tid, data }, out);
        }
    }

    fn arrived(&mut self, arrived: Arrived, out: &mut Vec<u8>) {
        let Some(waiting) = &mut self.waiting else {
            // Lines do not name threads.
            return if arrived.class != THREAD {
                self.show(&arrived, out)
            };
        };
        let newest = arrived.at;
        self.waited += 1;
        waiting.insert((newest, self.waited), arrived);
        while let Some(first) = self.waiting.as_mut().and_then(|waiting| waiting.first_entry())
            && first.get().at < newest - ORDERED_AFTER
        {
            let first = first.remove();
            self.show(&first, out);
        }
    }

    fn show(&mut self, arrived: &Arrived, out: &mut Vec<u8>) {
        if let Some(event) = self.source.event(arrived.class, arrived.at, arrived.tid, &arrived.data)
            && self.of_tag.as_mut().is_none_or(|of_tag| of_tag.takes(&event))
        {
            self.format.0.event(&event, out);
        }
    }
}

/// The fields of an event, packed.
fn data(probe: &Probe, whole: &Begun) -> Vec<u8> {
    let (mut numbers, mut texts) = (whole.numbers.iter(), whole.texts.iter());
    let mut data = Vec::new();
    for argument in &probe.arguments {
        match argument.ty.kind {
            ArgumentKind::Text => {
                data.extend(texts.next().into_iter().flatten());
                data.push(0);
            }
            // The site names the lower half of a register.
            ArgumentKind::I32 | ArgumentKind::U32 => {
                data.extend(numbers.next().map_or(0, |&number| number as u32).to_ne_bytes())
            }
            ArgumentKind::I64 | ArgumentKind::U64 => data.extend(numbers.next().copied().unwrap_or(0).to_ne_bytes()),
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use dyntrace_analysis::render::{self, Settings};
    use dyntrace_programs::elf::Note;

    use super::*;
    use crate::run::output::Sink;
    use crate::run::raw::Raw;

    /// The reader of the events of `efile_drv`, and the mark of its records.
    fn reader() -> (Events, Mark) {
        let sites: &[Note] = &[];
        let mark = Mark::new();
        let raw = Raw::new(render::find("efile_drv").unwrap(), sites, mark.clone(), None, Settings::default()).unwrap();
        let file = tempfile::tempfile().unwrap();
        (raw.reader(47).unwrap()(&Sink::File(file)), mark)
    }

    /// The records of `efile_drv-int_entry` of this operation, on a processor.
    fn int_entry(mark: &Mark, cpu: u32, tag: u32) -> String {
        format!("{}{cpu} 1 100{tag} n 47 1 {tag} 12 worker{}\n", mark.begin(), mark.end())
    }

    /// Those of its `efile_drv-return`: the numbers, and the user tag.
    fn answer(mark: &Mark, cpu: u32, tag: u32) -> [String; 2] {
        let record = |text: String| format!("{}{cpu} 3 200{tag} {text}{}\n", mark.begin(), mark.end());
        [record(format!("n 47 1 {tag} 12 0 2 0 a thread")), record("s req\n1".to_owned())]
    }

    #[test]
    fn records_of_processors_lie_between_each_other_and_arrive_in_pieces() {
        let (_, mark) = reader();
        let [first, second] = [answer(&mark, 0, 7), answer(&mark, 1, 8)];
        let text = [&first[0][..], &int_entry(&mark, 2, 9), &second[0], &second[1], &first[1]].concat();
        let expected = "async I/O worker tag={1,9} | RENAME (12) | efile_drv-int_entry
efile_drv return tag={1,8} user tag req\\x0a1 | RENAME (12) | errno 2
efile_drv return tag={1,7} user tag req\\x0a1 | RENAME (12) | errno 2
";
        for size in [1, 7, 4096] {
            let (mut events, own) = reader();
            let text = text.replace(&mark.begin(), &own.begin()).replace(&mark.end(), &own.end());
            let mut out = Vec::new();
            text.as_bytes().chunks(size).for_each(|piece| out.extend(events.push(piece)));
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            assert_eq!(events.tally, Tally { fired: None, printed: 3, cut: 0 });
        }
    }

    #[test]
    fn a_count_before_the_last_records_of_another_processor() {
        for size in [1, 7, 4096] {
            let (mut events, mark) = reader();
            let (from, to) = mark.around_count();
            let count = format!("{from}@dyntrace_fired: 2\n{to}");
            let text = [int_entry(&mark, 0, 8), count, int_entry(&mark, 1, 9)].concat();
            text.as_bytes().chunks(size).for_each(|piece| drop(events.push(piece)));
            assert_eq!(events.tally, Tally { fired: Some(2), printed: 2, cut: 0 });
        }
    }

    #[test]
    fn an_event_without_all_of_its_records_is_none() {
        let (mut events, mark) = reader();
        let [numbers, text] = answer(&mark, 0, 7);
        let (from, to) = mark.around_count();
        let lost =
            [&text[..], &numbers, &numbers.replace("2007", "2008"), &text, "0a0b", &from, "@dyntrace_fired: 3\n", &to];
        assert_eq!(events.push(lost.concat().as_bytes()), b"");
        assert_eq!(events.tally, Tally { fired: Some(3), printed: 0, cut: 0 });

        let (mut events, mark) = reader();
        let (from, to) = mark.around_count();
        events.push(format!("{from}{to}").as_bytes());
        assert_eq!(events.tally.fired, Some(0), "a program that fired nothing");
    }
}
