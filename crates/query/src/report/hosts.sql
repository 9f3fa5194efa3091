-- How many operations has each host, and how long do they take?
SELECT
    hostname,
    count(*) AS operations,
    count(*) FILTER (WHERE NOT success) AS failed,
    count(*) FILTER (WHERE return_ns IS NULL) AS unanswered,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ns) / 1e6 AS p50_ms,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY duration_ns) / 1e6 AS p99_ms,
    max(duration_ns) / 1e6 AS longest_ms,
    min(entry_ns) AS first_ns,
    max(return_ns) AS last_ns
FROM operations
GROUP BY hostname
ORDER BY p99_ms DESC NULLS LAST, hostname
