-- Self and total of each function in what is no CPU time: bytes of the heap, the
-- time of waits, and what profiles measured, such as delays. All processes together.
-- The stacks below one have the ids up to its last_id: what they took is the difference
-- of two running sums.
WITH amounts AS (
    SELECT session, stack_id, 'heap in use' AS measure, 'bytes' AS unit, sum(bytes) AS amount FROM allocations GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, 'heap allocated' AS measure, 'bytes' AS unit, sum(bytes) AS amount FROM allocations WHERE bytes > 0 GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, 'waits' AS measure, 'ns' AS unit, sum(wall_ns) AS amount FROM waits GROUP BY session, stack_id
    UNION ALL
    SELECT session, stack_id, measure, unit, sum(value) AS amount FROM measurements GROUP BY session, stack_id, measure, unit
), measured AS (
    SELECT DISTINCT session, measure, unit FROM amounts WHERE stack_id IS NOT NULL
), nodes AS (
    SELECT s.session AS session, m.measure AS measure, m.unit AS unit, s.stack_id AS stack_id, s.last_id AS last_id, s.frame_id AS frame_id,
        s.outermost AS outermost, CAST(coalesce(a.amount, 0) AS BIGINT) AS amount
    FROM measured m JOIN stacks s ON s.session = m.session
        LEFT JOIN amounts a ON a.session = s.session AND a.measure = m.measure AND a.unit = m.unit AND a.stack_id = s.stack_id
), running AS (
    SELECT session, measure, unit, stack_id, last_id, frame_id, outermost, amount,
        sum(amount) OVER (PARTITION BY session, measure, unit ORDER BY stack_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto
    FROM nodes
), sums AS ( -- a function that calls itself counts once in a stack
    SELECT a.session AS session, a.measure AS measure, a.unit AS unit, a.frame_id AS frame_id, sum(a.amount) AS own,
        sum(CASE WHEN a.outermost THEN b.upto - a.upto + a.amount ELSE 0 END) AS below
    FROM running a JOIN running b ON b.session = a.session AND b.measure = a.measure AND b.unit = a.unit AND b.stack_id = a.last_id
    GROUP BY a.session, a.measure, a.unit, a.frame_id
), functions AS (
    SELECT s.measure AS measure, s.unit AS unit, f.name AS function, CAST(sum(s.own) AS BIGINT) AS self, CAST(sum(s.below) AS BIGINT) AS total
    FROM sums s JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY s.measure, s.unit, f.name
)
SELECT measure, unit, function, self, total FROM functions WHERE self <> 0 OR total <> 0
ORDER BY measure, unit, self DESC, total DESC, function;
