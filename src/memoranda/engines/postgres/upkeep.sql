-- Statements that read or write whole tables: the checks of ``verify`` (their names are those of TABLE_FAULTS), the last
-- step of a rebuild, and the counts of a book. The plans of these are not tested.

-- ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: ledger_without_owner
SELECT DISTINCT owner FROM ledger AS l WHERE NOT EXISTS (SELECT 1 FROM owners WHERE no = l.owner)

-- name: record_without_shelf
SELECT 'number ' || no FROM records AS r WHERE NOT EXISTS (
    SELECT 1 FROM shelves AS s JOIN owners AS o ON o.no = s.owner
    WHERE s.no = r.shelf AND s.owner = r.owner AND o.erased_at IS NULL)

-- name: id_of_another
SELECT 'number ' || no FROM records AS r
WHERE NOT EXISTS (SELECT 1 FROM ids AS i WHERE i.id = r.id AND i.owner = r.owner)

-- name: id_without_record
SELECT encode(id, 'hex') FROM ids AS i
WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.owner = i.owner AND r.id = i.id)

-- name: versions_without_record
SELECT DISTINCT 'number ' || record FROM versions AS v
WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = v.owner AND no = v.record)

-- name: links_without_record
SELECT DISTINCT encode(record, 'hex') FROM links AS l
WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = l.owner AND id = l.record)

-- name: terms_without_record
SELECT record FROM terms AS t WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = t.owner AND no = t.record)

-- name: use_without_memory
SELECT record FROM uses AS u
WHERE NOT EXISTS (SELECT 1 FROM records WHERE owner = u.owner AND no = u.record AND type = 'memory')

-- name: vector_astray
SELECT 'number ' || record FROM vectors AS v WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = v.set)
    OR NOT EXISTS (SELECT 1 FROM terms WHERE owner = v.owner AND record = v.record)

-- name: vector_length
SELECT 'number ' || v.record FROM vector_sets AS s JOIN vectors AS v ON v.set = s.no
WHERE length(v.packed) <> s.dimension + 4

-- name: vector_not_lacking
SELECT 'number ' || t.record FROM terms AS t, vector_sets AS s
WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = s.no)
    AND NOT EXISTS (SELECT 1 FROM unmade AS u WHERE u.set = s.no AND u.record = t.record AND u.owner = t.owner)

-- name: vector_lacking
SELECT 'number ' || u.record FROM unmade AS u WHERE NOT EXISTS (SELECT 1 FROM vector_sets WHERE no = u.set)
    OR NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.owner = u.owner AND t.record = u.record)
    OR EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = u.owner AND v.record = u.record AND v.set = u.set)

-- name: vector_count
SELECT name FROM vector_sets AS s WHERE count <> (SELECT count(*) FROM vectors WHERE set = s.no)

-- name: shelf_count
SELECT 'number ' || no FROM shelves AS s
WHERE passages <> (SELECT count(*) FROM records AS r WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > 0)

-- Records on the indexed part of a large shelf that the index of words does not contain.
-- name: words_not_indexed
SELECT 'number ' || r.no FROM shelves AS s JOIN records AS r ON r.owner = s.owner AND r.shelf = s.no
WHERE r.mark > 0 AND r.mark <= s.followed AND NOT EXISTS (
    SELECT 1 FROM findable AS f WHERE f.owner = r.owner AND f.record = r.no AND f.shelf = r.shelf AND f.at = r.at)

-- ── rebuilding ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- The index of words is made again by workers; the shelves are marked as not indexed.
-- name: rebuild_findable
DELETE FROM findable

-- No terms have rule 0, so maintenance recomputes all of them; the old ones are used until then.
-- name: rebuild_terms
INSERT INTO terms (owner, record, rule, packed) SELECT owner, no, 0, '' FROM records WHERE mark > 0 ON CONFLICT DO NOTHING

-- name: rebuild_rules
UPDATE terms SET rule = 0

-- name: rebuild_no_terms
DELETE FROM terms AS t
WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.owner = t.owner AND r.no = t.record AND r.mark > 0)

-- name: rebuild_links
DELETE FROM links AS l WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.owner = l.owner AND r.id = l.record)

-- name: rebuild_uses
DELETE FROM uses AS u WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.owner = u.owner AND r.no = u.record)

-- Vectors are not recomputed; those that do not fit are deleted.
-- name: rebuild_vectors
DELETE FROM vectors AS v
WHERE NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.owner = v.owner AND t.record = v.record)
    OR NOT EXISTS (SELECT 1 FROM vector_sets AS s WHERE s.no = v.set AND s.dimension + 4 = length(v.packed))

-- name: rebuild_none_lacking
DELETE FROM unmade

-- name: rebuild_lacking
INSERT INTO unmade (set, owner, record) SELECT s.no, t.owner, t.record FROM terms AS t, vector_sets AS s
WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = s.no)

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
SELECT s.name, count(*) FROM vectors AS v JOIN vector_sets AS s ON s.no = v.set JOIN owners AS o ON o.no = v.owner
WHERE o.tenant = ? GROUP BY s.name ORDER BY s.name

-- name: other_counts_of_tenant
SELECT (SELECT count(*) FROM owners WHERE tenant = ? AND erased_at IS NULL AND position > 0),
    (SELECT count(*) FROM terms AS t JOIN owners AS o ON o.no = t.owner WHERE o.tenant = ? AND t.rule < ?)

-- name: bytes
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'

-- name: erase_entries
SELECT body FROM ledger WHERE body LIKE '%"erase"%' OR body LIKE '%"redacted"%'

-- name: erased_eras
SELECT era FROM owners WHERE erased_at IS NOT NULL ORDER BY no
