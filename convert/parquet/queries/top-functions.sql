-- The functions in which most samples were taken (self), and in or below which
-- (total). A function that calls itself counts once in a stack.
WITH weights AS (
    SELECT session, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, stack_id, weight, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place
    FROM weights JOIN 'stacks/**/*.parquet' USING (session, stack_id)
), once AS (
    SELECT coalesce(function, module || '+0x' || printf('%x', address), '?') AS function,
        session, stack_id, any_value(weight) AS total, any_value(weight) * (min(place) = 1)::INT AS self
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY ALL
)
SELECT function, sum(self)::BIGINT AS self, sum(total)::BIGINT AS total
FROM once GROUP BY function ORDER BY self DESC, total DESC, function
LIMIT 50;
