-- Self and total samples of each function on each track of each process.
WITH weights AS (
    SELECT session, process_id, track_id, stack_id, sum(weight) AS weight
    FROM 'samples/**/*.parquet' WHERE stack_id IS NOT NULL GROUP BY ALL
), calls AS (
    SELECT session, process_id, track_id, stack_id, weight, unnest(frames) AS frame_id, generate_subscripts(frames, 1) AS place
    FROM weights JOIN 'stacks/**/*.parquet' USING (session, stack_id)
), once AS (
    SELECT coalesce(function, module || '+0x' || printf('%x', address), '?') AS function,
        session, process_id, track_id, stack_id, any_value(weight) AS total, any_value(weight) * (min(place) = 1)::INT AS self
    FROM calls JOIN 'frames/**/*.parquet' USING (session, frame_id) GROUP BY ALL
)
SELECT p.name AS process, p.pid, t.name AS track, function, sum(self)::BIGINT AS self, sum(total)::BIGINT AS total
FROM once
    JOIN 'processes/**/*.parquet' p USING (session, process_id)
    JOIN 'tracks/**/*.parquet' t USING (session, process_id, track_id)
GROUP BY session, process_id, track_id, process, p.pid, track, function
ORDER BY session, process_id, track_id, self DESC, total DESC, function;
