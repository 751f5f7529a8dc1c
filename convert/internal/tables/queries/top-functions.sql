-- The functions in which most samples were taken (self), and in or below which
-- (total).
WITH weights AS (
    SELECT session, stack_id, sum(weight) AS samples FROM samples WHERE stack_id IS NOT NULL GROUP BY session, stack_id
), selves AS (
    SELECT f.name AS function, sum(w.samples) AS self
    FROM weights w
        JOIN stacks s ON s.session = w.session AND s.stack_id = w.stack_id
        JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY f.name
), calls AS ( -- a function that calls itself counts once in a stack
    SELECT DISTINCT c.session, c.stack_id, f.name AS function
    FROM stack_frames c JOIN frames f ON f.session = c.session AND f.frame_id = c.frame_id
), totals AS (
    SELECT c.function AS function, sum(w.samples) AS total
    FROM weights w JOIN calls c ON c.session = w.session AND c.stack_id = w.stack_id
    GROUP BY c.function
)
SELECT t.function AS function, CAST(coalesce(s.self, 0) AS BIGINT) AS self, CAST(t.total AS BIGINT) AS total
FROM totals t LEFT JOIN selves s ON s.function = t.function
ORDER BY self DESC, total DESC, function
LIMIT 50;
