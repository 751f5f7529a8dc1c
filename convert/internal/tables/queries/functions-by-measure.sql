-- Self and total of each function in what is no CPU time: bytes of the heap, the
-- time of waits, and what profiles measured, such as delays. All processes together.
WITH amounts AS (
    SELECT session, stack_id, 'heap in use' AS measure, 'bytes' AS unit, sum(bytes) AS amount FROM 'allocations/**/*.parquet' GROUP BY ALL
    UNION ALL
    SELECT session, stack_id, 'heap allocated', 'bytes', sum(bytes) FROM 'allocations/**/*.parquet' WHERE bytes > 0 GROUP BY ALL
    UNION ALL
    SELECT session, stack_id, 'waits', 'ns', sum(wall_ns) FROM 'waits/**/*.parquet' GROUP BY ALL
    UNION ALL
    SELECT session, stack_id, measure, unit, sum(value) FROM 'measurements/**/*.parquet' GROUP BY ALL
), calls AS (
    SELECT session, stack_id, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place FROM 'stacks/**/*.parquet'
), once AS ( -- a function that calls itself counts once in a stack
    SELECT session, stack_id, coalesce(function, module || '+0x' || printf('%x', address), '?') AS function, min(place) = 1 AS leaf
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY ALL
)
SELECT measure, unit, function, coalesce(sum(amount) FILTER (leaf), 0)::BIGINT AS self, sum(amount)::BIGINT AS total
FROM amounts JOIN once USING (session, stack_id)
GROUP BY measure, unit, function ORDER BY measure, unit, self DESC, total DESC, function;
