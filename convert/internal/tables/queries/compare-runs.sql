-- Two runs by the share of samples in each function: what takes more, what less.
-- Of each service that has several sessions the first and the last one, or:
--   SET VARIABLE base = 'name of a session'; SET VARIABLE new = 'of another';
WITH sessions AS (
    SELECT session, coalesce(min(service_name), min(name), '') AS service, coalesce(min(start_ns), 0) AS start_ns
    FROM 'processes/**/*.parquet' GROUP BY session
), runs AS (
    SELECT service, coalesce(getvariable('base'), arg_min(session, (start_ns, session))) AS first,
        coalesce(getvariable('new'), arg_max(session, (start_ns, session))) AS last
    FROM sessions
    WHERE coalesce(getvariable('new'), getvariable('base')) IS NULL
        OR service = (SELECT o.service FROM sessions o WHERE o.session = coalesce(getvariable('new'), getvariable('base')))
    GROUP BY service
), sides AS (
    SELECT service, unnest([first, last]) AS session, unnest([true, false]) AS base FROM runs WHERE first <> last
), weights AS (
    SELECT sides.service AS service, session, base, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' JOIN sides USING (session) WHERE stack_id IS NOT NULL GROUP BY ALL
), self AS (
    SELECT w.service AS service, coalesce(function, module || '+0x' || printf('%x', address), '?') AS function,
        coalesce(sum(weight) FILTER (base), 0) AS base, coalesce(sum(weight) FILTER (NOT base), 0) AS new
    FROM weights w JOIN 'stacks/**/*.parquet' USING (session, stack_id) JOIN 'frames/**/*.parquet' USING (session, frame_id)
    GROUP BY ALL
), shares AS (
    SELECT service, function, 100 * base / nullif(sum(base) OVER (PARTITION BY service), 0) AS base_percent,
        100 * new / nullif(sum(new) OVER (PARTITION BY service), 0) AS new_percent FROM self
)
SELECT service, function, round(base_percent, 2) AS base_percent, round(new_percent, 2) AS new_percent,
    round(new_percent - base_percent, 2) AS change
FROM shares ORDER BY abs(new_percent - base_percent) DESC, service, function
LIMIT 50;
