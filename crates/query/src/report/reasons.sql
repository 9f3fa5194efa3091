-- What is missing for which reason?
SELECT
    kind,
    reason,
    count(DISTINCT hostname) AS hosts,
    count(*) AS losses,
    sum(count) AS missing,
    sum(bytes) AS skipped_bytes
FROM losses
GROUP BY kind, reason
ORDER BY kind, losses DESC, reason NULLS LAST
