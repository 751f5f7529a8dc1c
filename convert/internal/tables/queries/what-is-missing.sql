-- What is missing from the tables, or uncertain in them; and which recordings
-- are there twice, in parts: rows with the same event_index.
WITH twice AS (
    SELECT a.instance AS instance, a.session AS session, b.session AS other,
        CASE WHEN a.first_index > b.first_index THEN a.first_index ELSE b.first_index END AS low,
        CASE WHEN a.last_index < b.last_index THEN a.last_index ELSE b.last_index END AS high
    FROM coverage a JOIN coverage b ON b.instance = a.instance
    WHERE a.session < b.session
), missing AS (
    SELECT severity, reason, text, what, place, instance, count AS rows_lost, bytes FROM losses
    UNION ALL
    SELECT 'unsure' AS severity, 'overlap' AS reason, concat('is in ', session, ' and in ', other) AS text, 'events' AS what,
        nullif(instance, instance) AS place, instance, high - low + 1 AS rows_lost, nullif(low, low) AS bytes
    FROM twice WHERE low <= high
)
SELECT severity, reason, text, what, place, instance, rows_lost AS amount, bytes
FROM missing ORDER BY severity, reason, what, coalesce(place, ''), instance;
