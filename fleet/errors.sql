-- What fails, where in the file system, and on how many hosts?
--
-- Groups by the first two names of the path. Operations of which the trace has no path are in the group without a prefix.
WITH failures AS (
    SELECT
        CASE
            WHEN path LIKE '/%/%' THEN '/' || split_part(path, '/', 2) || '/' || split_part(path, '/', 3)
            WHEN path LIKE '/%' THEN path
        END AS prefix,
        command_name,
        coalesce(errno_name, error) AS failure,
        hostname,
        return_ns
    FROM operations
    WHERE NOT success
)
SELECT
    prefix,
    command_name,
    failure,
    count(*) AS failed,
    count(DISTINCT hostname) AS hosts,
    min(return_ns) AS first_ns,
    max(return_ns) AS last_ns
FROM failures
GROUP BY prefix, command_name, failure
ORDER BY failed DESC, prefix NULLS LAST, command_name, failure NULLS LAST
LIMIT 50
