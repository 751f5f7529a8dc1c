-- The rows of a flame graph: each path of functions from the outermost on, the path
-- that it goes on from, and the samples in it (self) and in or below it (total).
-- Path and self are what flamegraph.pl reads. Spark knows such recursion from 4.1 on.
WITH RECURSIVE nodes AS (
    SELECT s.session AS session, s.stack_id AS stack_id, s.prefix AS prefix, s.depth AS depth, f.name AS function
    FROM stacks s JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
), paths AS (
    SELECT session, stack_id, depth, function, function AS path, '' AS parent FROM nodes WHERE prefix IS NULL
    UNION ALL
    SELECT n.session, n.stack_id, n.depth, n.function, concat(p.path, ';', n.function) AS path, p.path AS parent
    FROM paths p JOIN nodes n ON n.session = p.session AND n.prefix = p.stack_id
), weights AS (
    SELECT session, stack_id, CAST(sum(weight) AS BIGINT) AS samples FROM samples WHERE stack_id IS NOT NULL GROUP BY session, stack_id
), running AS ( -- the stacks below one have the ids up to its last_id
    SELECT s.session AS session, s.stack_id AS stack_id, s.last_id AS last_id, coalesce(w.samples, 0) AS samples,
        sum(coalesce(w.samples, 0)) OVER (PARTITION BY s.session ORDER BY s.stack_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto
    FROM stacks s LEFT JOIN weights w ON w.session = s.session AND w.stack_id = s.stack_id
), totals AS (
    SELECT a.session AS session, a.stack_id AS stack_id, a.samples AS own, b.upto - a.upto + a.samples AS below
    FROM running a JOIN running b ON b.session = a.session AND b.stack_id = a.last_id
)
SELECT p.depth AS depth, p.function AS function, p.path AS path, p.parent AS parent,
    CAST(sum(t.own) AS BIGINT) AS self, CAST(sum(t.below) AS BIGINT) AS total
FROM totals t JOIN paths p ON p.session = t.session AND p.stack_id = t.stack_id
WHERE t.own <> 0 OR t.below <> 0
GROUP BY p.depth, p.function, p.path, p.parent
ORDER BY depth, total DESC, path;
