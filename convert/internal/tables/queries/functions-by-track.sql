-- Self and total samples of each function on each track of each process.
WITH weights AS (
    SELECT session, process_id, track_id, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, stack_id, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place FROM 'stacks/**/*.parquet'
), once AS ( -- a function that calls itself counts once in a stack
    SELECT session, stack_id, coalesce(function, module || '+0x' || printf('%x', address), '?') AS function, min(place) = 1 AS leaf
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY ALL
), sums AS (
    SELECT session, process_id, track_id, function, coalesce(sum(weight) FILTER (leaf), 0)::BIGINT AS self, sum(weight)::BIGINT AS total
    FROM weights JOIN once USING (session, stack_id) GROUP BY ALL
)
SELECT p.name AS process, p.pid, t.name AS track, function, self, total
FROM sums
    JOIN 'processes/**/*.parquet' p USING (session, process_id)
    JOIN 'tracks/**/*.parquet' t USING (session, process_id, track_id)
ORDER BY session, process_id, track_id, self DESC, total DESC, function;
