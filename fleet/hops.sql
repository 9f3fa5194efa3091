-- Where did the time of one user tag go, hop by hop? Replace req-1.
--
-- A hop is a process in which the tag had file operations. Times of hosts are aligned by the table `clocks`, which `dyntrace clocks` writes.
-- since_last_ms is the time between the end of the hop before and the begin of this one: it is negative if they overlap. It is wrong by at
-- most error_ms. Where error_ms is null, a host is not aligned or its error is not known, and since_last_ms may have the difference of two
-- clocks in it.
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
),
aligned AS (
    SELECT
        hops.hostname,
        hops.process,
        hops.begin_ns
            - coalesce(at_begin.ahead_ns + CAST(floor((hops.begin_ns - at_begin.from_ns) * at_begin.drift) AS BIGINT), 0) AS begin_ns,
        hops.end_ns - coalesce(at_end.ahead_ns + CAST(floor((hops.end_ns - at_end.from_ns) * at_end.drift) AS BIGINT), 0) AS end_ns,
        at_begin.error_ns AS begin_error_ns,
        at_end.error_ns AS end_error_ns,
        (hops.end_ns - hops.begin_ns) / 1e6 AS took_ms,
        hops.queue_wait_ms,
        hops.service_ms,
        hops.delivery_ms,
        hops.operations,
        hops.failed
    FROM hops
    LEFT JOIN clocks AS at_begin
        ON at_begin.hostname = hops.hostname AND hops.begin_ns >= at_begin.from_ns AND hops.begin_ns < at_begin.until_ns
    LEFT JOIN clocks AS at_end
        ON at_end.hostname = hops.hostname AND hops.end_ns >= at_end.from_ns AND hops.end_ns < at_end.until_ns
)
SELECT
    hostname,
    process,
    begin_ns,
    (begin_ns - lag(end_ns) OVER (ORDER BY begin_ns, hostname, process)) / 1e6 AS since_last_ms,
    CASE
        WHEN lag(hostname) OVER (ORDER BY begin_ns, hostname, process) = hostname THEN 0e0
        ELSE (begin_error_ns + lag(end_error_ns) OVER (ORDER BY begin_ns, hostname, process)) / 1e6
    END AS error_ms,
    took_ms,
    queue_wait_ms,
    service_ms,
    delivery_ms,
    operations,
    failed
FROM aligned
ORDER BY begin_ns, hostname, process
