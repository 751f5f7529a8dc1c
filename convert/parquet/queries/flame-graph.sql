-- The rows of a flame graph: each path of functions, outermost first, with the
-- samples in it and in or below it. What draws it needs no more.
WITH weights AS (
    SELECT session, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, stack_id, weight, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place
    FROM weights JOIN 'stacks/**/*.parquet' USING (session, stack_id)
), paths AS (
    SELECT any_value(weight) AS weight,
        list(coalesce(function, module || '+0x' || printf('%x', address), '?') ORDER BY place DESC) AS path
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY session, stack_id
), levels AS (
    SELECT weight, path, unnest(range(1, len(path) + 1)) AS depth FROM paths
)
SELECT depth, path[depth] AS function, array_to_string(path[1:depth], ';') AS path,
    coalesce(sum(weight) FILTER (depth = len(levels.path)), 0)::BIGINT AS self, sum(weight)::BIGINT AS total
FROM levels GROUP BY ALL ORDER BY path;
