%% Asks the Rust side for the checksums of files, each with its own token, and compares the answers with its own checksums.
Node = 'worker@127.0.0.1',
Ask = fun(Path, Label) ->
    seq_trace:set_token(label, Label),
    seq_trace:set_token(send, true),
    {files, Node} ! {self(), checksum, Path},
    receive
        {checksum, Path, Sum, Size} ->
            %% The answer has the token, with the count after ours.
            {label, Label} = seq_trace:get_token(label),
            {serial, {1, _}} = seq_trace:get_token(serial),
            {ok, Content} = file:read_file(Path),
            Same = {Sum, Size} =:= {erlang:crc32(Content), byte_size(Content)},
            io:format("~s: crc32 ~.16b of ~b bytes, as here: ~p; token ~p~n", [Path, Sum, Size, Same, Label]);
        {error, Path, Reason} ->
            io:format("~s: ~s~n", [Path, Reason])
    after 10000 ->
        io:format("~s: no answer from ~p~n", [Path, Node])
    end,
    seq_trace:reset_trace(),
    Label + 1
end,
lists:foldl(Ask, 1, init:get_plain_arguments()),
init:stop().
