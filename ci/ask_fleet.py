"""Asks the questions of fleet/ with several engines, and compares the answers with the programs' own accounts, which DuckDB reads. Called by
ci/fleet with its folder, the command `dyntrace`, the names of the hosts and the names of the engines."""

import collections
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import deltalake
import duckdb

import fleet_engines

work = pathlib.Path(sys.argv[1]).resolve()
command = pathlib.Path(sys.argv[2]).resolve()
hosts = sys.argv[3].split()
names = sys.argv[4:]
of_kind = lambda *kinds: [host for host in hosts if host.split("-")[0] in kinds]
sound, killed, full = of_kind("old", "new"), of_kind("killed"), of_kind("full")
lossy = of_kind("small") + full
storms = sound + lossy
requests = len(re.findall(r"^request \d+: 14 hosts", (work / "requests.txt").read_text(), re.M))
said = {host: json.loads((work / f"{host}.json").read_text()) for host in storms}
assert len(sound) == 14 and len(killed) == 2 and all((work / f"{host}.json").read_text() == "" for host in killed), hosts
assert requests == 30, (work / "requests.txt").read_text()

# What each operation fires, as none is answered in place.
EVENTS = tuple(f"dyntrace:efile_drv-{step}" for step in ("entry", "int_entry", "int_return", "return"))

truth = fleet_engines.DuckDB(work / "data")
answers = {}


def ask(engine, question, **replaced):
    """The rows that answer a question. They are the same, in the same order, from each engine."""
    text = (fleet_engines.questions / f"{question}.sql").read_text()
    for old, new in replaced.items():
        assert old in text, (question, old)
        text = text.replace(old, new)
    answer = engine.ask(text)
    first = answers.setdefault((text, engine.folder), answer)
    assert len(answer) == len(first) and all(map(same, answer, first)), (question, answer, first)
    return answer


def same(row, other):
    # DataFusion interpolates percentiles in steps of a millionth.
    return row.keys() == other.keys() and all(
        math.isclose(row[column], other[column], rel_tol=1e-5) if isinstance(row[column], float) and other[column] is not None
        else row[column] == other[column]
        for column in row)


def rows(text):
    return truth.base.sql(text).fetchall()


def whole():
    """Each row is there once, and the same rows as in tables that one converter wrote at the end."""
    for table, key in (("operations", "hostname, process, driver, thread_id, tag"), ("tasks", "hostname, process, proc")):
        [(all_rows, different)] = rows(f"select count(*), count(distinct ({key})) from {table}")
        assert all_rows == different > 0, (table, all_rows, different)
        [(missing,)] = rows(f"select count(*) from (select {key} from '{work}/tables/{table}.parquet' except select {key} from {table})")
        [(more,)] = rows(f"select count(*) from (select {key} from {table} except select {key} from '{work}/tables/{table}.parquet')")
        assert missing == more == 0, (table, missing, more)
    by_probe = "select hostname, process, probe, count(*) from {} group by all order by all"
    assert rows(by_probe.format("events")) == rows(by_probe.format(f"'{work}/tables/events.parquet'"))
    # The ends of ranges, which lie anywhere in the recordings, tear no operation apart.
    assert {host for (host,) in rows("select hostname from losses where kind = 'unmatched'")} <= set(lossy)
    assert {host for (host,) in rows("select distinct hostname from operations")} == set(hosts)
    [(count,)] = rows("select count(*) from operations")
    print(f"{count} operations of {len(hosts)} hosts, each once")


def counted(engine):
    """The operations of each program are those that it counted, and each host has one for each request that went through it."""
    served = engine.ask("select hostname, count(*) as served from operations where process like 'relay-%' group by hostname")
    assert {row["hostname"]: row["served"] for row in served} == dict.fromkeys(sound, requests), served
    seen = collections.defaultdict(dict)
    for row in engine.ask("""
            select hostname, command_name, count(*) filter (where success) as ok, count(*) filter (where not success) as failed
            from operations where process not like 'relay-%' group by hostname, command_name"""):
        seen[row["hostname"]][row["command_name"]] = {"ok": row["ok"], "failed": row["failed"]}
    for host in sound:
        assert seen[host] == said[host]["commands"], (host, seen[host], said[host])
    for host in killed:
        assert sum(sum(counts.values()) for counts in seen[host].values()) > 100
    summed = collections.defaultdict(dict)
    for row in engine.ask("""
            select hostname, probe, count(*) as events from events
            where probe like 'dyntrace:efile_drv-%' and process not like 'relay-%' group by hostname, probe"""):
        summed[row["hostname"]][row["probe"]] = row["events"]
    lost = {row["hostname"]: row["lost"] for row in engine.ask(
        "select hostname, sum(count) as lost from losses where kind in ('discarded', 'lost') group by hostname")}
    for host in sound:
        assert summed[host] == dict.fromkeys(EVENTS, said[host]["total"]), (host, summed[host], said[host])
    # These record no other probes: each event of an operation is there or counted as lost.
    for host in lossy:
        fired = len(EVENTS) * said[host]["total"]
        assert 0 < lost[host] < fired == sum(summed[host].values()) + lost[host], (host, summed[host], lost[host], said[host])
        assert all(summed[host][probe] <= said[host]["total"] for probe in EVENTS), (host, summed[host], said[host])


def delta_tables():
    """The Delta tables over the same files have the same rows, as delta-rs reads them."""
    tables = sorted(log.parent for log in (work / "data/fleet").glob("*/_delta_log"))
    assert {path.name for path in tables} == {"events", "operations", "tasks", "waits", "messages", "losses"}, tables
    for path in tables:
        text = f"select host, count(*), sum(pid), sum(time_ns % 1000) from {path.name} group by host order by host"
        delta = deltalake.QueryBuilder().register(path.name, deltalake.DeltaTable(path)).execute(text).read_all()
        found = list(zip(*(delta.column(at).to_pylist() for at in range(delta.num_columns))))
        assert found == rows(text), (path, found, rows(text))
    print(f"Delta tables: {len(tables)}, with the same rows")


def full_disks():
    """The losses of full disks tell their cause, and others have other causes."""
    told = {host for (host,) in rows("select hostname from losses where reason like '%No space left on device%'")}
    assert told == set(full), (told, full)
    if full:
        print(f"full disks of {', '.join(full)}: told")


def in_flight():
    """Of a killed program every operation is there up to the last one of each of its threads, and its two tasks have at most one each that did
    not return."""
    for host in killed:
        threads = rows(f"select count(*), min(tag), max(tag), count(return_ns) from operations where hostname = '{host}' group by thread_id")
        assert all(count == last and first == 1 for count, first, last, _ in threads), (host, threads)
        pending = sum(count - returned for count, _, _, returned in threads)
        assert pending <= 2, (host, threads)
        print(f"{host}: {sum(count for count, *_ in threads)} operations, {pending} of them in flight when it was killed")


def slowest(engine):
    requests = collections.defaultdict(list)
    for host, process, tag, entered, returned in rows(
            "select hostname, process, user_tag, entry_ns, return_ns from operations where user_tag is not null"):
        requests[host, process, tag].append((entered, returned))
    took = {key: (max(end or 0 for _, end in times) - min(begin for begin, _ in times)) / 1e6 for key, times in requests.items()}
    expected = sorted(took.items(), key=lambda item: (-item[1], item[0]))[:20]
    answer = ask(engine, "slowest")
    assert [((row["hostname"], row["process"], row["user_tag"]), row["took_ms"]) for row in answer] == expected, answer
    print(f"slowest: {answer[0]['user_tag']} on {answer[0]['hostname']}, {answer[0]['took_ms']:.1f} ms")


def hops(engine):
    answer = ask(engine, "hops", **{"req-1": "req-2"})
    by_host = {row["hostname"]: row for row in answer}
    assert set(storms) <= set(by_host), by_host.keys()
    for host in sound:
        [(count, waited)] = rows(f"""select count(*), sum(int_entry_ns - entry_ns) / 1e6 from operations
            where hostname = '{host}' and user_tag = 'req-2'""")
        assert (by_host[host]["operations"], by_host[host]["queue_wait_ms"]) == (count, waited)
    begins = [row["begin_ns"] for row in answer]
    assert begins == sorted(begins) and answer[0]["since_last_ms"] is None
    # A request goes through the hosts in their order. Their clocks agree, as they are one.
    passed = ask(engine, "hops", **{"req-1": "request 7"})
    assert [row["hostname"] for row in passed] == sound, passed
    assert all(row["operations"] == 1 and row["since_last_ms"] > -row["error_ms"] for row in passed[1:]), passed


def unlike(engine):
    answer = ask(engine, "unlike")
    assert answer and all(0 <= row["distance"] <= 1 for row in answer), answer
    row = answer[0]
    durations = collections.defaultdict(list)
    for host, duration in truth.base.execute(
            "select hostname = ?, duration_ns from operations where command_name = ? and duration_ns >= 0",
            [row["hostname"], row["command_name"]]).fetchall():
        durations[host].append(duration)
    assert (row["operations"], row["operations_of_others"]) == (len(durations[True]), len(durations[False]))
    # With the steps of the question the distance can only be smaller.
    share = lambda times, upto: sum(time <= upto for time in times) / len(times)
    distance = max(abs(share(durations[True], at) - share(durations[False], at)) for at in durations[True] + durations[False])
    assert row["distance"] <= distance + 1e-9 and distance - row["distance"] < 0.5, (row, distance)
    print(f"unlike: {row['hostname']} in {row['command_name']}, distance {row['distance']:.2f}")


def errors(engine):
    answer = ask(engine, "errors")
    failed = collections.Counter()
    for row in answer:
        failed[row["command_name"]] += row["failed"]
    [(all_failed,)] = rows("select count(*) from operations where not success")
    assert failed.total() == all_failed > 0, (failed, all_failed)
    by_programs = sum(counts["failed"] for host in sound for counts in said[host]["commands"].values())
    [(of_sound,)] = rows(f"select count(*) from operations where not success and hostname in {tuple(sound)}")
    assert of_sound == by_programs, (of_sound, by_programs)
    # Each program has a folder of its own below /tmp.
    missing = [row for row in answer if row["failure"] == "ENOENT"]
    assert len({row["prefix"] for row in missing}) >= len(storms), answer
    assert all(row["hosts"] == 1 and row["prefix"].count("/") == 2 for row in missing), answer


def losses(engine):
    answer = {row["hostname"]: row for row in ask(engine, "losses")}
    told = collections.Counter()
    for line in (work / "losses.txt").open():
        found = re.search(r"(\d+) events? lost: \S*/traces/([^/]*)/", line)
        if found:
            told[found[2]] += int(found[1])
    assert set(told) == set(lossy), told
    assert {host: row["lost"] for host, row in answer.items() if row["lost"]} == dict(told), (answer, told)
    assert all(answer[host]["lost"] == answer[host]["of_unknown_number"] == 0 for host in sound)
    assert {host: row["events"] for host, row in answer.items()} == dict(rows("select hostname, count(*) from events group by all"))
    print(f"losses: {dict(told)}")


def changed(engine):
    answer = {row["command_name"]: row for row in ask(engine, "changed")}
    counts = collections.Counter()
    for host in of_kind("new"):
        counts.update({command: sum(number.values()) for command, number in said[host]["commands"].items()})
        counts["FSTAT"] += requests
    assert {command: row["new_operations"] for command, row in answer.items() if row["new_operations"]} == counts
    [(old,)] = rows("select count(*) from operations where hostname not like 'new-%' and return_ns is not null")
    assert sum(row["old_operations"] for row in answer.values()) == old
    assert all(row["new_p50_ms"] <= row["new_p99_ms"] for row in answer.values() if row["new_operations"])


def messages(engine):
    answer = {(row["from_host"], row["to_host"]): row for row in ask(engine, "messages")}
    [(sent, received)] = rows("""select count(*) filter (step = 'send'), count(*) filter (step = 'receive')
        from messages where hostname = 'talks-1'""")
    neighbours = list(zip(sound, sound[1:]))
    ways = neighbours + [(to, sender) for sender, to in neighbours]
    # Three files go through two stages each, with a token.
    assert {way: row["messages"] for way, row in answer.items()} == dict.fromkeys(ways, requests) | {("talks-1", "talks-1"): sent}, answer
    assert sent == received > 0, (sent, received)
    assert all(0 <= row["least_ms"] <= row["median_ms"] <= row["most_ms"] and row["aligned"] == row["messages"] for row in answer.values()), answer
    # Times of one clock are right.
    assert answer["talks-1", "talks-1"]["error_ms"] == 0 and all(answer[way]["error_ms"] > 0 for way in ways), answer


def align(folder):
    """Writes the table of clocks, which tells how each host's clock differs from the first one's."""
    aligned = subprocess.run([command, "clocks", folder, "--reference", sound[0]], check=True, capture_output=True, text=True)
    print(aligned.stdout, end="")


def together():
    """The hosts' clocks are one, so the differences found are errors."""
    align(work / "data/fleet")
    found = duckdb.sql(f"select hostname, ahead_ns, error_ns from '{work}/data/fleet/clocks/clocks.parquet'").fetchall()
    assert {host for host, *_ in found} == set(sound), found
    assert all(abs(ahead) <= error for _, ahead, error in found), found


def set_apart():
    """Makes a data set of the messages between hosts, as if each host's clock was ahead of the one before, and gained. Returns how long the
    messages took, in ms, for each pair of hosts."""
    known = rows("""select sent.hostname, received.hostname, sent.time_ns, received.time_ns,
            sent.token_label, sent.token_previous, sent.token_current
        from messages as sent join messages as received using (token_label, token_previous, token_current)
        where sent.step = 'send_remote' and received.step = 'receive' order by sent.time_ns""")
    begun = known[0][2]
    shown = lambda host, at: at + sound.index(host) * 2_500_000_000 + int((at - begun) * sound.index(host) * 10e-6)
    took = collections.defaultdict(list)
    steps = []
    for sender, receiver, sent, received, *token in known:
        took[sender, receiver].append((received - sent) / 1e6)
        steps.append([shown(sender, sent), sender, "send_remote", *token])
        steps.append([shown(receiver, received), receiver, "receive", *token])
    base = duckdb.connect()
    base.execute("""create table steps (time_ns bigint, hostname text, process text, step text, token_label bigint,
        token_previous bigint, token_current bigint)""")
    base.executemany("insert into steps values (?, ?, 'relay-1', ?, ?, ?, ?)", steps)
    for host in sound:
        folder = work / f"apart/fleet/messages/host={host}/date=2026-11-26/hour=02"
        os.makedirs(folder)
        base.execute(f"copy (select * from steps where hostname = '{host}') to '{folder}/part.parquet' (format parquet)")
    align(work / "apart/fleet")
    print(f"clocks: {len(known)} messages by {len(sound)} clocks, each 2.5 s ahead of the one before")
    return took


def clocks(engine):
    """Times of messages between hosts are wrong by at most their error."""
    answer = ask(engine, "messages")
    assert {(row["from_host"], row["to_host"]) for row in answer} == set(took_apart), answer
    for row in answer:
        took = took_apart[row["from_host"], row["to_host"]]
        assert row["messages"] == row["aligned"] == len(took), (row, took)
        least, median, most, error = (row[column] for column in ("least_ms", "median_ms", "most_ms", "error_ms"))
        assert 0 <= least <= median <= most and 0 < error < 1e3, row
        differences = (least - min(took), median - statistics.median(took), most - max(took))
        assert max(map(abs, differences)) <= error, (row, differences)
    print(f"clocks: wrong by at most {max(row['error_ms'] for row in answer):.3f} ms")


whole()
delta_tables()
full_disks()
in_flight()
together()
took_apart = set_apart()
checks = (counted, slowest, hops, unlike, errors, losses, changed, messages)
asked = {path.stem for path in fleet_engines.questions.glob("*.sql")} - {"duckdb", "spark"}
assert asked == {check.__name__ for check in checks} - {"counted"}, asked
for name in names:
    begun = time.monotonic()
    engine = fleet_engines.by_name[name](work / "data")
    for check in checks:
        check(engine)
    clocks(fleet_engines.by_name[name](work / "apart"))
    print(f"{name}: all questions answered ({time.monotonic() - begun:.1f} s)")
