-- The functions in which most samples were taken (self), and in or below which
-- (total).
WITH weights AS (
    SELECT session, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, stack_id, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place FROM 'stacks/**/*.parquet'
), once AS ( -- a function that calls itself counts once in a stack
    SELECT session, stack_id, coalesce(function, module || '+0x' || printf('%x', address), '?') AS function, min(place) = 1 AS leaf
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY ALL
)
SELECT function, coalesce(sum(weight) FILTER (leaf), 0)::BIGINT AS self, sum(weight)::BIGINT AS total
FROM weights JOIN once USING (session, stack_id)
GROUP BY function ORDER BY self DESC, total DESC, function
LIMIT 50;
