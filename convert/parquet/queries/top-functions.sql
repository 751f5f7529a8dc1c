-- The functions in which most samples were taken, and in or below which.
WITH s AS (
    SELECT session, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, weight, depth, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place, stack_id
    FROM s JOIN 'stacks/**/*.parquet' USING (session, stack_id)
), named AS (
    SELECT coalesce(function, module || '+0x' || printf('%x', address), '?') AS function, weight, place, session, stack_id
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id)
), once AS (
    SELECT function, session, stack_id, any_value(weight) AS total, max(CASE WHEN place = 1 THEN weight ELSE 0 END) AS self
    FROM named GROUP BY ALL
)
SELECT function, sum(self)::BIGINT AS self, sum(total)::BIGINT AS total
FROM once GROUP BY function ORDER BY self DESC, total DESC, function LIMIT 50;
