-- The functions in which most samples were taken (self), and in or below which
-- (total). The stacks below one have the ids up to its last_id: what they took is the
-- difference of two running sums.
WITH weights AS (
    SELECT session, stack_id, CAST(sum(weight) AS BIGINT) AS samples FROM samples WHERE stack_id IS NOT NULL GROUP BY session, stack_id
), nodes AS (
    SELECT s.session AS session, s.stack_id AS stack_id, s.last_id AS last_id, s.frame_id AS frame_id, s.outermost AS outermost,
        coalesce(w.samples, 0) AS samples
    FROM stacks s LEFT JOIN weights w ON w.session = s.session AND w.stack_id = s.stack_id
), running AS (
    SELECT session, stack_id, last_id, frame_id, outermost, samples,
        CAST(sum(samples) OVER (PARTITION BY session ORDER BY stack_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS upto
    FROM nodes
), sums AS ( -- a function that calls itself counts once in a stack
    SELECT a.session AS session, a.frame_id AS frame_id, sum(a.samples) AS own,
        sum(CASE WHEN a.outermost THEN b.upto - a.upto + a.samples ELSE 0 END) AS below
    FROM running a JOIN running b ON b.session = a.session AND b.stack_id = a.last_id
    GROUP BY a.session, a.frame_id
), functions AS (
    SELECT f.name AS function, CAST(sum(s.own) AS BIGINT) AS self, CAST(sum(s.below) AS BIGINT) AS total
    FROM sums s JOIN frames f ON f.session = s.session AND f.frame_id = s.frame_id
    GROUP BY f.name
)
SELECT function, self, total FROM functions WHERE self <> 0 OR total <> 0
ORDER BY self DESC, total DESC, function
LIMIT 50;
