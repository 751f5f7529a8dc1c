-- What the goroutines of each track waited for: the time of all together, and
-- how many they were. The reason is the innermost frame of a stack.
WITH reasons AS (
    SELECT s.session AS session, s.stack_id AS stack_id, f.name AS reason
    FROM stacks s JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
), sums AS (
    SELECT w.session AS session, w.process_id AS process_id, w.track_id AS track_id, coalesce(r.reason, '?') AS reason,
        sum(w.wall_ns) / 1e6 AS ms, CAST(sum(w.goroutines) AS BIGINT) AS goroutines
    FROM waits w LEFT JOIN reasons r ON r.session = w.session AND r.stack_id = w.stack_id
    GROUP BY w.session, w.process_id, w.track_id, coalesce(r.reason, '?')
)
SELECT p.name AS process, p.pid AS pid, t.name AS track, s.reason AS reason, s.ms AS ms, s.goroutines AS goroutines
FROM sums s
    JOIN processes p ON p.session = s.session AND p.process_id = s.process_id
    JOIN tracks t ON t.session = s.session AND t.process_id = s.process_id AND t.track_id = s.track_id
ORDER BY s.session, s.process_id, ms DESC, s.track_id, reason;
