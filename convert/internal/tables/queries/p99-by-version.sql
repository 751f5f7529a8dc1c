-- The slowest hundredth of each event by service and version: what a release has
-- changed. For one event: AND m.name = 'http.request'
WITH intervals AS (
    SELECT m.name AS event, p.service_name AS service, p.version AS version, p.instance AS instance, m.duration_ns AS duration_ns
    FROM markers m JOIN processes p ON p.session = m.session AND p.process_id = m.process_id
    WHERE m.duration_ns IS NOT NULL
), placed AS (
    SELECT event, service, version, instance, duration_ns,
        ROW_NUMBER() OVER (PARTITION BY event, service, version ORDER BY duration_ns) AS place,
        COUNT(*) OVER (PARTITION BY event, service, version) AS many
    FROM intervals
)
SELECT event, service, version, many AS intervals, COUNT(DISTINCT instance) AS processes,
    min(CASE WHEN place * 100 >= many * 50 THEN duration_ns END) / 1e6 AS p50_ms,
    min(CASE WHEN place * 100 >= many * 99 THEN duration_ns END) / 1e6 AS p99_ms
FROM placed GROUP BY event, service, version, many
ORDER BY event, service, version;
