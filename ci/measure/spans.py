"""Spans and events of `tracing` under the layer of `dyntrace-tracing`, nobody looking."""

from .common import ROOT, build, instructions, say

PACKAGE = ROOT / "benches" / "tracing"


def spans():
    program = build("tracing-bench", package=PACKAGE)

    def of_pass(*case):
        few, many = 1_000, 11_000
        return (instructions(program, case[0], many, *case[1:]) - instructions(program, case[0], few, *case[1:])) / (many - few)

    for kind, limit, what in (("event", 1.02, "an event under the layer"), ("plain", 1.02, "a span without a tag: enter, event, exit"),
                              ("tagged", 1.02, "a span with a tag: enter, event, exit"),
                              ("child", None, "a span that inherits a tag: made, enter, event, exit, closed"),
                              ("whole", None, "a span with a tag: made, enter, event, exit, closed")):
        alone, with_layer = of_pass(kind), of_pass(kind, "--layer")
        print(f"  instructions, {kind}: subscriber alone {alone:.0f}, with the layer {with_layer:.0f}", flush=True)
        if limit is None:
            print(f"{'  beside it: ' + what:<58} {with_layer / alone:>9.4g} x", flush=True)
        else:
            say(what, round(with_layer / alone, 4), limit, " x")
