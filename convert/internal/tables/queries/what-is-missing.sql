-- What is missing from the tables, or uncertain in them; and which recordings
-- are there twice, in parts: rows with the same event_index.
SELECT severity, reason, text, what, place, instance, count, bytes FROM 'losses/**/*.parquet'
UNION ALL
SELECT 'unsure', 'overlap', 'is in ' || a.session || ' and in ' || b.session, 'events', NULL, a.instance,
    least(a.last_index, b.last_index) - greatest(a.first_index, b.first_index) + 1, NULL
FROM 'coverage/**/*.parquet' a JOIN 'coverage/**/*.parquet' b
    ON a.instance = b.instance AND a.session < b.session AND a.first_index <= b.last_index AND b.first_index <= a.last_index
ORDER BY severity, reason, what, place, instance;
