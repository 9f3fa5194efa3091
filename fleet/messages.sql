-- How long do messages take, and between which hosts?
--
-- A message with a sequential trace token is known by its label and its two counts, also on another host. Times of two hosts are aligned by
-- the table `clocks`, which `dyntrace clocks` writes: error_ms is the most by which the time of one of these messages is wrong. It is null if
-- the error of a message is not known. Times of messages that are not `aligned` have the difference of two clocks in them, so only their
-- changes say something.
WITH joined AS (
    SELECT
        sent.hostname AS from_host,
        received.hostname AS to_host,
        sent.time_ns AS sent_ns,
        received.time_ns AS received_ns
    FROM messages AS sent
    JOIN messages AS received
        ON received.token_label = sent.token_label
        AND received.token_previous = sent.token_previous
        AND received.token_current = sent.token_current
        AND received.step = 'receive'
    WHERE sent.step = 'send_remote' OR (sent.step = 'send' AND sent.hostname = received.hostname AND sent.process = received.process)
),
apart AS (
    SELECT
        joined.from_host,
        joined.to_host,
        joined.received_ns - joined.sent_ns AS took_ns,
        joined.from_host = joined.to_host AS is_one_clock,
        of_receiver.ahead_ns + CAST(floor((joined.received_ns - of_receiver.from_ns) * of_receiver.drift) AS BIGINT)
            - of_sender.ahead_ns - CAST(floor((joined.sent_ns - of_sender.from_ns) * of_sender.drift) AS BIGINT) AS apart_ns,
        of_receiver.error_ns + of_sender.error_ns AS error_ns
    FROM joined
    LEFT JOIN clocks AS of_sender
        ON of_sender.hostname = joined.from_host
        AND joined.sent_ns >= of_sender.from_ns AND joined.sent_ns < of_sender.until_ns
    LEFT JOIN clocks AS of_receiver
        ON of_receiver.hostname = joined.to_host
        AND joined.received_ns >= of_receiver.from_ns AND joined.received_ns < of_receiver.until_ns
),
aligned AS (
    SELECT
        from_host,
        to_host,
        is_one_clock OR apart_ns IS NOT NULL AS is_aligned,
        CASE WHEN is_one_clock THEN took_ns ELSE took_ns - coalesce(apart_ns, 0) END AS took_ns,
        CASE WHEN is_one_clock THEN 0 ELSE error_ns END AS error_ns
    FROM apart
)
SELECT
    from_host,
    to_host,
    count(*) AS messages,
    min(took_ns) / 1e6 AS least_ms,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY took_ns) / 1e6 AS median_ms,
    max(took_ns) / 1e6 AS most_ms,
    count(*) FILTER (WHERE is_aligned) AS aligned,
    CASE WHEN count(error_ns) = count(*) THEN max(error_ns) / 1e6 END AS error_ms
FROM aligned
GROUP BY from_host, to_host
ORDER BY messages DESC, from_host, to_host
