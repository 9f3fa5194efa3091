-- What is missing, and where? Ask this before you believe the other answers.
--
-- `events` is the number of the host's events that are there. `lost` is the number of those that are known to be missing. Losses
-- `of_unknown_number` and `damaged` places miss more. A host without losses has a row, too.
WITH there AS (
    SELECT hostname, count(*) AS events FROM events GROUP BY hostname
),
missing AS (
    SELECT
        hostname,
        sum(count) FILTER (WHERE kind IN ('discarded', 'lost')) AS lost,
        count(*) FILTER (WHERE kind IN ('discarded', 'lost') AND count IS NULL) AS of_unknown_number,
        count(*) FILTER (WHERE kind = 'damaged') AS damaged,
        sum(bytes) FILTER (WHERE kind = 'damaged') AS skipped_bytes,
        sum(count) FILTER (WHERE kind IN ('unmatched', 'given_up', 'left_out')) AS not_joined
    FROM losses
    GROUP BY hostname
)
SELECT
    coalesce(there.hostname, missing.hostname) AS hostname,
    coalesce(there.events, 0) AS events,
    coalesce(missing.lost, 0) AS lost,
    coalesce(missing.of_unknown_number, 0) AS of_unknown_number,
    coalesce(missing.damaged, 0) AS damaged,
    coalesce(missing.skipped_bytes, 0) AS skipped_bytes,
    coalesce(missing.not_joined, 0) AS not_joined
FROM there
FULL OUTER JOIN missing ON there.hostname = missing.hostname
ORDER BY lost DESC, of_unknown_number DESC, damaged DESC, hostname
