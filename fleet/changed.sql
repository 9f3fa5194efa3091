-- What changed between two versions? Replace the condition that tells which operations are of the new one: hosts, programs, or a time.
--
-- `dyntrace diff` compares two traces with confidence intervals; this compares any number of hosts, by medians and 99th percentiles.
WITH versions AS (
    SELECT
        CASE WHEN hostname LIKE 'new-%' THEN 'new' ELSE 'old' END AS version,
        command_name,
        duration_ns,
        success
    FROM operations
    WHERE return_ns IS NOT NULL
),
figures AS (
    SELECT
        command_name,
        count(*) FILTER (WHERE version = 'old') AS old_operations,
        count(*) FILTER (WHERE version = 'new') AS new_operations,
        count(*) FILTER (WHERE version = 'old' AND NOT success) AS old_failed,
        count(*) FILTER (WHERE version = 'new' AND NOT success) AS new_failed,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN version = 'old' THEN duration_ns END) / 1e6 AS old_p50_ms,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN version = 'new' THEN duration_ns END) / 1e6 AS new_p50_ms,
        percentile_cont(0.99) WITHIN GROUP (ORDER BY CASE WHEN version = 'old' THEN duration_ns END) / 1e6 AS old_p99_ms,
        percentile_cont(0.99) WITHIN GROUP (ORDER BY CASE WHEN version = 'new' THEN duration_ns END) / 1e6 AS new_p99_ms
    FROM versions
    GROUP BY command_name
)
SELECT *, new_p99_ms / nullif(old_p99_ms, 0) AS p99_ratio
FROM figures
ORDER BY p99_ratio DESC NULLS LAST, command_name
