-- Self and total samples of each function on each track of each process.
WITH weights AS (
    SELECT session, process_id, track_id, stack_id, sum(weight) AS samples
    FROM samples WHERE stack_id IS NOT NULL GROUP BY session, process_id, track_id, stack_id
), selves AS (
    SELECT w.session AS session, w.process_id AS process_id, w.track_id AS track_id, f.name AS function, sum(w.samples) AS self
    FROM weights w
        JOIN stacks s ON s.session = w.session AND s.stack_id = w.stack_id
        JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY w.session, w.process_id, w.track_id, f.name
), calls AS ( -- a function that calls itself counts once in a stack
    SELECT DISTINCT c.session, c.stack_id, f.name AS function
    FROM stack_frames c JOIN frames f ON f.session = c.session AND f.frame_id = c.frame_id
), totals AS (
    SELECT w.session AS session, w.process_id AS process_id, w.track_id AS track_id, c.function AS function, sum(w.samples) AS total
    FROM weights w JOIN calls c ON c.session = w.session AND c.stack_id = w.stack_id
    GROUP BY w.session, w.process_id, w.track_id, c.function
)
SELECT p.name AS process, p.pid AS pid, k.name AS track, t.function AS function,
    CAST(coalesce(s.self, 0) AS BIGINT) AS self, CAST(t.total AS BIGINT) AS total
FROM totals t
    LEFT JOIN selves s ON s.session = t.session AND s.process_id = t.process_id AND s.track_id = t.track_id AND s.function = t.function
    JOIN processes p ON p.session = t.session AND p.process_id = t.process_id
    JOIN tracks k ON k.session = t.session AND k.process_id = t.process_id AND k.track_id = t.track_id
ORDER BY t.session, t.process_id, t.track_id, self DESC, total DESC, function;
