"""Asks the questions of fleet/ with DuckDB, and compares the answers with the programs' own accounts. Called by ci/fleet."""

import collections
import json
import os
import pathlib
import re
import sys

import duckdb

work = pathlib.Path(sys.argv[1])
questions = pathlib.Path("fleet").resolve()
storms = ("old-1", "old-2", "new-1", "new-2", "small-1")
said = {host: json.loads((work / f"{host}.json").read_text()) for host in storms}
sound = [host for host in storms if host != "small-1"]

# The data set is the folder `fleet` here, as in duckdb.sql.
os.chdir(work / "data")
base = duckdb.connect()
base.execute((questions / "duckdb.sql").read_text())


def ask(question, **replaced):
    text = (questions / f"{question}.sql").read_text()
    for old, new in replaced.items():
        assert old in text, (question, old)
        text = text.replace(old, new)
    answer = base.sql(text)
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


for check in (whole, counted, slowest, hops, unlike, errors, losses, changed, messages):
    check()
asked = {path.stem for path in questions.glob("*.sql")} - {"duckdb"}
assert asked == {"slowest", "hops", "unlike", "errors", "losses", "changed", "messages"}, asked
print("all questions answered")
