-- The rows of a flame graph: each path of functions from the outermost on, by a
-- number, with the path that it goes on from, and the samples in it and in or
-- below it.
WITH RECURSIVE nodes AS MATERIALIZED (
    SELECT session, stack_id, prefix, depth, coalesce(function, module || '+0x' || printf('%x', address), '?') AS function
    FROM 'stacks/**/*.parquet' JOIN 'frames/**/*.parquet' USING (session, frame_id)
), paths AS (
    SELECT session, stack_id, depth, function, hash(function) AS path, NULL::UBIGINT AS parent FROM nodes WHERE prefix IS NULL
    UNION ALL
    SELECT n.session, n.stack_id, n.depth, n.function, hash(p.path, n.function), p.path
    FROM paths p JOIN nodes n ON n.session = p.session AND n.prefix = p.stack_id
), totals AS (
    SELECT session, stack_id, sum(weight)::BIGINT AS self, sum(weight)::BIGINT AS total
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
    UNION ALL
    SELECT session, prefix, 0, sum(total)::BIGINT FROM totals JOIN nodes USING (session, stack_id)
    WHERE prefix IS NOT NULL GROUP BY ALL
)
SELECT depth, function, path, parent, sum(self)::BIGINT AS self, sum(total)::BIGINT AS total
FROM totals JOIN paths USING (session, stack_id)
GROUP BY ALL ORDER BY depth, total DESC, function, path;
