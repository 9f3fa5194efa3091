"""Asks the questions of fleet/ with DuckDB, and compares the answers with the programs' own accounts. Called by ci/fleet with its folder
and the command `dyntrace`."""

import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import duckdb

work = pathlib.Path(sys.argv[1])
command = pathlib.Path(sys.argv[2]).resolve()
questions = pathlib.Path("fleet").resolve()
storms = ("old-1", "old-2", "new-1", "new-2", "small-1")
said = {host: json.loads((work / f"{host}.json").read_text()) for host in storms}
sound = [host for host in storms if host != "small-1"]

# The data set is the folder `fleet` here, as in duckdb.sql.
os.chdir(work / "data")
base = duckdb.connect()
base.execute((questions / "duckdb.sql").read_text())


def ask(question, of=base, **replaced):
    text = (questions / f"{question}.sql").read_text()
    for old, new in replaced.items():
        assert old in text, (question, old)
        text = text.replace(old, new)
    answer = of.sql(text)
    return [dict(zip(answer.columns, row)) for row in answer.fetchall()]


def rows(text):
    return base.sql(text).fetchall()


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
    [(hosts, count)] = rows("select count(distinct hostname), count(*) from operations")
    print(f"{count} operations of {hosts} hosts, each once")


def counted():
    """The operations of each program are those that it counted."""
    seen = collections.defaultdict(dict)
    for host, command, ok, failed in rows("""
            select hostname, command_name, count(*) filter (success), count(*) filter (not success)
            from operations group by all"""):
        seen[host][command] = {"ok": ok, "failed": failed}
    for host in sound:
        assert seen[host] == said[host]["commands"], (host, seen[host], said[host])
    assert sum(sum(counts.values()) for counts in seen["killed-1"].values()) > 100


def slowest():
    requests = collections.defaultdict(list)
    for host, process, tag, entered, returned in rows(
            "select hostname, process, user_tag, entry_ns, return_ns from operations where user_tag is not null"):
        requests[host, process, tag].append((entered, returned))
    took = {key: (max(end or 0 for _, end in times) - min(begin for begin, _ in times)) / 1e6 for key, times in requests.items()}
    expected = sorted(took.items(), key=lambda item: (-item[1], item[0]))[:20]
    answer = ask("slowest")
    assert [((row["hostname"], row["process"], row["user_tag"]), row["took_ms"]) for row in answer] == expected, answer
    print(f"slowest: {answer[0]['user_tag']} on {answer[0]['hostname']}, {answer[0]['took_ms']:.1f} ms")


def hops():
    answer = ask("hops", **{"req-1": "req-2"})
    by_host = {row["hostname"]: row for row in answer}
    assert set(storms) <= set(by_host), by_host.keys()
    for host in sound:
        [(count, waited)] = rows(f"""select count(*), sum(int_entry_ns - entry_ns) / 1e6 from operations
            where hostname = '{host}' and user_tag = 'req-2'""")
        assert (by_host[host]["operations"], by_host[host]["queue_wait_ms"]) == (count, waited)
    begins = [row["begin_ns"] for row in answer]
    assert begins == sorted(begins) and answer[0]["since_last_ms"] is None


def unlike():
    answer = ask("unlike")
    assert answer and all(0 <= row["distance"] <= 1 for row in answer), answer
    row = answer[0]
    durations = collections.defaultdict(list)
    for host, duration in base.execute(
            "select hostname = ?, duration_ns from operations where command_name = ? and duration_ns >= 0",
            [row["hostname"], row["command_name"]]).fetchall():
        durations[host].append(duration)
    assert (row["operations"], row["operations_of_others"]) == (len(durations[True]), len(durations[False]))
    # With the steps of the question the distance can only be smaller.
    share = lambda times, upto: sum(time <= upto for time in times) / len(times)
    distance = max(abs(share(durations[True], at) - share(durations[False], at)) for at in durations[True] + durations[False])
    assert row["distance"] <= distance + 1e-9 and distance - row["distance"] < 0.5, (row, distance)
    print(f"unlike: {row['hostname']} in {row['command_name']}, distance {row['distance']:.2f}")


def errors():
    answer = ask("errors")
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


def losses():
    answer = {row["hostname"]: row for row in ask("losses")}
    told = collections.Counter()
    for line in (work / "losses.txt").open():
        found = re.search(r"(\d+) events? lost: \S*/traces/([^/]*)/", line)
        if found:
            told[found[2]] += int(found[1])
    assert told["small-1"] > 0, told
    assert {host: row["lost"] for host, row in answer.items() if row["lost"]} == dict(told), (answer, told)
    assert all(answer[host]["lost"] == 0 for host in sound)
    print(f"losses: {dict(told)}")


def changed():
    answer = {row["command_name"]: row for row in ask("changed")}
    counts = collections.Counter()
    for host in ("new-1", "new-2"):
        counts.update({command: sum(number.values()) for command, number in said[host]["commands"].items()})
    assert {command: row["new_operations"] for command, row in answer.items() if row["new_operations"]} == counts
    [(old,)] = rows("select count(*) from operations where hostname not like 'new-%' and return_ns is not null")
    assert sum(row["old_operations"] for row in answer.values()) == old
    assert all(row["new_p50_ms"] <= row["new_p99_ms"] for row in answer.values() if row["new_operations"])


def messages():
    answer = ask("messages")
    [(sent, received)] = rows("""select count(*) filter (step = 'send'), count(*) filter (step = 'receive')
        from messages where hostname = 'talks-1'""")
    # Three files go through two stages each, with a token.
    assert [row["from_host"] for row in answer] == ["talks-1"] == [row["to_host"] for row in answer], answer
    assert answer[0]["messages"] == sent == received > 0, (answer, sent, received)
    assert 0 <= answer[0]["least_ms"] <= answer[0]["median_ms"] <= answer[0]["most_ms"]
    # Times of one clock are right.
    assert (answer[0]["aligned"], answer[0]["error_ms"]) == (sent, 0), answer


def clocks():
    """The messages of talks-1 as those of two hosts, every second one in the other direction; the clock of `far` is ahead, and gains."""
    ahead, drift = 2_500_000_000, 60e-6
    known = rows("""select sent.time_ns, received.time_ns, sent.token_label, sent.token_previous, sent.token_current
        from messages as sent join messages as received using (hostname, process, token_label, token_previous, token_current)
        where sent.step = 'send' and received.step = 'receive' and hostname = 'talks-1' order by all""")
    first = known[0][0]
    shown = {"near": lambda time: time, "far": lambda time: time + ahead + int((time - first) * drift)}
    took = collections.defaultdict(list)
    apart = duckdb.connect()
    apart.execute("""create table steps (time_ns bigint, hostname text, process text, step text, token_label bigint,
        token_previous bigint, token_current bigint)""")
    for number, (sent, received, *token) in enumerate(known):
        hosts = ("near", "far") if number % 2 == 0 else ("far", "near")
        took[hosts].append((received - sent) / 1e6)
        for host, time, step in zip(hosts, (sent, received), ("send_remote", "receive")):
            apart.execute("insert into steps values (?, ?, 'shop-1', ?, ?, ?, ?)", [shown[host](time), host, step, *token])
    os.makedirs(work / "apart")
    os.chdir(work / "apart")
    for host in shown:
        folder = f"fleet/messages/host={host}/date=2026-11-26/hour=02"
        os.makedirs(folder)
        apart.execute(f"copy (select * from steps where hostname = '{host}') to '{folder}/part.parquet' (format parquet)")
    print(subprocess.run([command, "clocks", "fleet", "--reference", "near"], check=True, capture_output=True, text=True).stdout, end="")
    for view in (questions / "duckdb.sql").read_text().split(";"):
        if re.search(r"VIEW (messages|clocks) AS", view):
            apart.execute(view)
    answer = ask("messages", of=apart)
    assert {(row["from_host"], row["to_host"]) for row in answer} == set(took), answer
    for row in answer:
        truth = took[row["from_host"], row["to_host"]]
        assert row["messages"] == row["aligned"] == len(truth), (row, truth)
        least, median, most, error = (row[column] for column in ("least_ms", "median_ms", "most_ms", "error_ms"))
        assert 0 <= least <= median <= most and 0 < error < 1e3, row
        differences = (least - min(truth), median - statistics.median(truth), most - max(truth))
        assert max(map(abs, differences)) <= error, (row, differences)
    os.chdir(work / "data")
    print(f"clocks: {len(known)} messages by two clocks, {ahead / 1e9} s apart: wrong by at most {error:.3f} ms")


for check in (whole, counted, slowest, hops, unlike, errors, losses, changed, messages, clocks):
    check()
asked = {path.stem for path in questions.glob("*.sql")} - {"duckdb"}
assert asked == {"slowest", "hops", "unlike", "errors", "losses", "changed", "messages"}, asked
print("all questions answered")
