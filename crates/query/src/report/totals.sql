-- How much does the data set have?
SELECT
    (SELECT count(*) FROM (SELECT host FROM events UNION SELECT host FROM operations UNION SELECT host FROM losses) AS hosts) AS hosts,
    count(*) FILTER (WHERE NOT success) AS failed,
    count(*) FILTER (WHERE return_ns IS NULL) AS unanswered
FROM operations
