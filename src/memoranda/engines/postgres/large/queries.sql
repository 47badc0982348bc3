-- The statements of large shelves, by name; ``{view}`` is the statement visible_shelves.

-- The large shelves that are not indexed, or whose index is behind.
-- name: shelves_behind
SELECT owner, no FROM shelves WHERE passages >= ? AND followed IS DISTINCT FROM mark ORDER BY passages DESC

-- The same by the partial index of large shelves; workers run it often.
-- name: large_shelves_behind
SELECT owner, no FROM shelves WHERE passages >= 10000 AND passages >= ? AND followed IS DISTINCT FROM mark ORDER BY passages DESC

-- name: lock_shelf_for_indexing
SELECT pg_try_advisory_xact_lock(hashtext('follow ' || current_schema()), hashint8(?))

-- name: marks_of_large_shelf
SELECT mark, coalesce(followed, 0) FROM shelves WHERE owner = ? AND no = ? AND passages >= ?

-- Marks are given in the order of commits: a passage with a higher mark than the shelf's is not visible yet. The mark is a
-- parameter, because row policies keep the planner from using the index for a mark that the statement computes.
-- name: passages_to_index
SELECT r.no, r.at, r.mark, t.packed, v.packed
FROM (SELECT owner, no, at, mark FROM records
    WHERE owner = :owner AND shelf = :shelf AND mark > :indexed AND mark > 0
    ORDER BY mark FETCH FIRST :limit ROWS WITH TIES) AS r
LEFT JOIN LATERAL (SELECT packed FROM terms WHERE owner = r.owner AND record = r.no LIMIT 1) AS t ON true
LEFT JOIN LATERAL (SELECT packed FROM vectors WHERE owner = r.owner AND record = r.no AND set = :set LIMIT 1) AS v ON true
ORDER BY r.mark

-- name: put_findable
INSERT INTO findable (owner, record, shelf, at, length, words)
SELECT :owner::bigint, g.record, :shelf::bigint, g.at, g.length,
    ARRAY(SELECT w::bigint FROM unnest(string_to_array(g.words, ' ')) AS w)
FROM unnest(:records::bigint[], :ats::bigint[], :lengths::bigint[], :words::text[]) AS g (record, at, length, words)
ON CONFLICT (owner, record) DO UPDATE
SET shelf = excluded.shelf, at = excluded.at, length = excluded.length, words = excluded.words

-- name: set_indexed
UPDATE shelves SET followed = :mark WHERE owner = :owner AND no = :shelf AND followed IS DISTINCT FROM :mark

-- name: count_waiting
SELECT count(*) FROM (SELECT 1 FROM records WHERE owner = ? AND shelf = ? AND mark > ? AND mark > 0 LIMIT ?) AS w

-- The number of passages, the sum of their lengths, the same sum with what neighbours in a thread lend, the roles in
-- messages, and how many different speakers have a name.
-- name: measured
WITH seen AS MATERIALIZED ({view})
SELECT count(*), coalesce(sum(m.length), 0)::bigint,
    coalesce(sum(m.length * (1 + :next::float8 * ((m.before >= 1)::int + (m.after >= 1)::int)
        + :second::float8 * ((m.before >= 2)::int + (m.after >= 2)::int))), 0)::float8,
    coalesce(array_agg(DISTINCT m.role) FILTER (WHERE m.role IS NOT NULL), '{}'), count(DISTINCT m.speaker)
FROM (SELECT owner, array_agg(no) AS shelves FROM seen WHERE no = ANY(:wanted::bigint[]) GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT f.length, CASE WHEN r.type = 'message' THEN r.kind END AS role,
        CASE WHEN r.type = 'message' THEN nullif(r.facets, '')::jsonb ->> 0 END AS speaker,
        CASE WHEN r.type = 'message' THEN row_number() OVER said - 1 ELSE 0 END AS before,
        CASE WHEN r.type = 'message' THEN count(*) OVER (PARTITION BY r.shelf, r.thread, r.type) - row_number() OVER said ELSE 0 END AS after
    FROM findable AS f JOIN records AS r ON r.owner = f.owner AND r.no = f.record AND r.shelf = f.shelf
    WHERE f.owner = o.owner AND f.shelf = ANY(o.shelves)
    WINDOW said AS (PARTITION BY r.shelf, r.thread, r.type ORDER BY r.seq)) AS m

-- name: some_vectors
WITH seen AS MATERIALIZED ({view})
SELECT v.packed
FROM (SELECT owner, array_agg(no) AS shelves FROM seen WHERE no = ANY(:wanted::bigint[]) GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT v.packed FROM findable AS f JOIN vectors AS v ON v.owner = f.owner AND v.record = f.record AND v.set = :set
    WHERE f.owner = o.owner AND f.shelf = ANY(o.shelves) AND f.record % :every::bigint = 0 OFFSET 0) AS v

-- name: count_holders
WITH seen AS MATERIALIZED ({view})
SELECT count(*) FROM findable AS f
WHERE f.words && :words::bigint[] AND f.shelf IN (SELECT no FROM seen WHERE no = ANY(:wanted::bigint[]))

-- name: count_within
WITH seen AS MATERIALIZED ({view})
SELECT count(*) FROM seen AS s CROSS JOIN LATERAL (
    SELECT 1 FROM findable AS f
    WHERE f.owner = s.owner AND f.shelf = s.no AND f.at >= :since AND f.at < :until OFFSET 0) AS f
WHERE s.no = ANY(:wanted::bigint[])

-- The rare words select passages, and all words together order them.
-- name: by_terms
WITH seen AS MATERIALIZED ({view})
SELECT x.id FROM (SELECT owner, array_agg(no) AS shelves FROM seen WHERE no = ANY(:wanted::bigint[]) GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.id FROM findable AS f JOIN records AS r ON r.owner = f.owner AND r.no = f.record AND r.shelf = f.shelf
    WHERE f.words && :rare::bigint[] AND f.owner = o.owner AND f.shelf = ANY(o.shelves)
        AND r.type = ANY(:types::text[]) AND {conditions}
    ORDER BY (SELECT sum(w.weight) FROM unnest(:words::bigint[], :weights::float8[]) AS w (word, weight)
        WHERE f.words @> ARRAY[w.word]) DESC, f.length, r.id LIMIT :limit) AS x

-- name: newest_said
WITH seen AS MATERIALIZED ({view})
SELECT x.id FROM seen AS s CROSS JOIN LATERAL (
    SELECT r.id, f.at FROM findable AS f JOIN records AS r ON r.owner = f.owner AND r.no = f.record AND r.shelf = f.shelf
    WHERE f.owner = s.owner AND f.shelf = s.no AND r.type = ANY(:types::text[]) AND {conditions}
    ORDER BY f.at DESC LIMIT :limit) AS x
WHERE s.no = ANY(:wanted::bigint[])
ORDER BY x.at DESC LIMIT :limit

-- name: not_indexed
WITH seen AS MATERIALIZED ({view}),
reached AS MATERIALIZED (SELECT owner, no, coalesce(followed, 0) AS mark FROM seen WHERE no = ANY(:wanted::bigint[]))
SELECT x.id FROM reached AS s CROSS JOIN LATERAL (
    SELECT r.id FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > s.mark AND r.mark > 0
    ORDER BY r.mark LIMIT :limit) AS x

-- Each passage with its neighbours in the thread on both sides, in their order.
-- name: windows
WITH seen AS MATERIALIZED ({view})
SELECT o.owner, h.no, h.around
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.no, CASE WHEN r.type <> 'message' THEN ARRAY[r.no] ELSE
        ARRAY(SELECT b.no FROM (
            SELECT b.no, b.seq FROM records AS b
            WHERE b.owner = r.owner AND b.thread = r.thread AND b.seq < r.seq AND b.type = 'message'
                AND b.shelf = r.shelf AND b.mark > 0
            ORDER BY b.seq DESC LIMIT :reach) AS b ORDER BY b.seq)
        || r.no ||
        ARRAY(SELECT a.no FROM records AS a
            WHERE a.owner = r.owner AND a.thread = r.thread AND a.seq > r.seq AND a.type = 'message'
                AND a.shelf = r.shelf AND a.mark > 0
            ORDER BY a.seq LIMIT :reach) END AS around
    FROM records AS r
    WHERE r.owner = o.owner AND r.id = ANY(:ids::bytea[]) AND r.shelf = ANY(o.shelves) AND r.mark > 0 OFFSET 0) AS h

-- name: passages_numbered
SELECT id, type, kind, status, thread, seq, at, valid_from, valid_to, facets, learnt, ended,
    CASE WHEN type = 'item' OR type = 'memory' AND position('"data":' IN body) > 0
        THEN CASE WHEN length(body) <= 8192 THEN body ELSE '' END END, no
FROM records WHERE owner = ? AND no = ANY(?::bigint[])

-- name: terms_numbered
SELECT record, packed FROM terms WHERE owner = ? AND record = ANY(?::bigint[])

-- name: vectors_numbered
SELECT record, packed FROM vectors WHERE owner = ? AND record = ANY(?::bigint[]) AND set = ?

-- The active set of vectors, and the schema of the extension; 0.8 is the first version with iterative scans of an index.
-- name: active_set
SELECT s.no, s.name, s.dimension, (
    SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector' AND string_to_array(e.extversion, '.')::int[] >= ARRAY[0, 8])
FROM vector_sets AS s WHERE s.active

-- name: relation
SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = ?

-- name: any_plan
SELECT set_config('plan_cache_mode', 'force_custom_plan', true)

-- An index whose building has not ended, or has failed, is not valid.
-- name: index_that_serves
SELECT 1 FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ? AND i.indisvalid

-- name: count_indexed
SELECT coalesce(sum(passages), 0)::bigint FROM shelves WHERE followed IS NOT NULL

-- name: tables_of_no_set
SELECT c.relname FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname ~ '^nearness_[0-9]+$'
    AND NOT EXISTS (SELECT 1 FROM vector_sets AS s WHERE s.no = substr(c.relname, 10)::bigint)

-- Plans the search for its values, and reads passages in the order of the index.
-- name: near_plan
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.ef_search', ?, true), set_config('hnsw.max_scan_tuples', ?, true)
