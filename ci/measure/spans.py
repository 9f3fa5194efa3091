"""Spans and events of `tracing` under the layer of `dyntrace-tracing`, nobody looking."""

from .common import ROOT, build, instructions, say

PACKAGE = ROOT / "benches" / "tracing"


def spans():
    program = build("tracing-bench", package=PACKAGE)

    def of_pass(*case):
        few, many = 1_000, 11_000
        return (instructions(program, case[0], many, *case[1:]) - instructions(program, case[0], few, *case[1:])) / (many - few)

    for kind, what in (("event", "an event"), ("plain", "span without a tag: enter, event, exit"),
                       ("tagged", "span with a tag: enter, event, exit"), ("whole", "the same, made and closed")):
        alone, with_layer = of_pass(kind), of_pass(kind, "--layer")
        print(f"  instructions, {kind}: subscriber alone {alone:.0f}, with the layer {with_layer:.0f}", flush=True)
        say(what, round(with_layer / alone, 4), 1.02, " x")
