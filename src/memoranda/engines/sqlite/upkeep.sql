-- Statements that read or write whole tables: the checks of ``verify`` (their names are those of TABLE_FAULTS), the last
-- step of a rebuild, and the counts of a book. The plans of these are not tested.

-- ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: ledger_without_owner
SELECT DISTINCT owner FROM ledger AS l WHERE NOT EXISTS (SELECT 1 FROM owners WHERE no = l.owner)

-- name: record_without_shelf
SELECT 'number ' || no FROM records AS r WHERE NOT EXISTS (
    SELECT 1 FROM shelves AS s JOIN owners AS o ON o.no = s.owner
    WHERE s.no = r.shelf AND s.owner = r.owner AND o.erased_at IS NULL)

-- name: versions_without_record
SELECT DISTINCT 'number ' || record FROM versions AS v WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = v.record)

-- name: links_without_record
SELECT DISTINCT hex(record) FROM links AS l WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = l.record)

-- name: terms_without_record
SELECT record FROM terms AS t WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = t.record)

-- name: use_without_memory
SELECT record FROM uses AS u WHERE NOT EXISTS (SELECT 1 FROM records WHERE no = u.record AND type = 'memory')

-- name: vector_astray
SELECT 'number ' || (place & ((1 << 40) - 1)) FROM vectors AS v
WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = v.place >> 40)
    OR NOT EXISTS (SELECT 1 FROM terms WHERE record = v.place & ((1 << 40) - 1))

-- name: vector_length
SELECT 'number ' || (v.place & ((1 << 40) - 1))
FROM vector_sets AS s JOIN vectors AS v ON v.place > (s.no << 40) AND v.place < (s.no + 1) << 40
WHERE length(v.packed) <> s.dimension + 4

-- name: vector_count
SELECT name FROM vector_sets AS s
WHERE count <> (SELECT count(*) FROM vectors WHERE place > (s.no << 40) AND place < (s.no + 1) << 40)

-- ── rebuilding ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- No terms have rule 0, so maintenance recomputes all of them; the old ones are used until then.
-- name: rebuild_terms
INSERT OR IGNORE INTO terms (record, rule, packed) SELECT no, 0, x'' FROM records WHERE mark > 0

-- name: rebuild_rules
UPDATE terms SET rule = 0

-- name: rebuild_no_terms
DELETE FROM terms WHERE record NOT IN (SELECT no FROM records WHERE mark > 0)

-- name: rebuild_links
DELETE FROM links WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = links.record)

-- name: rebuild_uses
DELETE FROM uses WHERE record NOT IN (SELECT no FROM records)

-- Vectors are not recomputed; those that do not fit are deleted.
-- name: rebuild_vectors
DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM terms WHERE record = place & ((1 << 40) - 1))
    OR NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = place >> 40 AND dimension + 4 = length(packed))

-- ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: records_by_type
SELECT type, count(*) FROM records GROUP BY type ORDER BY type

-- name: jobs_by_state
SELECT state, count(*) FROM jobs GROUP BY state ORDER BY state

-- name: other_counts
SELECT (SELECT count(*) FROM owners WHERE erased_at IS NULL AND position > 0), (SELECT count(*) FROM terms WHERE rule < ?)

-- name: records_of_tenant
SELECT r.type, count(*) FROM records AS r JOIN owners AS o ON o.no = r.owner WHERE o.tenant = ? GROUP BY r.type ORDER BY r.type

-- name: jobs_of_tenant
SELECT j.state, count(*) FROM jobs AS j JOIN owners AS o ON o.no = j.owner WHERE o.tenant = ? GROUP BY j.state ORDER BY j.state

-- name: vectors_of_tenant
SELECT s.name, count(*) FROM vector_sets AS s JOIN records AS r JOIN owners AS o ON o.no = r.owner
JOIN vectors AS v ON v.place = (s.no << 40) + r.no WHERE o.tenant = ? GROUP BY s.name ORDER BY s.name

-- name: other_counts_of_tenant
SELECT (SELECT count(*) FROM owners WHERE tenant = ? AND erased_at IS NULL AND position > 0),
    (SELECT count(*) FROM terms AS t JOIN records AS r ON r.no = t.record JOIN owners AS o ON o.no = r.owner
        WHERE o.tenant = ? AND t.rule < ?)

-- ── backups ──────────────────────────────────────────────────────────────────────────────────────────────────────────

