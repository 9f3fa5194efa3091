-- How much is missing, of each kind of loss? A loss of an unknown number of events has no count. One of 0 events tells the reason of others.
SELECT
    kind,
    count(*) AS losses,
    sum(count) AS missing,
    count(*) FILTER (WHERE count IS NULL) AS of_unknown_number
FROM losses
WHERE count IS NULL OR count > 0
GROUP BY kind
ORDER BY kind
