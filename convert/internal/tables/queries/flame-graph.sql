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
), callers AS ( -- each stack with samples, and all that it was called from
    SELECT session, stack_id AS leaf, stack_id, samples FROM weights
    UNION ALL
    SELECT c.session, c.leaf, s.prefix AS stack_id, c.samples
    FROM callers c JOIN stacks s ON s.session = c.session AND s.stack_id = c.stack_id
    WHERE s.prefix IS NOT NULL
)
SELECT p.depth AS depth, p.function AS function, p.path AS path, p.parent AS parent,
    CAST(sum(CASE WHEN c.leaf = c.stack_id THEN c.samples ELSE 0 END) AS BIGINT) AS self, CAST(sum(c.samples) AS BIGINT) AS total
FROM callers c JOIN paths p ON p.session = c.session AND p.stack_id = c.stack_id
GROUP BY p.depth, p.function, p.path, p.parent
ORDER BY depth, total DESC, path;
