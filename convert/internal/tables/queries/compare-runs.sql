-- Two runs by the share of samples in each function: what takes more, what less.
-- The first and the last session that are there, or:
--   SET VARIABLE base = 'name of a session'; SET VARIABLE new = 'of another';
WITH runs AS (
    SELECT arg_min(session, (start_ns, session)) AS first, arg_max(session, (start_ns, session)) AS last
    FROM (SELECT session, coalesce(min(start_ns), 0) AS start_ns FROM 'processes/**/*.parquet' GROUP BY session)
), weights AS (
    SELECT session, stack_id, sum(weight) AS weight, session = coalesce(getvariable('base'), first) AS base,
        session = coalesce(getvariable('new'), last) AS new
    FROM 'samples/**/*.parquet', runs WHERE stack_id IS NOT NULL GROUP BY ALL
), self AS (
    SELECT coalesce(function, module || '+0x' || printf('%x', address), '?') AS function,
        coalesce(sum(weight) FILTER (base), 0) AS base, coalesce(sum(weight) FILTER (new), 0) AS new
    FROM weights JOIN 'stacks/**/*.parquet' USING (session, stack_id) JOIN 'frames/**/*.parquet' USING (session, frame_id)
    WHERE base OR new GROUP BY ALL
), shares AS (
    SELECT function, 100 * base / sum(base) OVER () AS base_percent, 100 * new / sum(new) OVER () AS new_percent FROM self
)
SELECT function, round(base_percent, 2) AS base_percent, round(new_percent, 2) AS new_percent,
    round(new_percent - base_percent, 2) AS change
FROM shares ORDER BY abs(new_percent - base_percent) DESC, function
LIMIT 50;
