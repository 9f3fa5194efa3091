"""Traced functions: cost of their calls."""

import subprocess
from pathlib import Path

from .common import PEERS, Median, ROOT, TARGET, build, install, instructions, median_ratio, nanoseconds, room, say, taken_in_turns, until_met
from . import otp


def call_ns(*arguments):
    """CPU time of a call in a `traced_loop`, in the thread with the most expensive calls."""
    run = subprocess.run(list(map(str, arguments)), stdout=subprocess.PIPE, text=True, check=True)
    return max(map(float, run.stdout.split()))


def traced():
    loop = build("traced_loop")

    def ns(case, *options):
        return call_ns(loop, case, 10_000_000, *options)

    def beyond(base, case, *options):
        def difference(effort):
            ours, bare = taken_in_turns(7 * effort, lambda: ns(case, *options), base)
            return Median(one - other for one, other in zip(ours, bare))
        return difference

    def bare(*options):
        return lambda: ns("function", *options)

    for what, limit, measure in (
            ("a function nobody traces", 0.3, beyond(bare(), "unset")),
            ("a hit whose session does not want this process", 3, beyond(bare(), "elsewhere")),
            ("each further session of that kind", 1, beyond(lambda: ns("elsewhere"), "elsewhere", "--sessions", 2)),
            ("a hit whose session does not want these arguments", None, beyond(bare(), "unwanted")),
            ("call_count", 3, beyond(bare(), "count")),
            ("call_count, two threads at once", 3, beyond(bare("--threads", 2), "count", "--threads", 2)),
            ("call_time", 25, beyond(bare(), "time"))):
        if limit is None:
            print(f"{'  beside it: ' + what:<58} {measure(1):>9.4g}", flush=True)
        else:
            say(f"ns: {what}", until_met(measure, limit), limit)
    memory()


def memory():
    allocations, passes = build("allocations", package=ROOT / "benches" / "settings"), 1_000_000
    system, counting = (instructions(allocations, case, passes) for case in ("system", "counting"))
    print(f"{'  beside it: instructions that `Counting` adds to malloc':<58} {(counting - system) / passes:>9.4g}", flush=True)
    nanoseconds("memory taken and given back", **{
        case: [call_ns(allocations, case, 10 * passes) for _ in range(5)] for case in ("system", "counting")})
    nanoseconds("call_time and call_memory, each call", **{
        case: [call_ns(allocations, case, 10 * passes) for _ in range(5)] for case in ("time", "memory")})


class Uftrace:
    def __init__(self):
        install("uftrace")
        source = PEERS / "uftrace" / "traced_loop.c"
        self.bare, self.loop = TARGET / "uftrace_bare", TARGET / "uftrace_loop"
        subprocess.run(["cc", "-O2", source, "-o", self.bare], check=True)
        subprocess.run(["cc", "-O2", "-pg", source, "-o", self.loop], check=True)

    def cost(self, *options):
        """CPU time that a call takes beyond a bare one. uftrace always records calls and returns."""
        with room() as directory:
            record = ["uftrace", "record", "--no-libcall", "-A", "traced@arg1,arg2", *options, "-d", Path(directory) / "data"]
            return call_ns(*record, self.loop, 100_000) - call_ns(self.bare, 1_000_000)


def calls():
    loop, releases, uftrace = build("traced_loop"), otp.releases(), Uftrace()

    def beyond(case, number=1_000_000):
        return call_ns(loop, case, number) - call_ns(loop, "function", number)

    def beyond_otp(case, number=300_000, release=releases[-1]):
        return release.cost(case, number) - release.cost("bare", number)

    def against(release, case, otp_case, floor):
        def ratio(effort):
            ours, theirs, event = taken_in_turns(
                7 * effort, lambda: beyond(case), lambda: beyond_otp(otp_case, release=release), lambda: beyond("event"))
            nanoseconds(f"{case}, medians of {len(ours)}", dyntrace=ours, **{f"{release.name} to native code": theirs, "event alone": event})
            floor.append(median_ratio(event, theirs))
            return median_ratio(ours, theirs)
        return ratio

    for release in releases:
        for what, case, otp_case, limit in (("a call", "call", "native", 0.12), ("call and return", "return", "native_return", 0.25)):
            floor = []
            ratio = until_met(against(release, case, otp_case, floor), limit)
            say(f"{what} recorded, against the native tracer of {release.name}", ratio, limit, " x",
                beside=f"the event of a call alone, its texts written beforehand, {floor[-1]:.2g} x")

    def against_uftrace(effort):
        ours, theirs = taken_in_turns(5 * effort, lambda: beyond("return"), lambda: uftrace.cost("-R", "traced@retval"))
        nanoseconds(f"call and return, medians of {len(ours)}", dyntrace=ours, uftrace=theirs)
        return median_ratio(ours, theirs)

    say("call and return recorded, against uftrace with both arguments", until_met(against_uftrace, 1), 1, " x")

    def beside(what, **costs):
        nanoseconds(what, **dict(zip(costs, taken_in_turns(3, *costs.values()))))

    few = 100_000
    beside("call, others", OTP_to_a_process=lambda: beyond_otp("process", few), event_of_tracing=lambda: beyond("told", few))
    beside("call and return, others", OTP_to_a_process=lambda: beyond_otp("process_return", few), span_of_tracing=lambda: beyond("span", few))
    beside("counted", dyntrace=lambda: beyond("count"), OTP=lambda: beyond_otp("count"))
    beside("timed", dyntrace=lambda: beyond("time"), OTP=lambda: beyond_otp("time"))
