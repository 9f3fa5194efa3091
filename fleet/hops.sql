-- Where did the time of one user tag go, hop by hop? Replace req-1.
--
-- A hop is a process in which the tag had file operations. since_last_ms is the time between the end of the hop before and the begin of
-- this one, by the clocks of two hosts: it is negative if they overlap, or if the clocks differ by more than the message took.
WITH hops AS (
    SELECT
        hostname,
        process,
        min(entry_ns) AS begin_ns,
        max(return_ns) AS end_ns,
        sum(queue_wait_ns) / 1e6 AS queue_wait_ms,
        sum(service_ns) / 1e6 AS service_ms,
        sum(delivery_ns) / 1e6 AS delivery_ms,
        count(*) AS operations,
        count(*) FILTER (WHERE NOT success) AS failed
    FROM operations
    WHERE user_tag = 'req-1'
    GROUP BY hostname, process
)
SELECT
    hostname,
    process,
    begin_ns,
    (begin_ns - lag(end_ns) OVER (ORDER BY begin_ns, hostname, process)) / 1e6 AS since_last_ms,
    (end_ns - begin_ns) / 1e6 AS took_ms,
    queue_wait_ms,
    service_ms,
    delivery_ms,
    operations,
    failed
FROM hops
ORDER BY begin_ns, hostname, process
