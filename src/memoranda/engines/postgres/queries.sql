-- The statements of the PostgreSQL engine, by name. Parameters are given by position (?) or by name (:name).

-- ── transactions ─────────────────────────────────────────────────────────────────────────────────────────────────

-- name: secret
SELECT value FROM book WHERE name = 'secret'

-- name: make_secret
INSERT INTO book (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING

-- For reads of whole tables: allows sequential scans and custom plans, which connections are set not to use.
-- name: whole_tables
SELECT set_config('enable_seqscan', 'on', true), set_config('plan_cache_mode', 'auto', true)

-- ── owners and shelves ───────────────────────────────────────────────────────────────────────────────────────────

-- Locks the owner's row until the transaction ends; returns the book's secret, too.
-- name: lock_owner
SELECT b.value, o.no, o.era, o.position, o.held, o.items, (SELECT x.mode FROM restrictions AS x WHERE x.digest = o.digest)
FROM book AS b LEFT JOIN LATERAL (
    SELECT no, era, position, held, items, digest FROM owners WHERE tenant = ? AND kind = ? AND id = ? AND erased_at IS NULL FOR UPDATE) AS o ON true
WHERE b.name = 'secret'

-- Reads the owner's row and the book's secret, and sets the owner for the row policies.
-- name: find_owner
SELECT b.value, o.no, o.era, o.position, o.held, o.items, (SELECT x.mode FROM restrictions AS x WHERE x.digest = o.digest),
    set_config('memoranda.owner', o.no::text, true)
FROM book AS b LEFT JOIN LATERAL (
    SELECT no, era, position, held, items, digest FROM owners WHERE tenant = ? AND kind = ? AND id = ? AND erased_at IS NULL) AS o ON true
WHERE b.name = 'secret'

-- An owner that does not exist yet has no row to lock, so its name is locked.
-- name: lock_name
SELECT pg_advisory_xact_lock(hashtext(current_schema()), hashtext(?::text))

-- name: add_owner
INSERT INTO owners (tenant, kind, id, era, digest) VALUES (?, ?, ?, ?, ?) RETURNING no

-- name: owners_of_tenant
SELECT tenant, kind, id FROM owners WHERE tenant = ? AND erased_at IS NULL AND position > 0 ORDER BY kind, id

-- name: find_era
SELECT (SELECT value FROM book WHERE name = 'secret'), no, tenant, kind, id, position, held, items, erased_at
FROM owners WHERE era = ?

-- name: move_held
UPDATE owners SET held = held + ?, items = items + ? WHERE no = ?

-- name: recount_held
UPDATE owners SET held = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'memory' AND status = 'active'),
    items = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'item' AND status IS NULL)
WHERE no = ?

-- The only statement that turns a view into shelves; every read uses it. It also sets the owner for the row policies:
-- within another statement, whatever is read must depend on its rows (by LATERAL, and by OFFSET 0 where the planner
-- could reorder the join), so that the owner is set before a policy is evaluated.
-- name: visible_shelves
SELECT s.no, s.audience, s.agent, s.groups, s.mark, s.renewed, o.no AS owner,
    set_config('memoranda.owner', o.no::text, true) AS facing, s.passages, s.followed
FROM owners AS o JOIN shelves AS s ON s.owner = o.no
WHERE o.tenant = :tenant
  AND o.kind = :kind
  AND o.id = :id
  AND o.erased_at IS NULL
  AND (:whole::boolean
    OR s.audience = 'global'
    OR (s.audience = 'self' AND s.agent = :agent::text)
    OR (s.audience = 'group' AND EXISTS (
        SELECT 1 FROM shelf_groups AS g WHERE g.owner = s.owner AND g.shelf = s.no AND g.name = ANY(:groups::text[]))))
  AND (:whole::boolean OR NOT EXISTS (SELECT 1 FROM restrictions AS x WHERE x.digest = o.digest))
ORDER BY s.no

-- name: shelf
SELECT no FROM shelves WHERE owner = ? AND audience = ? AND agent = ? AND digest = sha256(decode(replace(?::text, E'\\', E'\\\\'), 'escape'))

-- name: add_shelf
INSERT INTO shelves (owner, audience, agent, groups) VALUES (?, ?, ?, ?) RETURNING no

-- name: add_shelf_groups
INSERT INTO shelf_groups (owner, shelf, name) SELECT ?::bigint, ?::bigint, unnest(?::text[])

-- name: passages_left
UPDATE shelves SET passages = passages - ? WHERE owner = ? AND no = ?

-- name: move_mark
UPDATE shelves SET mark = mark + 1 WHERE owner = ? AND no = ? RETURNING mark, passages, followed

-- ── reading records ──────────────────────────────────────────────────────────────────────────────────────────────

-- name: load_own
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = ? AND r.id = ANY(?::bytea[])

-- name: holders
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body, r.slot
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = ? AND r.slot = ANY(?::bytea[])

-- name: resting_on
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM (SELECT DISTINCT owner, record FROM links WHERE source = ANY(?::bytea[])) AS l
JOIN records AS r ON r.owner = l.owner AND r.id = l.record
JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
ORDER BY r.id

-- name: other_holders
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM owners AS mine
JOIN owners AS o ON o.tenant = mine.tenant AND o.kind IN ('tenant', 'agent') AND o.erased_at IS NULL
JOIN records AS r ON r.owner = o.no AND r.type IN ('key', 'experience')
JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf
WHERE mine.no = ?

-- Records, and the use of those that are memories.
-- name: get
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body, r.status, u.strength, u.used_at, u.count
FROM records AS r LEFT JOIN uses AS u ON u.owner = r.owner AND u.record = r.no AND r.type = 'memory'
WHERE r.owner = ? AND r.id = ANY(?::bytea[]) AND r.shelf = ANY(?::bigint[])

-- name: get_in_view
WITH seen AS MATERIALIZED ({view})
SELECT r.type, r.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = o.owner AND r.id = ANY(:ids::bytea[]) AND r.shelf = ANY(o.shelves) AND r.status IS DISTINCT FROM 'withdrawn'
    OFFSET 0) AS r
JOIN seen AS s ON s.no = r.shelf

-- Those of these records of the owner that are on shelves which the view may not see.
-- name: out_of_view
WITH seen AS MATERIALIZED ({view})
SELECT r.id
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.id FROM records AS r
    WHERE r.owner = o.owner AND r.id = ANY(:ids::bytea[]) AND r.shelf <> ALL(o.shelves)
    OFFSET 0) AS r

-- name: scan_up
WITH seen AS MATERIALIZED ({view})
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, unnest(:types::text[]) AS of_type (name), LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.type = of_type.name AND r.id > :cursor AND {conditions}
    ORDER BY r.id LIMIT :limit) AS x
ORDER BY x.id LIMIT :limit

-- The records that cite something are few: they are found by their ids, never by looking through the shelf.
-- name: scan_citing_up
WITH seen AS MATERIALIZED ({view}), citing AS MATERIALIZED (
    SELECT DISTINCT l.record FROM (SELECT DISTINCT owner FROM seen) AS o, LATERAL (
        SELECT l.record FROM links AS l WHERE l.owner = o.owner AND l.source = ANY(:sources::bytea[]) OFFSET 0) AS l)
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, citing AS c, LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.id = c.record AND r.shelf = s.no AND r.type = ANY(:types::text[]) AND r.id > :cursor AND {conditions}
    OFFSET 0) AS x
ORDER BY x.id LIMIT :limit

-- name: scan_citing_down
WITH seen AS MATERIALIZED ({view}), citing AS MATERIALIZED (
    SELECT DISTINCT l.record FROM (SELECT DISTINCT owner FROM seen) AS o, LATERAL (
        SELECT l.record FROM links AS l WHERE l.owner = o.owner AND l.source = ANY(:sources::bytea[]) OFFSET 0) AS l)
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, citing AS c, LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.id = c.record AND r.shelf = s.no AND r.type = ANY(:types::text[]) AND r.id < :cursor AND {conditions}
    OFFSET 0) AS x
ORDER BY x.id DESC LIMIT :limit

-- What waits is found by its jobs. A thread's seq is the last place given out: messages after formed_through are not formed.
-- name: scan_unformed_up
WITH seen AS MATERIALIZED ({view}), unformed AS MATERIALIZED (
    SELECT o.owner, o.shelves, t.id, coalesce((t.body::json ->> 'formed_through')::bigint, 0) AS through
    FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
    CROSS JOIN LATERAL (SELECT j.records FROM jobs AS j WHERE j.owner = o.owner AND j.kind = 'form' OFFSET 0) AS j
    CROSS JOIN LATERAL (
        SELECT t.id, t.body FROM records AS t
        WHERE t.owner = o.owner AND t.id = j.records[1] OFFSET 0) AS t)
SELECT x.type, x.id, x.version, x.recorded_at, x.body, s.audience, s.agent, s.groups
FROM unformed AS u CROSS JOIN LATERAL (
    SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = u.owner AND r.thread = u.id AND r.seq > u.through AND r.type = ANY(:types::text[])
        AND r.shelf = ANY(u.shelves) AND r.id > :cursor AND {conditions}
    OFFSET 0) AS x
JOIN seen AS s ON s.no = x.shelf
ORDER BY x.id LIMIT :limit

-- name: scan_unformed_down
WITH seen AS MATERIALIZED ({view}), unformed AS MATERIALIZED (
    SELECT o.owner, o.shelves, t.id, coalesce((t.body::json ->> 'formed_through')::bigint, 0) AS through
    FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
    CROSS JOIN LATERAL (SELECT j.records FROM jobs AS j WHERE j.owner = o.owner AND j.kind = 'form' OFFSET 0) AS j
    CROSS JOIN LATERAL (
        SELECT t.id, t.body FROM records AS t
        WHERE t.owner = o.owner AND t.id = j.records[1] OFFSET 0) AS t)
SELECT x.type, x.id, x.version, x.recorded_at, x.body, s.audience, s.agent, s.groups
FROM unformed AS u CROSS JOIN LATERAL (
    SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = u.owner AND r.thread = u.id AND r.seq > u.through AND r.type = ANY(:types::text[])
        AND r.shelf = ANY(u.shelves) AND r.id < :cursor AND {conditions}
    OFFSET 0) AS x
JOIN seen AS s ON s.no = x.shelf
ORDER BY x.id DESC LIMIT :limit

-- name: scan_thread_up
WITH seen AS MATERIALIZED ({view})
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, unnest(:types::text[]) AS of_type (name), LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.type = of_type.name AND r.thread = :thread AND r.id > :cursor AND {conditions}
    ORDER BY r.id LIMIT :limit) AS x
ORDER BY x.id LIMIT :limit

-- name: places_up
WITH seen AS MATERIALIZED ({view})
SELECT x.type, x.id, x.version, x.recorded_at, x.body, s.audience, s.agent, s.groups
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body, r.seq
    FROM records AS r
    WHERE r.owner = o.owner AND r.thread = :thread AND r.seq > :place AND r.type = 'message'
        AND r.shelf = ANY(o.shelves) AND {conditions}
    ORDER BY r.seq LIMIT :limit) AS x
JOIN seen AS s ON s.no = x.shelf
ORDER BY x.seq

-- name: scan_down
WITH seen AS MATERIALIZED ({view})
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, unnest(:types::text[]) AS of_type (name), LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.type = of_type.name AND r.id < :cursor AND {conditions}
    ORDER BY r.id DESC LIMIT :limit) AS x
ORDER BY x.id DESC LIMIT :limit

-- name: scan_thread_down
WITH seen AS MATERIALIZED ({view})
SELECT x.*, s.audience, s.agent, s.groups FROM seen AS s, unnest(:types::text[]) AS of_type (name), LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body
    FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.type = of_type.name AND r.thread = :thread AND r.id < :cursor AND {conditions}
    ORDER BY r.id DESC LIMIT :limit) AS x
ORDER BY x.id DESC LIMIT :limit

-- name: places_down
WITH seen AS MATERIALIZED ({view})
SELECT x.type, x.id, x.version, x.recorded_at, x.body, s.audience, s.agent, s.groups
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body, r.seq
    FROM records AS r
    WHERE r.owner = o.owner AND r.thread = :thread AND r.seq < :place AND r.type = 'message'
        AND r.shelf = ANY(o.shelves) AND {conditions}
    ORDER BY r.seq DESC LIMIT :limit) AS x
JOIN seen AS s ON s.no = x.shelf
ORDER BY x.seq DESC

-- name: count
SELECT count(*) FROM records AS r
WHERE r.owner = :owner AND r.shelf = ANY(:shelves::bigint[]) AND r.type = ANY(:types::text[]) AND {conditions}

-- name: newest_passages
WITH seen AS MATERIALIZED ({view})
SELECT x.type, x.id, x.version, x.recorded_at, x.body, s.audience, s.agent, s.groups
FROM seen AS s, unnest(:types::text[]) AS of_type (name), LATERAL (
    SELECT r.type, r.id, r.version, r.recorded_at, r.body, r.at
    FROM records AS r
    WHERE r.owner = s.owner AND r.shelf = s.no AND r.type = of_type.name AND r.mark > 0 AND {conditions}
    ORDER BY r.at DESC, r.id DESC LIMIT :limit::bigint + :offset::bigint) AS x
ORDER BY x.at DESC, x.id DESC LIMIT :limit::bigint OFFSET :offset::bigint

-- name: count_kinds
SELECT r.kind, count(*) FROM records AS r
WHERE r.owner = :owner AND r.shelf = ANY(:shelves::bigint[]) AND r.type = ANY(:types::text[]) AND r.mark > 0 AND {conditions}
GROUP BY r.kind

-- name: end_of
SELECT s.audience, s.agent, s.groups, r.kind, r.seq, s.no, r.valid_to
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf
WHERE r.owner = ? AND r.id = ? AND r.type = 'thread' AND r.status <> 'withdrawn'

-- name: place_taken
SELECT 1 FROM records WHERE owner = ? AND thread = ? AND seq = ? AND type = 'message'

-- name: last_user_turn
SELECT seq FROM records WHERE owner = ? AND thread = ? AND type = 'message' AND kind = 'user'
ORDER BY seq DESC LIMIT 1

-- name: count_expired_items
SELECT count(*) FROM records WHERE owner = ? AND type = 'item' AND status IS NULL AND valid_to <= ?

-- name: writers_of_expired
SELECT facets::jsonb ->> 1 FROM records
WHERE owner = :owner AND type = 'memory' AND status = 'active' AND valid_to <= :at AND (facets::jsonb ->> 7)::bigint <= :at

-- name: count_archived
SELECT count(*) FROM records WHERE owner = ? AND type = 'memory' AND status = 'archived'

-- name: count_own
SELECT count(*) FROM records
WHERE owner = :owner AND type = 'memory' AND status = 'active'
  AND nullif(facets, '')::jsonb ->> 1 IS NOT DISTINCT FROM :agent::text

-- name: own_memories
SELECT r.id, r.recorded_at, r.at, r.facets::jsonb ->> 2, r.facets::jsonb ->> 4, r.facets::jsonb ->> 6 IS NOT NULL,
    r.thread IS NOT NULL, u.strength, u.used_at, u.count
FROM records AS r LEFT JOIN uses AS u ON u.owner = r.owner AND u.record = r.no
WHERE r.owner = :owner AND r.type = 'memory' AND r.status = 'active'
  AND nullif(r.facets, '')::jsonb ->> 1 IS NOT DISTINCT FROM :agent::text

-- name: oldest_own
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.type = 'memory' AND r.status = 'active'
  AND nullif(r.facets, '')::jsonb ->> 1 IS NOT DISTINCT FROM :agent::text AND nullif(r.facets, '')::jsonb ->> 6 IS NULL
ORDER BY r.recorded_at, r.id LIMIT :limit

-- name: count_run
SELECT count(*) FROM records WHERE owner = ? AND run = ?

-- name: in_thread
SELECT id FROM records WHERE owner = ? AND thread = ? AND type <> 'thread'

-- ── writing records ──────────────────────────────────────────────────────────────────────────────────────────────

-- Updates records, stores their earlier versions, and advances the marks of the shelves that passages are on or leave.
-- A shelf of null means that the record stays on its shelf. Each join repeats the condition on the list of ids, because
-- the index is always used for a list.
-- name: change_records
WITH given AS (
    SELECT * FROM unnest(:ids::bytea[], :shelves::bigint[], :passages::boolean[], :versions::bigint[], :times::bigint[],
        :slots::bytea[], :threads::bytea[], :kinds::text[], :statuses::text[], :ats::bigint[], :valid_froms::bigint[],
        :valid_tos::bigint[], :facets::text[], :bodies::text[], :hashes::bytea[], :held::boolean[], :positions::bigint[])
    AS g (id, shelf, passage, version, recorded_at, slot, thread, kind, status, at, valid_from, valid_to, facets, body, hash, held,
        position)),
stood AS (
    SELECT r.no, r.id, r.shelf AS was, coalesce(g.shelf, r.shelf) AS shelf, g.passage
    FROM given AS g JOIN records AS r ON r.owner = :owner AND r.id = ANY(:ids::bytea[]) AND r.id = g.id),
moved AS (
    UPDATE shelves AS t SET mark = mark + 1,
        passages = passages + (SELECT count(*) FILTER (WHERE shelf = t.no) - count(*) FILTER (WHERE was = t.no) FROM stood WHERE passage)
    WHERE owner = :owner AND no IN (SELECT was FROM stood WHERE passage UNION SELECT shelf FROM stood WHERE passage)
    RETURNING no, mark),
left_behind AS (
    INSERT INTO gone (owner, shelf, mark, id)
    SELECT :owner::bigint, s.was, m.mark, s.id FROM stood AS s JOIN moved AS m ON m.no = s.was WHERE s.passage AND s.was <> s.shelf
    ON CONFLICT DO NOTHING),
kept AS (
    INSERT INTO versions (owner, record, version, shelf, position, recorded_at, ended_at, body, hash)
    SELECT r.owner, r.no, r.version, r.shelf, r.position, r.recorded_at, g.recorded_at, r.body, r.hash
    FROM given AS g JOIN records AS r ON r.owner = :owner AND r.id = ANY(:ids::bytea[]) AND r.id = g.id)
UPDATE records AS r SET version = g.version, recorded_at = g.recorded_at, slot = g.slot, thread = g.thread, kind = g.kind,
    status = g.status, at = g.at, valid_from = g.valid_from, valid_to = g.valid_to, facets = g.facets, body = g.body,
    hash = g.hash, ended = CASE WHEN g.held THEN NULL ELSE coalesce(r.ended, g.recorded_at) END,
    shelf = s.shelf, position = g.position, mark = coalesce(m.mark, 0)
FROM given AS g JOIN stood AS s ON s.id = g.id LEFT JOIN moved AS m ON m.no = s.shelf AND s.passage
WHERE r.owner = :owner AND r.id = ANY(:ids::bytea[]) AND r.id = g.id

-- Stores everything that a batch adds in one round trip: shelves, records, terms, links, the ledger entry. Returns the
-- sets of vectors that have no waiting job. A step of 0 does not advance a shelf's mark.
-- name: store
WITH asked AS (
    SELECT *, sha256(decode(replace(groups, E'\\', E'\\\\'), 'escape')) AS digest
    FROM unnest(:audiences::text[], :agents::text[], :groups::text[], :steps::bigint[], :comers::bigint[])
    WITH ORDINALITY AS a (audience, agent, groups, step, comers, place)),
moved AS (
    UPDATE shelves AS s SET mark = s.mark + a.step, passages = s.passages + a.comers FROM asked AS a
    WHERE s.owner = :owner AND s.audience = a.audience AND s.agent = a.agent AND s.digest = a.digest
    RETURNING s.no, s.mark, a.place),
added AS (
    INSERT INTO shelves (owner, audience, agent, groups, mark, passages)
    SELECT :owner, a.audience, a.agent, a.groups, a.step, a.comers FROM asked AS a
    WHERE NOT EXISTS (
        SELECT 1 FROM shelves AS s
        WHERE s.owner = :owner AND s.audience = a.audience AND s.agent = a.agent AND s.digest = a.digest)
    RETURNING no, mark, audience, agent, groups, digest),
grouped AS (
    INSERT INTO shelf_groups (owner, shelf, name)
    SELECT :owner, a.no, g.name FROM added AS a, jsonb_array_elements_text(a.groups::jsonb) AS g (name)),
shelved AS (
    SELECT no, mark, place FROM moved
    UNION ALL SELECT n.no, n.mark, a.place FROM added AS n JOIN asked AS a USING (audience, agent, digest)),
given AS (
    SELECT * FROM unnest(:ids::bytea[], :shelves::bigint[], :types::text[], :versions::bigint[], :positions::bigint[],
        :times::bigint[], :slots::bytea[], :threads::bytea[], :seqs::bigint[], :kinds::text[], :statuses::text[], :ats::bigint[],
        :valid_froms::bigint[], :valid_tos::bigint[], :facets::text[], :ends::bigint[], :runs::bytea[], :hashes::bytea[],
        :bodies::text[], :terms::bytea[])
    WITH ORDINALITY AS g (id, shelf, type, version, position, recorded_at, slot, thread, seq, kind, status, at,
        valid_from, valid_to, facets, ended, run, hash, body, packed, place)),
claimed AS (INSERT INTO ids (id, owner) SELECT id, :owner FROM given),
stored AS (
    INSERT INTO records (owner, id, shelf, type, version, position, recorded_at, slot, thread, seq, kind, status, at,
        valid_from, valid_to, facets, learnt, ended, run, mark, hash, body)
    SELECT :owner, g.id, s.no, g.type, g.version, g.position, g.recorded_at, g.slot, g.thread, g.seq, g.kind, g.status, g.at,
        g.valid_from, g.valid_to, g.facets, g.recorded_at, g.ended, g.run, CASE WHEN g.packed IS NULL THEN 0 ELSE s.mark END,
        g.hash, g.body
    FROM given AS g JOIN shelved AS s ON s.place = g.shelf ORDER BY g.place
    RETURNING no, id),
termed AS (
    INSERT INTO terms (owner, record, rule, packed)
    SELECT :owner, s.no, :rule::bigint, g.packed FROM given AS g JOIN stored AS s ON s.id = g.id WHERE g.packed IS NOT NULL),
unmade_yet AS (
    INSERT INTO unmade (set, owner, record)
    SELECT v.no, :owner, s.no FROM given AS g JOIN stored AS s ON s.id = g.id, vector_sets AS v WHERE g.packed IS NOT NULL),
linked AS (
    INSERT INTO links (owner, record, part, source)
    SELECT :owner, l.record, l.part, l.source
    FROM unnest(:records::bytea[], :parts::bytea[], :sources::bytea[]) AS l (record, part, source)
    ON CONFLICT DO NOTHING),
followed AS (
    UPDATE records AS r SET seq = greatest(r.seq, t.tail) FROM unnest(:tailed::bytea[], :tails::bigint[]) AS t (id, tail)
    WHERE r.owner = :owner AND r.id = ANY(:tailed::bytea[]) AND r.id = t.id),
entered AS (
    INSERT INTO ledger (owner, position, at, actor_kind, actor, operation, request, body)
    SELECT :owner, :position, :at::bigint, :actor_kind::text, :actor::text, :operation::bytea, :request::bytea, :entry::text
    WHERE :entry::text IS NOT NULL),
went_on AS (
    UPDATE owners SET position = :position, held = held + :gain::bigint, items = items + :items::bigint
    WHERE no = :owner AND :entry::text IS NOT NULL)
SELECT s.name FROM vector_sets AS s
WHERE :entry::text IS NOT NULL AND EXISTS (SELECT 1 FROM given WHERE packed IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE owner = 0 AND kind = :upkeep::text AND key = s.name AND state = 'waiting')
ORDER BY s.no

-- name: where_are
SELECT id, no, shelf FROM records WHERE owner = ? AND id = ANY(?::bytea[])

-- name: owners_of
SELECT i.id, o.tenant, o.kind, o.id
FROM ids AS i CROSS JOIN LATERAL (SELECT tenant, kind, id FROM owners WHERE no = i.owner LIMIT 1) AS o
WHERE i.id = ANY(?::bytea[])

-- name: where_passages_are
SELECT r.id, r.owner, r.no, r.shelf FROM ids AS i JOIN records AS r ON r.owner = i.owner AND r.id = i.id
WHERE i.id = ANY(?::bytea[]) AND r.mark > 0 ORDER BY r.owner, r.shelf, r.no

-- name: reworded_among
SELECT r.id, r.version FROM ids AS i JOIN records AS r ON r.owner = i.owner AND r.id = i.id
WHERE i.id = ANY(?::bytea[]) AND r.type = 'message' AND r.version > 1

-- name: free_slots
UPDATE records SET slot = NULL WHERE owner = ? AND id = ANY(?::bytea[])

-- name: set_derived
UPDATE records AS r SET slot = n.slot, kind = n.kind, status = n.status, at = n.at, valid_from = n.valid_from,
    valid_to = n.valid_to, facets = n.facets, learnt = n.learnt, ended = n.ended
FROM unnest(?::bytea[], ?::bytea[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[],
    ?::bigint[]) AS n (id, slot, kind, status, at, valid_from, valid_to, facets, learnt, ended)
WHERE r.owner = ? AND r.id = n.id

-- name: unlink
DELETE FROM links WHERE owner = ? AND record = ANY(?::bytea[]) AND part = ''

-- name: unlink_some
DELETE FROM links AS l USING unnest(:records::bytea[], :parts::bytea[], :sources::bytea[]) AS g (record, part, source)
WHERE l.owner = :owner AND l.record = g.record AND l.part = g.part AND l.source = g.source

-- The record may be another owner's, whose number the table of ids has.
-- name: members
SELECT part, source FROM links
WHERE owner = (SELECT owner FROM ids WHERE id = :record::bytea) AND record = :record::bytea AND part = ANY(:parts::bytea[])
    AND (:among::bytea[] IS NULL OR source = ANY(:among::bytea[])) AND source > :after::bytea
ORDER BY source, part LIMIT :limit::bigint

-- name: note_gone
INSERT INTO gone (owner, shelf, mark, id) SELECT ?::bigint, ?::bigint, ?::bigint, unnest(?::bytea[]) ON CONFLICT DO NOTHING

-- name: put_terms
INSERT INTO terms (owner, record, rule, packed)
SELECT g.owner, g.record, ?::bigint, g.packed FROM unnest(?::bigint[], ?::bigint[], ?::bytea[]) AS g (owner, record, packed)
ON CONFLICT (owner, record) DO UPDATE SET rule = excluded.rule, packed = excluded.packed

-- ── ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: add_entry
INSERT INTO ledger (owner, position, at, actor_kind, actor, operation, request, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: by_operation
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.operation IN (?, ?) ORDER BY l.owner LIMIT 1

-- name: entries_at
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.owner = ? AND l.position = ANY(?::bigint[])

-- name: entries_after
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.owner = ? AND l.position > ? ORDER BY l.position LIMIT ?

-- name: rewrite_entries
UPDATE ledger AS l SET actor = n.actor, body = n.body
FROM unnest(:positions::bigint[], :actors::text[], :bodies::text[]) AS n (position, actor, body)
WHERE l.owner = :owner AND l.position = ANY(:positions::bigint[]) AND l.position = n.position

-- name: positions_touching
SELECT position FROM records WHERE owner = :owner AND id = ANY(:ids::bytea[])
UNION SELECT v.position FROM records AS r JOIN versions AS v ON v.owner = r.owner AND v.record = r.no
WHERE r.owner = :owner AND r.id = ANY(:ids::bytea[])

-- name: version_of
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.id = :id AND r.version = :version
UNION ALL
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, v.version, v.recorded_at, v.body
FROM records AS r JOIN versions AS v ON v.owner = r.owner AND v.record = r.no
JOIN shelves AS s ON s.owner = v.owner AND s.no = v.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.id = :id AND v.version = :version AND v.body <> ''

-- name: versions_in_view
WITH seen AS MATERIALIZED ({view})
SELECT r.type, v.version, v.position, v.recorded_at, v.body, s.audience, s.agent, s.groups
FROM (SELECT owner, array_agg(no) AS shelves FROM seen GROUP BY owner) AS o
CROSS JOIN LATERAL (
    SELECT owner, no, type, version, position, recorded_at, body, shelf
    FROM records WHERE owner = o.owner AND id = :record AND shelf = ANY(o.shelves) OFFSET 0) AS r
CROSS JOIN LATERAL (
    SELECT r.version, r.position, r.recorded_at, r.body, r.shelf
    UNION ALL SELECT version, position, recorded_at, body, shelf FROM versions WHERE owner = r.owner AND record = r.no) AS v
JOIN shelves AS s ON s.owner = r.owner AND s.no = v.shelf
ORDER BY v.version

-- ── passages ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- LIMIT 1 forces one index look-up a row: a free join is quadratic while the server has no statistics of the owner's rows.
-- name: passages_since
SELECT r.id, r.type, r.kind, r.status, r.thread, r.seq, r.at, r.valid_from, r.valid_to, t.packed, v.packed, r.facets,
    r.learnt, r.ended, CASE WHEN r.type = 'item' OR r.type = 'memory' AND position('"data":' IN r.body) > 0
        THEN CASE WHEN length(r.body) <= 8192 THEN r.body ELSE '' END END
FROM records AS r
CROSS JOIN LATERAL (SELECT packed FROM terms WHERE owner = r.owner AND record = r.no LIMIT 1) AS t
LEFT JOIN LATERAL (
    SELECT packed FROM vectors
    WHERE owner = r.owner AND record = r.no AND set = (SELECT no FROM vector_sets WHERE active) LIMIT 1) AS v ON true
WHERE r.owner = ? AND r.shelf = ? AND r.mark > ? AND r.mark > 0 ORDER BY r.mark, r.no

-- name: gone_since
SELECT id FROM gone WHERE owner = ? AND shelf = ? AND mark > ? ORDER BY mark

-- ── aids ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: stale_terms
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM terms AS t JOIN records AS r ON r.owner = t.owner AND r.no = t.record
JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE t.rule < ? AND (SELECT 1 FROM owners AS p JOIN restrictions AS x ON x.digest = p.digest WHERE p.no = r.owner) IS NULL LIMIT ?

-- Moving a record to another shelf locks both shelves first: a record found on this shelf stays there until the commit.
-- name: mark_records
UPDATE records SET mark = ? WHERE owner = ? AND shelf = ? AND id = ANY(?::bytea[]) RETURNING id

-- ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: vector_sets
SELECT no, name, dimension, count, active FROM vector_sets ORDER BY active DESC, no

-- name: active_vector_set
SELECT name FROM vector_sets WHERE active

-- name: vector_set
SELECT no FROM vector_sets WHERE name = ?

-- name: lock_vector_set
SELECT no, name, dimension, count, active FROM vector_sets WHERE name = ? FOR UPDATE

-- name: add_vector_set
INSERT INTO vector_sets (name, dimension, active) VALUES (?, ?, ?) RETURNING no

-- Its cost depends on the number of missing vectors, not on the number of stored ones.
-- name: lacking
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body, r.no
FROM (SELECT owner, record FROM unmade AS u WHERE set = :set AND record > :through
    AND (SELECT 1 FROM owners AS p JOIN restrictions AS x ON x.digest = p.digest WHERE p.no = u.owner) IS NULL
    ORDER BY record LIMIT :limit) AS l
JOIN records AS r ON r.owner = l.owner AND r.no = l.record JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
ORDER BY r.no

-- name: all_unmade
INSERT INTO unmade (set, owner, record)
SELECT :set::bigint, t.owner, t.record FROM terms AS t
WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = :set::bigint)
ON CONFLICT DO NOTHING

-- name: unmade_again
INSERT INTO unmade (set, owner, record)
SELECT s.no, :owner::bigint, g.record FROM unnest(:records::bigint[]) AS g (record), vector_sets AS s ON CONFLICT DO NOTHING

-- name: sets_not_due
SELECT s.name FROM vector_sets AS s
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE owner = 0 AND kind = ? AND key = s.name AND state = 'waiting') ORDER BY s.no

-- name: add_vectors
WITH given AS (
    SELECT * FROM unnest(:owners::bigint[], :records::bigint[], :packed::bytea[]) AS g (owner, record, packed)),
made AS (
    DELETE FROM unmade AS u USING given AS g WHERE u.set = :set::bigint AND u.owner = g.owner AND u.record = g.record)
INSERT INTO vectors (owner, record, set, packed) SELECT owner, record, :set::bigint, packed FROM given ON CONFLICT DO NOTHING

-- name: renew_vectors
UPDATE vectors AS v SET packed = new.packed
FROM unnest(:owners::bigint[], :records::bigint[], :packed::bytea[]) AS new (owner, record, packed)
WHERE v.owner = new.owner AND v.record = new.record AND v.set = :set AND v.packed <> new.packed

-- name: grow_vector_set
UPDATE vector_sets SET count = count + ? WHERE no = ?

-- name: delete_vectors
WITH wanted AS (DELETE FROM unmade WHERE owner = :owner AND record = ANY(:records::bigint[])),
gone AS (DELETE FROM vectors WHERE owner = :owner AND record = ANY(:records::bigint[]) RETURNING set)
UPDATE vector_sets AS s SET count = s.count - g.count
FROM (SELECT set, count(*) AS count FROM gone GROUP BY set) AS g WHERE s.no = g.set

-- name: activate_vector_set
UPDATE vector_sets SET active = true WHERE no = ?

-- name: renew_shelves
UPDATE shelves SET mark = mark + 1, renewed = mark + 1, followed = NULL

-- name: delete_vectors_of_set
WITH wanted AS (DELETE FROM unmade WHERE set = :set) DELETE FROM vectors WHERE set = :set

-- name: delete_vector_set
DELETE FROM vector_sets WHERE no = ?

-- name: delete_upkeep
DELETE FROM jobs WHERE owner = 0 AND kind = ? AND key = ?

-- ── uses ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: put_uses
INSERT INTO uses (owner, record, strength, used_at, count)
SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::double precision[], ?::bigint[], ?::bigint[])
ON CONFLICT (owner, record) DO UPDATE SET strength = excluded.strength, used_at = excluded.used_at, count = excluded.count

-- name: uses
SELECT r.id, u.strength, u.used_at, u.count FROM records AS r JOIN uses AS u ON u.owner = r.owner AND u.record = r.no
WHERE r.owner = ? AND r.id = ANY(?::bytea[]) AND r.shelf = ANY(?::bigint[])

-- name: most_used
SELECT r.id FROM records AS r JOIN uses AS u ON u.owner = r.owner AND u.record = r.no
WHERE r.owner = :owner AND r.shelf = ANY(:shelves::bigint[]) AND r.type = 'memory' AND u.count > 0 AND {conditions}
ORDER BY u.count DESC, coalesce(u.used_at, 0) DESC, r.id LIMIT :limit

-- name: numbers_in_view
SELECT r.id, r.owner, r.no FROM records AS r
WHERE r.owner = ? AND r.id = ANY(?::bytea[]) AND r.shelf = ANY(?::bigint[]) AND r.type = 'memory' ORDER BY r.no

-- ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- If the job is due already, the commit notifies the listening workers.
-- name: put_job
INSERT INTO jobs AS j (id, owner, kind, key, payload, records, state, run_at, first_at)
VALUES (:id, :owner, :kind, :key, :payload, :records, 'waiting', :run_at, :at)
ON CONFLICT (owner, kind, key) DO UPDATE SET
    payload = CASE WHEN :keeps::boolean THEN j.payload ELSE excluded.payload END,
    records = excluded.records,
    generation = j.generation + 1,
    first_at = CASE WHEN j.state = 'waiting' THEN j.first_at ELSE :at END,
    run_at = greatest(CASE WHEN :insists::boolean AND j.state <> 'leased' THEN 0 ELSE j.not_before END,
        CASE WHEN j.state = 'waiting' AND :max_wait::bigint IS NOT NULL
            THEN least(:run_at, j.first_at + :max_wait::bigint) ELSE :run_at END),
    not_before = CASE WHEN :insists::boolean AND j.state <> 'leased' THEN 0 ELSE j.not_before END,
    attempts = CASE WHEN j.state = 'dead' OR (:insists::boolean AND j.state = 'waiting') THEN 0 ELSE j.attempts END,
    postponed = CASE WHEN j.state = 'dead' OR (:insists::boolean AND j.state = 'waiting') THEN 0 ELSE j.postponed END,
    error = CASE WHEN :insists::boolean AND j.state <> 'leased' THEN '' ELSE j.error END,
    state = CASE WHEN j.state = 'dead' THEN 'waiting' ELSE j.state END
RETURNING CASE WHEN j.run_at <= :at THEN pg_notify(left('memoranda_' || current_schema(), 63), '') END

-- The server's clock if the caller's is near it; otherwise the caller's, which is then a clock of a test or a program.
-- name: lease_clock
SELECT CASE WHEN abs(:at::bigint - here.now) < :near::bigint THEN here.now ELSE :at::bigint END
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) AS here

-- Reads only the longest due job of each kind. The comparison with NULL makes the server check the owner's leases while
-- it walks along the index.
-- name: due_job
SELECT k.kind FROM unnest(:kinds::text[]) AS k (kind) CROSS JOIN LATERAL (
    SELECT j.due, j.id FROM jobs AS j WHERE j.kind = k.kind AND j.due <= :now AND (:only::bytea IS NULL OR j.id = :only)
        AND (:tenant::text IS NULL OR j.owner = 0 OR (SELECT 1 FROM owners AS w WHERE w.no = j.owner AND w.tenant = :tenant) = 1)
    AND (SELECT 1 FROM owners AS p JOIN restrictions AS x ON x.digest = p.digest WHERE p.no = j.owner) IS NULL
        AND (SELECT 1 FROM jobs AS o WHERE o.owner = j.owner AND o.owner <> 0 AND o.state = 'leased' AND o.leased_until > :now LIMIT 1) IS NULL
    ORDER BY j.due, j.id LIMIT 1
) AS first
ORDER BY first.due, first.id LIMIT 1

-- Skips jobs that another worker is leasing.
-- name: take_due_job
SELECT j.id, j.owner FROM jobs AS j WHERE j.kind = :kind AND j.due <= :now AND j.owner <> ALL(:taken::bigint[])
    AND (:only::bytea IS NULL OR j.id = :only)
    AND (:tenant::text IS NULL OR j.owner = 0 OR (SELECT 1 FROM owners AS w WHERE w.no = j.owner AND w.tenant = :tenant) = 1)
    AND (SELECT 1 FROM owners AS p JOIN restrictions AS x ON x.digest = p.digest WHERE p.no = j.owner) IS NULL
    AND (SELECT 1 FROM jobs AS o WHERE o.owner = j.owner AND o.owner <> 0 AND o.state = 'leased' AND o.leased_until > :now LIMIT 1) IS NULL
ORDER BY j.due, j.id LIMIT 1 FOR UPDATE SKIP LOCKED

-- Only one job of an owner is leased at a time: this lock is held until the lease is visible to others.
-- name: lock_owner_for_lease
SELECT pg_try_advisory_xact_lock(hashtext('lease ' || current_schema()), hashint8(?))

-- name: owner_is_busy
SELECT 1 FROM jobs WHERE owner = ? AND owner <> 0 AND id <> ? AND state = 'leased' AND leased_until > ?

-- Notifies the listening workers of a job that became due.
-- name: save_job
UPDATE jobs SET state = :state, run_at = :run_at, attempts = :attempts, postponed = :postponed, not_before = :not_before,
    leased_generation = :leased_generation, worker = :worker, leased_until = :leased_until, error = :error
WHERE id = :id
RETURNING CASE WHEN :wakes::boolean THEN pg_notify(left('memoranda_' || current_schema(), 63), '') END

-- Finds a transaction that has held the book's lock for longer than a usual write.
-- name: book_is_held
SELECT 1 FROM pg_locks AS l CROSS JOIN LATERAL pg_stat_get_activity(l.pid) AS a
WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid = hashtext('memoranda book')::oid AND l.objid = hashtext(current_schema())::oid
    AND a.xact_start < clock_timestamp() - make_interval(secs => ?) LIMIT 1

-- name: is_put
SELECT 1 FROM jobs
WHERE owner = 0 AND kind = ? AND key = ? AND (state = 'waiting' OR (state = 'leased' AND generation > leased_generation))

-- name: keep_with_job
INSERT INTO kept (job, records, payload) VALUES (?, ?, ?)
ON CONFLICT (job) DO UPDATE SET records = excluded.records, payload = excluded.payload

-- name: kept_with_job
SELECT payload FROM kept WHERE job = ?

-- name: delete_kept
DELETE FROM kept WHERE job = ANY(?::bytea[])

-- name: one_job
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error,
    o.tenant, o.kind, o.id, o.era
FROM jobs AS j LEFT JOIN owners AS o ON o.no = j.owner WHERE j.id = ? FOR UPDATE OF j

-- name: job_of
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error,
    o.tenant, o.kind, o.id, o.era
FROM owners AS o JOIN jobs AS j ON j.owner = o.no
WHERE o.tenant = :tenant AND o.kind = :owner_kind AND o.id = :owner AND o.erased_at IS NULL AND j.kind = :kind AND j.key = :key

-- name: jobs_in_state
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error,
    o.tenant, o.kind, o.id, o.era
FROM jobs AS j LEFT JOIN owners AS o ON o.no = j.owner WHERE (:state::text IS NULL OR j.state = :state::text)
    AND (:owner::text IS NULL OR (o.tenant = :tenant AND o.kind = :owner_kind AND o.id = :owner AND o.erased_at IS NULL))
ORDER BY j.run_at, j.id LIMIT :limit

-- name: jobs_about
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error, k.records
FROM jobs AS j LEFT JOIN kept AS k ON k.job = j.id
WHERE EXISTS (SELECT 1 FROM unnest(j.records || k.records) AS r (id) WHERE r.id IN (SELECT unnest(?::bytea[])))

-- name: delete_jobs
DELETE FROM jobs WHERE id = ANY(?::bytea[])

-- The error of a failed job may quote its records or its payload.
-- name: silence_jobs
UPDATE jobs SET error = '' WHERE id = ANY(?::bytea[]) AND error <> ''

-- ── spending ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: add_spent
INSERT INTO spent AS s (owner, tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price)
SELECT ?::bigint, * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
ON CONFLICT (tenant, day, owner, digest) DO UPDATE SET
    calls = s.calls + excluded.calls,
    answers = s.answers + excluded.answers,
    tokens_in = s.tokens_in + excluded.tokens_in,
    tokens_cached = s.tokens_cached + excluded.tokens_cached,
    tokens_out = s.tokens_out + excluded.tokens_out,
    unpriced = s.unpriced + excluded.unpriced,
    price = s.price + excluded.price

-- name: spent
SELECT o.kind, o.id, s.tenant, s.day, s.agent, s.task, s.model,
    s.calls, s.answers, s.tokens_in, s.tokens_cached, s.tokens_out, s.unpriced, s.price
FROM spent AS s LEFT JOIN owners AS o ON o.no = s.owner
WHERE s.tenant = :tenant AND s.day >= :since AND s.day < :until
  AND (:owner::bigint IS NULL OR s.owner = :owner::bigint) AND (:agent::text IS NULL OR s.agent = :agent::text)

-- name: spent_in_all
SELECT sum(calls), sum(answers), sum(tokens_in), sum(tokens_cached), sum(tokens_out), sum(unpriced), sum(price)
FROM spent
WHERE tenant = :tenant AND day >= :since AND day < :until
  AND (:owner::bigint IS NULL OR owner = :owner::bigint) AND (:agent::text IS NULL OR agent = :agent::text)

-- name: spent_of_owner
SELECT tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price
FROM spent WHERE owner = ? ORDER BY tenant, day, agent, task, model

-- name: delete_spent_of_owner
DELETE FROM spent WHERE owner = ?

-- ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: all_of_owner
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body, r.position,
    r.thread, r.seq, r.status
FROM records AS r JOIN shelves AS s ON s.owner = r.owner AND s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = ? ORDER BY r.no

-- The row of an emptied version stays, so that the entry that wrote it is still found.
-- name: blank_versions
UPDATE versions SET body = '', hash = ''
WHERE owner = :owner AND record = ANY(ARRAY(SELECT no FROM records WHERE owner = :owner AND id = ANY(:ids::bytea[]))) AND body <> ''

-- name: count_filled
SELECT count(*) FROM versions
WHERE owner = :owner AND record = ANY(ARRAY(SELECT no FROM records WHERE owner = :owner AND id = ANY(:ids::bytea[]))) AND body <> ''

-- name: belongings
WITH own AS (SELECT ARRAY(SELECT no FROM records WHERE owner = :owner AND id = ANY(:ids::bytea[])) AS numbers)
SELECT
    (SELECT count(*) FROM versions WHERE owner = :owner AND record = ANY((SELECT numbers FROM own)::bigint[])),
    (SELECT count(*) FROM terms WHERE owner = :owner AND record = ANY((SELECT numbers FROM own)::bigint[])),
    (SELECT count(*) FROM uses WHERE owner = :owner AND record = ANY((SELECT numbers FROM own)::bigint[])),
    (SELECT count(*) FROM vectors WHERE owner = :owner AND record = ANY((SELECT numbers FROM own)::bigint[])),
    (SELECT count(*) FROM links WHERE owner = :owner AND record = ANY(:ids::bytea[]))

-- name: own_jobs
SELECT id FROM jobs WHERE owner = ?

-- name: bury_all
INSERT INTO tombstones (digest, at) SELECT unnest(?::bytea[]), ?::bigint ON CONFLICT DO NOTHING

-- name: buried_among
SELECT digest FROM tombstones WHERE digest = ANY(?::bytea[])

-- name: aged_entries
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner
WHERE l.owner = ? AND position('"aged":' IN l.body) > 0 ORDER BY l.position

-- name: end_era
UPDATE owners SET tenant = NULL, kind = NULL, id = NULL, erased_at = ?, held = 0, items = 0 WHERE no = ?

-- name: ended_eras
SELECT era FROM owners WHERE era = ANY(?::bytea[]) AND erased_at IS NOT NULL

-- name: delete_shelf_groups_of_owner
DELETE FROM shelf_groups WHERE owner = ?

-- name: delete_gone_of_owner
DELETE FROM gone WHERE owner = ?

-- name: delete_shelves_of_owner
DELETE FROM shelves WHERE owner = ?

-- name: delete_jobs_of_owner
DELETE FROM jobs WHERE owner = ?

-- name: server_facts
SELECT current_setting('server_version'),
    current_setting('server_version_num')::integer,
    current_setting('fsync') = 'on',
    current_setting('full_page_writes') = 'on',
    (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user),
    pg_is_in_recovery(),
    current_setting('max_connections')::integer,
    (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend'),
    (SELECT extversion FROM pg_extension WHERE extname = 'vector')

-- ── moving ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: properties
SELECT name, value FROM book WHERE name IN ('secret', 'departure', 'arrival', 'made_by', 'backup', 'who_forms')

-- name: set_property
INSERT INTO book (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: last_erasure
SELECT coalesce((SELECT value FROM book WHERE name = 'erased'), ''::bytea)

-- name: needs_scrub
SELECT e.value IS NOT NULL AND e.value IS DISTINCT FROM s.value
FROM (SELECT 1) AS one LEFT JOIN book AS e ON e.name = 'erased' LEFT JOIN book AS s ON s.name = 'scrubbed'

-- name: remove_property
DELETE FROM book WHERE name = ?

-- name: tables_of_content
SELECT string_agg(quote_ident(c.relname), ', ') FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('book', 'formats')

-- name: eras_after
SELECT era FROM owners WHERE era > ? ORDER BY era LIMIT ?

-- name: era
SELECT no, tenant, kind, id, digest, position, erased_at FROM owners WHERE era = ?

-- name: shelves_of_era
SELECT no, audience, agent, groups, mark, renewed FROM shelves WHERE owner = ? ORDER BY audience, agent, groups

-- name: jobs_of_era
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error, k.records, k.payload
FROM jobs AS j LEFT JOIN kept AS k ON k.job = j.id
WHERE j.owner = ? AND (j.owner <> 0 OR j.kind <> ALL(?::text[])) ORDER BY j.id

-- name: record_pieces
SELECT r.no, r.id, r.type, r.version, r.recorded_at, r.slot, r.thread, r.seq, r.kind, r.status, r.at, r.valid_from, r.valid_to,
    r.facets, r.body, r.hash, s.audience, s.agent, s.groups, r.position, r.learnt, r.ended, r.run, r.mark,
    t.rule, t.packed, u.strength, u.used_at, u.count
FROM (
    SELECT * FROM records WHERE owner = ? AND id > ? ORDER BY id LIMIT ?) AS r
LEFT JOIN LATERAL (
    SELECT audience, agent, groups FROM shelves WHERE owner = r.owner AND no = r.shelf LIMIT 1) AS s ON true
LEFT JOIN LATERAL (SELECT rule, packed FROM terms WHERE owner = r.owner AND record = r.no LIMIT 1) AS t ON true
LEFT JOIN LATERAL (
    SELECT strength, used_at, count FROM uses WHERE owner = r.owner AND record = r.no LIMIT 1) AS u ON true
ORDER BY r.id

-- name: version_pieces
SELECT v.record, v.version, v.position, v.recorded_at, s.audience, s.agent, s.groups, v.hash, v.body
FROM versions AS v LEFT JOIN shelves AS s ON s.owner = v.owner AND s.no = v.shelf
WHERE v.owner = ? AND v.record = ANY(?::bigint[]) ORDER BY v.record, v.version

-- name: link_pieces
SELECT record, part, source FROM links WHERE owner = ? AND record = ANY(?::bytea[]) ORDER BY record, part, source

-- name: vector_pieces
SELECT v.record, s.name, v.packed FROM vectors AS v JOIN vector_sets AS s ON s.no = v.set
WHERE v.owner = ? AND v.record = ANY(?::bigint[]) ORDER BY v.record, s.name

-- name: entry_pieces
SELECT position, at, actor_kind, actor, operation, request, body FROM ledger
WHERE owner = ? AND position > ? ORDER BY position LIMIT ?

-- name: stone_pieces
SELECT digest, at FROM tombstones WHERE digest > ? ORDER BY digest LIMIT ?

-- name: lay_era
INSERT INTO owners (tenant, kind, id, era, digest, position, erased_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (era) DO NOTHING RETURNING no

-- name: set_shelf
UPDATE shelves SET mark = ?, renewed = ? WHERE owner = ? AND no = ?

-- name: lay_job
INSERT INTO jobs (owner, id, kind, key, payload, records, state, run_at, first_at, attempts, postponed, not_before, generation,
    leased_generation, worker, leased_until, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: lay_kept
INSERT INTO kept (job, records, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: lay_spent
INSERT INTO spent (owner, tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: take_away_records
DELETE FROM records WHERE owner = ? AND id = ANY(?::bytea[])

-- name: take_away_ids
DELETE FROM ids WHERE id = ANY(?::bytea[])

-- name: take_away_links
DELETE FROM links WHERE owner = ? AND record = ANY(?::bytea[])

-- name: take_away_versions
DELETE FROM versions WHERE owner = ? AND record = ANY(?::bigint[])

-- name: take_away_terms
DELETE FROM terms WHERE owner = ? AND record = ANY(?::bigint[])

-- name: take_away_uses
DELETE FROM uses WHERE owner = ? AND record = ANY(?::bigint[])

-- name: claim_ids
INSERT INTO ids (id, owner) SELECT unnest(?::bytea[]), ?::bigint ON CONFLICT DO NOTHING RETURNING id

-- name: lay_records
INSERT INTO records (owner, id, type, version, recorded_at, slot, thread, seq, kind, status, at, valid_from, valid_to,
    facets, body, hash, shelf, position, learnt, ended, run, mark)
SELECT ?::bigint, n.*
FROM unnest(?::bytea[], ?::text[], ?::bigint[], ?::bigint[], ?::bytea[], ?::bytea[], ?::bigint[], ?::text[],
    ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[],
    ?::bigint[], ?::bytea[], ?::bigint[]) AS n
RETURNING id, no

-- name: lay_versions
INSERT INTO versions (owner, record, version, shelf, position, recorded_at, ended_at, body, hash)
SELECT ?::bigint, n.* FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
    ?::bytea[]) AS n

-- name: lay_links
INSERT INTO links (owner, record, part, source) SELECT ?::bigint, n.* FROM unnest(?::bytea[], ?::bytea[], ?::bytea[]) AS n

-- name: lay_terms
INSERT INTO terms (owner, record, rule, packed) SELECT ?::bigint, n.* FROM unnest(?::bigint[], ?::bigint[], ?::bytea[]) AS n

-- name: lay_uses
INSERT INTO uses (owner, record, strength, used_at, count)
SELECT ?::bigint, n.* FROM unnest(?::bigint[], ?::double precision[], ?::bigint[], ?::bigint[]) AS n

-- name: lay_vectors
INSERT INTO vectors (owner, record, set, packed)
SELECT ?::bigint, n.* FROM unnest(?::bigint[], ?::bigint[], ?::bytea[]) AS n

-- name: lay_unmade
INSERT INTO unmade (set, owner, record)
SELECT s.no, t.owner, t.record FROM terms AS t, vector_sets AS s
WHERE t.owner = ? AND t.record = ANY(?::bigint[])
    AND NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.owner = t.owner AND v.record = t.record AND v.set = s.no)

-- name: lay_entries
INSERT INTO ledger (owner, position, at, actor_kind, actor, operation, request, body)
SELECT ?::bigint, n.* FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bytea[], ?::bytea[], ?::text[]) AS n
ON CONFLICT (owner, position) DO NOTHING

-- name: lay_stones
INSERT INTO tombstones (digest, at) SELECT * FROM unnest(?::bytea[], ?::bigint[]) ON CONFLICT (digest) DO NOTHING

-- name: lay_vector_set
INSERT INTO vector_sets (name, dimension, active) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING

-- What searches large shelves is made anew: workers find that it is behind.
-- name: recount_shelves
UPDATE shelves AS s SET followed = NULL, passages = (
    SELECT count(*) FROM records AS r WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > 0)

-- name: recount_shelves_of_owner
UPDATE shelves AS s SET followed = NULL, passages = (
    SELECT count(*) FROM records AS r WHERE r.owner = s.owner AND r.shelf = s.no AND r.mark > 0)
WHERE s.owner = ?

-- name: recount_held_of_all
UPDATE owners SET held = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'memory' AND status = 'active'),
    items = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'item' AND status IS NULL)

-- name: recount_vector_sets
UPDATE vector_sets SET count = (SELECT count(*) FROM vectors WHERE set = no)

-- ── beside the owners' records ───────────────────────────────────────────────────────────────────────────────────

-- name: restrictions
SELECT digest, at, mode FROM restrictions ORDER BY digest

-- name: restrictions_of
SELECT digest, at, mode FROM restrictions WHERE digest = ANY(?::bytea[]) ORDER BY digest

-- name: put_restrictions
INSERT INTO restrictions (digest, at, mode) SELECT * FROM unnest(?::bytea[], ?::bigint[], ?::text[])
ON CONFLICT (digest) DO UPDATE SET at = excluded.at, mode = excluded.mode

-- name: lift_restriction
DELETE FROM restrictions WHERE digest = ?

-- name: key_uses
SELECT id, at FROM key_uses ORDER BY id

-- name: key_uses_of
SELECT id, at FROM key_uses WHERE id = ANY(?::bytea[]) ORDER BY id

-- name: put_key_uses
INSERT INTO key_uses AS k (id, at) SELECT * FROM unnest(?::bytea[], ?::bigint[])
ON CONFLICT (id) DO UPDATE SET at = greatest(k.at, excluded.at)

-- name: reads_of_tenant
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit
WHERE (at, id) > (:at::bigint, :id::bytea) AND tenant = :tenant ORDER BY at, id LIMIT :limit

-- name: reads_of_owner
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit
WHERE owner = :owner AND (at, id) > (:at::bigint, :id::bytea) AND tenant = :tenant ORDER BY at, id LIMIT :limit

-- name: erasures_of
SELECT erased_at FROM owners WHERE digest = ? AND erased_at IS NOT NULL ORDER BY erased_at

-- name: read_pieces
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit
WHERE (at, id) > (?::bigint, ?::bytea) ORDER BY at, id LIMIT ?

-- name: put_reads
INSERT INTO read_audit (at, id, tenant, owner, principal, verb, surface)
SELECT * FROM unnest(?::bigint[], ?::bytea[], ?::text[], ?::bytea[], ?::text[], ?::text[], ?::text[]) ON CONFLICT DO NOTHING

-- name: drop_reads
DELETE FROM read_audit WHERE at < ? AND tenant = ? AND verb NOT IN ('restrict', 'unrestrict')
