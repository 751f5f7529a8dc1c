-- Two runs by the share of samples in each function: what takes more, what less.
-- They are the first and the last session of each service that has several. For two
-- others, let sides be:
--   SELECT session, service, CASE WHEN session = 'BASE' THEN 1 ELSE 0 END AS base
--   FROM sessions WHERE session IN ('BASE', 'NEW')
WITH sessions AS (
    SELECT session, coalesce(min(service_name), min(name), '') AS service, coalesce(min(start_ns), 0) AS began
    FROM processes GROUP BY session
), placed AS (
    SELECT session, service,
        ROW_NUMBER() OVER (PARTITION BY service ORDER BY began, session) AS place,
        COUNT(*) OVER (PARTITION BY service) AS many
    FROM sessions
), sides AS (
    SELECT session, service, CASE WHEN place = 1 THEN 1 ELSE 0 END AS base
    FROM placed WHERE many > 1 AND (place = 1 OR place = many)
), weights AS (
    SELECT d.service AS service, d.base AS base, s.session AS session, s.stack_id AS stack_id, sum(s.weight) AS samples
    FROM samples s JOIN sides d ON d.session = s.session
    WHERE s.stack_id IS NOT NULL
    GROUP BY d.service, d.base, s.session, s.stack_id
), selves AS (
    SELECT w.service AS service, f.name AS function,
        sum(CASE WHEN w.base = 1 THEN w.samples ELSE 0 END) AS base, sum(CASE WHEN w.base = 0 THEN w.samples ELSE 0 END) AS other
    FROM weights w
        JOIN stacks s ON s.session = w.session AND s.stack_id = w.stack_id
        JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY w.service, f.name
), sums AS (
    SELECT service, sum(base) AS base, sum(other) AS other FROM selves GROUP BY service
), shares AS (
    SELECT s.service AS service, s.function AS function, 100.0 * s.base / a.base AS base_percent, 100.0 * s.other / a.other AS new_percent
    FROM selves s JOIN sums a ON a.service = s.service
    WHERE a.base > 0 AND a.other > 0
)
SELECT service, function, round(base_percent, 2) AS base_percent, round(new_percent, 2) AS new_percent,
    round(new_percent - base_percent, 2) AS difference
FROM shares ORDER BY abs(difference) DESC, service, function
LIMIT 50;
