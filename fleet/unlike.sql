-- Which hosts are unlike the others, and in which command?
--
-- Compares how the times of a host's operations are distributed with those of all other hosts: distance is the largest difference between
-- the two shares of operations up to some time, from 0 (alike) to 1 (all slower, or all faster). A mean would hide a slow tenth. Times are in
-- steps of 28 %.
WITH steps AS (
    SELECT hostname, command_name, CAST(floor(4 * ln(duration_ns + 1)) AS INTEGER) AS step, count(*) AS number
    FROM operations
    WHERE duration_ns >= 0
    GROUP BY hostname, command_name, CAST(floor(4 * ln(duration_ns + 1)) AS INTEGER)
),
all_hosts AS (
    SELECT command_name, step, sum(number) AS number FROM steps GROUP BY command_name, step
),
hosts AS (
    SELECT DISTINCT hostname, command_name FROM steps
),
compared AS (
    SELECT
        hosts.hostname,
        hosts.command_name,
        all_hosts.step,
        coalesce(steps.number, 0) AS own,
        all_hosts.number - coalesce(steps.number, 0) AS others
    FROM hosts
    JOIN all_hosts ON all_hosts.command_name = hosts.command_name
    LEFT JOIN steps
        ON steps.hostname = hosts.hostname AND steps.command_name = hosts.command_name AND steps.step = all_hosts.step
),
sums AS (
    SELECT
        hostname,
        command_name,
        sum(own) OVER (PARTITION BY hostname, command_name ORDER BY step) AS own_below,
        sum(own) OVER (PARTITION BY hostname, command_name) AS own_all,
        sum(others) OVER (PARTITION BY hostname, command_name ORDER BY step) AS others_below,
        sum(others) OVER (PARTITION BY hostname, command_name) AS others_all
    FROM compared
)
SELECT
    hostname,
    command_name,
    max(abs(1e0 * own_below / own_all - 1e0 * others_below / others_all)) AS distance,
    max(own_all) AS operations,
    max(others_all) AS operations_of_others
FROM sums
WHERE own_all >= 20 AND others_all >= 20
GROUP BY hostname, command_name
ORDER BY distance DESC, hostname, command_name
LIMIT 20
