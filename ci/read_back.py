"""Compares the conversions of a trace of two programs with the programs' own accounts. Called by ci/reading."""

import collections
import json
import pathlib
import re
import sys
import zlib

import duckdb
from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
from PIL import Image

work = pathlib.Path(sys.argv[1])
said = [json.loads((work / f"{program}.json").read_text()) for program in "ab"]
total = sum(one["total"] for one in said)


def lines():
    viewed = [json.loads(line) for line in (work / "view.jsonl").open()]
    returned = [event for event in viewed if event["probe"] == "dyntrace:efile_drv-return"]
    by_process = collections.Counter(event["process"] for event in returned)
    assert sorted(by_process.values()) == sorted(one["total"] for one in said), by_process

    # The count of each probe must be that of another reader.
    others = [line for line in (work / "babeltrace.txt").open() if " dyntrace:" in line]
    assert collections.Counter(event["probe"] for event in viewed) == collections.Counter(
        re.search(r" (dyntrace:[^ ]*): ", line)[1] for line in others)
    print(f"babeltrace2: {len(others)} events, as dyntrace view has them")


def fields(text):
    return dict(re.findall(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^ ,]+)', text))


def events(name):
    """Time, process, probe and fields of each event that babeltrace2 printed, without the packet context: a converted trace has
    other checksums."""
    parse = re.compile(r"\[(.*?)\] \(.*?\) (\S+) (\S+): \{ [^}]* \}, \{ (.*)\}")
    found = [parse.fullmatch(line.rstrip("\n")).groups() for line in (work / f"{name}.txt").open()]
    numbers = lambda text: sorted(item for item in fields(text).items() if not item[1].startswith('"'))
    return sorted(found, key=lambda event: (*event[:3], numbers(event[3])))


def is_same(old, new):
    """Whether two lines have the same content. babeltrace2 2.0.4 prints an earlier event's string in place of an empty one."""
    old_fields, new_fields = fields(old[3]), fields(new[3])
    return old[:3] == new[:3] and old_fields.keys() == new_fields.keys() and all(
        old_fields[name] == value or value == '""' for name, value in new_fields.items())


def formats():
    # babeltrace2 2.1 must read the same events from both formats,
    assert events("newer-trace") == events("newer-converted")
    # and so must babeltrace2 2.0 from CTF 1.8.
    for old, new in (("babeltrace", "newer-converted"), ("older", "newer-recorded")):
        old, new = events(old), events(new)
        assert len(old) == len(new) and all(map(is_same, old, new)), next(
            pair for pair in zip(old, new) if not is_same(*pair))
    # The count of each probe must be that of our reader, also for killed programs and for one that ran out of disk space.
    for trace in ("recorded", "small", "killed-ctf1.8", "killed-ctf2"):
        viewed = [json.loads(line) for line in (work / f"view-{trace}.jsonl").open()]
        read = collections.Counter(probe for _, _, probe, _ in events(f"newer-{trace}") if probe.startswith("dyntrace:"))
        assert read == collections.Counter(event["probe"] for event in viewed) and read, trace
        print(f"CTF by babeltrace2 2.1: {read.total()} events of {trace}")


def tables():
    events, operations = (f"'{work}/tables/{name}.parquet'" for name in ("events", "operations"))

    # The operations of each program must be those that it counted.
    rows = duckdb.sql(f"""
        select process, command_name, count(*) filter (success), count(*) filter (not success)
        from {operations} group by all""").fetchall()
    seen = collections.defaultdict(dict)
    for process, command, ok, failed in rows:
        seen[process][command] = {"ok": ok, "failed": failed}
    key = lambda commands: json.dumps(commands, sort_keys=True)
    assert sorted(map(key, seen.values())) == sorted(key(one["commands"]) for one in said), seen

    # Each operation must be joined to its own events, in every process.
    [(met,)] = duckdb.sql(f"""
        select count(*) from {operations} o
        join {events} first on first.probe = 'dyntrace:efile_drv-entry' and first.time_ns = o.entry_ns
            and (first.process, first.thread_id, first.tag) = (o.process, o.thread_id, o.tag)
        join {events} last on last.probe = 'dyntrace:efile_drv-return' and last.time_ns = o.return_ns
            and (last.process, last.thread_id, last.tag) = (o.process, o.thread_id, o.tag)
        where o.user_tag = first.user_tag and o.queue_wait_ns + o.service_ns + o.delivery_ns = last.time_ns - first.time_ns
        """).fetchall()
    assert met == total, (met, total)

    # The programs ran at the same time, so their operations must overlap.
    [(overlaps,)] = duckdb.sql(f"""
        select count(*) from {operations} a join {operations} b
        on a.process < b.process and a.entry_ns < b.return_ns and b.entry_ns < a.return_ns""").fetchall()
    assert overlaps > 0
    print(f"DuckDB: {total} operations of 2 processes, {overlaps} pairs overlap")


def packets():
    """The packets of Perfetto's file, with the time of each event and the name of each slice in the event itself."""
    groups = perfetto.Trace.FromString((work / "trace.perfetto").read_bytes()).packet
    assert all(group.compressed_packets for group in groups)
    names, clock = {}, 0
    for packet in (packet for group in groups for packet in perfetto.Trace.FromString(zlib.decompress(group.compressed_packets)).packet):
        interned = packet.interned_data
        for message in (packet, packet.track_event, packet.track_descriptor, interned):
            assert not len(unknown_fields.UnknownFieldSet(message)), message
        if packet.HasField("clock_snapshot"):
            names, clock = {}, packet.timestamp
        names |= {string.iid: string.name for string in interned.event_names}
        if packet.HasField("track_event"):
            if not packet.timestamp_clock_id:
                clock += packet.timestamp
                packet.timestamp = clock
            if packet.track_event.name_iid:
                packet.track_event.name = names[packet.track_event.name_iid]
        yield packet


def slices():
    tracks, events = {}, []
    for packet in packets():
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        elif packet.HasField("track_event"):
            assert packet.track_event.track_uuid in tracks
            events.append((packet.timestamp, packet.track_event))
    events.sort(key=lambda event: event[0])
    stacks, names = collections.defaultdict(list), collections.Counter()
    for _, event in events:
        stack = stacks[event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append(event.name)
            assert len(stack) <= 2, stack
        elif event.type == event.TYPE_SLICE_END:
            names[stack.pop()] += 1
    assert not any(stacks.values()), stacks
    # Each is on a track of the thread and one of the tag; and, without its stages, on the track of the I/O thread.
    for stage in ("queue wait", "service", "delivery"):
        assert names.pop(stage) == 2 * total, names
    assert sum(names.values()) == 3 * total, names
    processes = [track.process for track in tracks.values() if track.HasField("process")]
    assert len(processes) == 2 and all(one.process_name == "file_storm" for one in processes), processes
    assert any(track.thread.thread_name.startswith("dyntrace-io-") for track in tracks.values())
    kinds = collections.Counter(track.name for track in tracks.values())
    assert kinds["user tags"] == 2 and kinds["queue length"] > 0, kinds
    print(f"Perfetto: {len(events)} events on {len(tracks)} tracks")


def page():
    dom = (work / "dom.html").read_text()
    assert dom.count("<svg") == 2 and dom.count("<rect") > 50, dom[:2000]
    for part in ('id="latency"', 'id="queue"', "Nothing was lost", "2 processes", "RENAME", "p99.9", "file_storm"):
        assert part in dom, part
    picture = Image.open(work / "report.png").convert("RGB")
    colours = len(picture.getcolors(maxcolors=picture.width * picture.height))
    assert picture.size == (1300, 2400) and colours > 100, (picture.size, colours)
    print(f"page: {dom.count('<rect')} fields and bars, {colours} colours in the picture")


lines()
formats()
tables()
slices()
page()
