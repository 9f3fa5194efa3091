-- Which requests took longest, over all hosts, and where did their time go?
--
-- A request is the file operations of a process that have one user tag. took_ms counts from its first operation to the answer of its last;
-- the sums of its operations can exceed that, as operations overlap. `unanswered` operations had no answer when the trace ended.
SELECT
    hostname,
    process,
    user_tag,
    min(entry_ns) AS begin_ns,
    (max(return_ns) - min(entry_ns)) / 1e6 AS took_ms,
    sum(queue_wait_ns) / 1e6 AS queue_wait_ms,
    sum(service_ns) / 1e6 AS service_ms,
    sum(delivery_ns) / 1e6 AS delivery_ms,
    count(*) AS operations,
    count(*) FILTER (WHERE NOT success) AS failed,
    count(*) FILTER (WHERE return_ns IS NULL) AS unanswered
FROM operations
WHERE user_tag IS NOT NULL
GROUP BY hostname, process, user_tag
ORDER BY took_ms DESC NULLS LAST, hostname, process, user_tag
LIMIT 20
