-- What the goroutines of each track waited for: the time of all together, and
-- how many they were. The reason is the innermost frame of a stack.
SELECT p.name AS process, p.pid, t.name AS track, coalesce(f.function, '?') AS reason,
    sum(wall_ns) / 1e6 AS ms, sum(goroutines)::BIGINT AS goroutines
FROM 'waits/**/*.parquet' w
    JOIN 'processes/**/*.parquet' p USING (session, process_id)
    JOIN 'tracks/**/*.parquet' t USING (session, process_id, track_id)
    LEFT JOIN 'stacks/**/*.parquet' s USING (session, stack_id)
    LEFT JOIN 'frames/**/*.parquet' f USING (session, frame_id)
GROUP BY session, process_id, track_id, process, p.pid, track, reason
ORDER BY session, process_id, ms DESC, track_id, reason;
