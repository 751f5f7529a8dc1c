-- Self and total of each function in what is no CPU time: bytes of the heap, the
-- time of waits, and what profiles measured, such as delays. All processes together.
WITH amounts AS (
    SELECT session, stack_id, 'heap in use' AS measure, 'bytes' AS unit, sum(bytes) AS amount FROM allocations GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, 'heap allocated' AS measure, 'bytes' AS unit, sum(bytes) AS amount FROM allocations WHERE bytes > 0 GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, 'waits' AS measure, 'ns' AS unit, sum(wall_ns) AS amount FROM waits GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, measure, unit, sum(value) AS amount FROM measurements GROUP BY session, stack_id, measure, unit
), selves AS (
    SELECT a.measure AS measure, a.unit AS unit, f.name AS function, sum(a.amount) AS self
    FROM amounts a
        JOIN stacks s ON s.session = a.session AND s.stack_id = a.stack_id
        JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY a.measure, a.unit, f.name
), calls AS ( -- a function that calls itself counts once in a stack
    SELECT DISTINCT c.session, c.stack_id, f.name AS function
    FROM stack_frames c JOIN frames f ON f.session = c.session AND f.frame_id = c.frame_id
), totals AS (
    SELECT a.measure AS measure, a.unit AS unit, c.function AS function, sum(a.amount) AS total
    FROM amounts a JOIN calls c ON c.session = a.session AND c.stack_id = a.stack_id
    GROUP BY a.measure, a.unit, c.function
)
SELECT t.measure AS measure, t.unit AS unit, t.function AS function,
    CAST(coalesce(s.self, 0) AS BIGINT) AS self, CAST(t.total AS BIGINT) AS total
FROM totals t LEFT JOIN selves s ON s.measure = t.measure AND s.unit = t.unit AND s.function = t.function
ORDER BY measure, unit, self DESC, total DESC, function;
