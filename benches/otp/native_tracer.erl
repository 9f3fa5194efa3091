%% Loads native_tracer.c.
-module(native_tracer).
-export([enabled/3, trace/5, events/0, cpu_ns/0]).
-on_load(load/0).

load() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)), 0).

enabled(_Kind, _State, _Tracee) ->
    erlang:nif_error(not_loaded).

trace(_Kind, _State, _Tracee, _Term, _Options) ->
    erlang:nif_error(not_loaded).

events() ->
    erlang:nif_error(not_loaded).

cpu_ns() ->
    erlang:nif_error(not_loaded).
