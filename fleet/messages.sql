-- How long do messages take, and between which hosts?
--
-- A message with a sequential trace token is known by its label and its two counts, also on another host. took_ms has the difference of the
-- two hosts' clocks in it, so only its changes say something until the clocks are aligned.
SELECT
    sent.hostname AS from_host,
    received.hostname AS to_host,
    count(*) AS messages,
    min(received.time_ns - sent.time_ns) / 1e6 AS least_ms,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY received.time_ns - sent.time_ns) / 1e6 AS median_ms,
    max(received.time_ns - sent.time_ns) / 1e6 AS most_ms
FROM messages AS sent
JOIN messages AS received
    ON received.token_label = sent.token_label
    AND received.token_previous = sent.token_previous
    AND received.token_current = sent.token_current
    AND received.step = 'receive'
WHERE sent.step = 'send_remote' OR (sent.step = 'send' AND sent.hostname = received.hostname AND sent.process = received.process)
GROUP BY sent.hostname, received.hostname
ORDER BY messages DESC, from_host, to_host
