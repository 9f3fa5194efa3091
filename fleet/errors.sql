-- What fails, where in the file system, and on how many hosts?
--
-- Groups by the first two names of the path. Operations of which the trace has no path are in the group without a prefix.
SELECT
    nullif(regexp_extract(path, '^/[^/]*(/[^/]*)?', 0), '') AS prefix,
    command_name,
    coalesce(errno_name, error) AS failure,
    count(*) AS failed,
    count(DISTINCT hostname) AS hosts,
    min(return_ns) AS first_ns,
    max(return_ns) AS last_ns
FROM operations
WHERE NOT success
GROUP BY nullif(regexp_extract(path, '^/[^/]*(/[^/]*)?', 0), ''), command_name, coalesce(errno_name, error)
ORDER BY failed DESC, prefix, command_name, failure
LIMIT 50
