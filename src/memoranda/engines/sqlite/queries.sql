-- Every statement of the SQLite engine, by name. {ids}, {shelves} and {slots} stand for lists of placeholders.

-- ── owners and shelves ───────────────────────────────────────────────────────────────────────────────────────────

-- name: owner
SELECT no, era, position, held, items FROM owners WHERE tenant = ? AND kind = ? AND id = ? AND erased_at IS NULL

-- name: add_owner
INSERT INTO owners (tenant, kind, id, era, digest) VALUES (?, ?, ?, ?, ?) RETURNING no

-- name: owners_of_tenant
SELECT tenant, kind, id FROM owners WHERE tenant = ? AND erased_at IS NULL AND position > 0 ORDER BY kind, id

-- name: move_owner
UPDATE owners SET position = ?, held = held + ?, items = items + ? WHERE no = ?

-- name: find_era
SELECT no, tenant, kind, id, position, held, items, erased_at FROM owners WHERE era = ?

-- name: move_held
UPDATE owners SET held = held + ?, items = items + ? WHERE no = ?

-- name: recount_held
UPDATE owners SET held = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'memory' AND status = 'active'),
    items = (SELECT count(*) FROM shelves AS s JOIN records AS r ON r.shelf = s.no AND r.type = 'item'
        WHERE s.owner = owners.no AND r.status IS NULL)
WHERE no = ?

-- The one place where a view becomes shelves: every read goes through it.
-- name: visible_shelves
SELECT s.no, s.audience, s.agent, s.groups, s.mark, s.renewed
FROM owners AS o JOIN shelves AS s ON s.owner = o.no
WHERE o.tenant = :tenant
  AND o.kind = :kind
  AND o.id = :id
  AND o.erased_at IS NULL
  AND (:whole
    OR s.audience = 'global'
    OR (s.audience = 'self' AND s.agent = :agent)
    OR (s.audience = 'group' AND EXISTS (
        SELECT 1 FROM shelf_groups AS g WHERE g.shelf = s.no AND g.name IN (SELECT value FROM json_each(:groups)))))
  AND (:whole OR NOT EXISTS (SELECT 1 FROM restrictions AS x WHERE x.digest = o.digest))
ORDER BY s.no

-- name: shelf
SELECT no, mark FROM shelves WHERE owner = ? AND audience = ? AND agent = ? AND groups = ?

-- name: add_shelf
INSERT INTO shelves (owner, audience, agent, groups) VALUES (?, ?, ?, ?) RETURNING no, mark

-- name: add_shelf_group
INSERT INTO shelf_groups (shelf, name) VALUES (?, ?)

-- name: move_mark
UPDATE shelves SET mark = mark + 1 WHERE no = ? RETURNING mark

-- name: set_mark
UPDATE shelves SET mark = ? WHERE no = ?

-- ── reading records ──────────────────────────────────────────────────────────────────────────────────────────────

-- name: load_own
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM records AS r JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = ? AND r.id IN ({ids})

-- name: holders
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body, r.slot
FROM records AS r JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = ? AND r.slot IN ({slots})

-- name: resting_on
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM (SELECT DISTINCT record FROM links WHERE source IN ({ids})) AS l
JOIN records AS r ON r.id = l.record JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner

-- name: other_holders
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM owners AS mine
JOIN owners AS o ON o.tenant = mine.tenant AND o.kind IN ('tenant', 'agent') AND o.erased_at IS NULL
JOIN shelves AS s ON s.owner = o.no
JOIN records AS r ON r.shelf = s.no AND r.type IN ('key', 'experience')
WHERE mine.no = ?

-- name: get
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body, r.status, r.position
FROM records AS r
WHERE r.id IN ({ids}) AND +r.shelf IN ({shelves})

-- name: scan_up
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND r.id > :cursor AND {conditions}
ORDER BY r.id LIMIT :limit

-- name: scan_down
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND r.id < :cursor AND {conditions}
ORDER BY r.id DESC LIMIT :limit

-- The records that cite something are few: they are found by their ids, never by looking through the shelf.
-- name: scan_citing_up
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND +r.id > :cursor AND {conditions}
ORDER BY r.id LIMIT :limit

-- name: scan_citing_down
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND +r.id < :cursor AND {conditions}
ORDER BY r.id DESC LIMIT :limit

-- What waits is found by its jobs. A thread's seq is the last place given out: messages after formed_through are not formed.
-- name: scan_unformed_up
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM shelves AS s CROSS JOIN jobs AS j CROSS JOIN records AS t CROSS JOIN records AS r
WHERE s.no = :shelf AND j.owner = s.owner AND j.kind = 'form' AND t.id = id_of(json_extract(j.records, '$[0]'))
  AND r.thread = t.id AND r.seq > coalesce(json_extract(t.body, '$.formed_through'), 0)
  AND +r.shelf = :shelf AND +r.type = :type AND +r.id > :cursor AND {conditions}
ORDER BY r.id LIMIT :limit

-- name: scan_unformed_down
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM shelves AS s CROSS JOIN jobs AS j CROSS JOIN records AS t CROSS JOIN records AS r
WHERE s.no = :shelf AND j.owner = s.owner AND j.kind = 'form' AND t.id = id_of(json_extract(j.records, '$[0]'))
  AND r.thread = t.id AND r.seq > coalesce(json_extract(t.body, '$.formed_through'), 0)
  AND +r.shelf = :shelf AND +r.type = :type AND +r.id < :cursor AND {conditions}
ORDER BY r.id DESC LIMIT :limit

-- name: scan_thread_up
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.thread = :thread AND +r.shelf = :shelf AND +r.type = :type AND r.id > :cursor AND {conditions}
ORDER BY r.id LIMIT :limit

-- name: scan_thread_down
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.thread = :thread AND +r.shelf = :shelf AND +r.type = :type AND r.id < :cursor AND {conditions}
ORDER BY r.id DESC LIMIT :limit

-- name: places_up
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.thread = :thread AND r.seq > :place AND r.type = 'message'
  AND r.shelf IN (SELECT value FROM json_each(:shelves)) AND {conditions}
ORDER BY r.seq LIMIT :limit

-- name: places_down
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body
FROM records AS r
WHERE r.thread = :thread AND r.seq < :place AND r.type = 'message'
  AND r.shelf IN (SELECT value FROM json_each(:shelves)) AND {conditions}
ORDER BY r.seq DESC LIMIT :limit

-- name: count
SELECT count(*) FROM records AS r WHERE r.shelf = :shelf AND r.type = :type AND {conditions}

-- name: newest_passages
SELECT r.type, r.id, r.shelf, r.version, r.recorded_at, r.body, r.at
FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND r.mark > 0 AND {conditions}
ORDER BY r.at DESC, r.id DESC LIMIT :limit

-- name: count_kinds
SELECT r.kind, count(*) FROM records AS r
WHERE r.shelf = :shelf AND r.type = :type AND r.mark > 0 AND {conditions} GROUP BY r.kind

-- name: count_thread
SELECT count(*) FROM records AS r
WHERE r.thread = :thread AND +r.shelf = :shelf AND +r.type = :type AND {conditions}

-- name: end_of
SELECT s.audience, s.agent, s.groups, r.kind, r.seq, s.no, s.mark, r.valid_to
FROM records AS r JOIN shelves AS s ON s.no = r.shelf
WHERE r.id = ? AND r.owner = ? AND r.type = 'thread' AND r.status <> 'withdrawn'

-- name: place_taken
SELECT 1 FROM records WHERE thread = ? AND seq = ? AND type = 'message'

-- name: last_user_turn
SELECT seq FROM records WHERE thread = ? AND +owner = ? AND type = 'message' AND kind = 'user'
ORDER BY seq DESC LIMIT 1

-- name: count_expired_items
SELECT count(*) FROM shelves AS s JOIN records AS r ON r.shelf = s.no AND r.type = 'item'
WHERE s.owner = ? AND r.status IS NULL AND r.valid_to <= ?

-- name: writers_of_expired
SELECT json_extract(facets, '$[1]') FROM records
WHERE owner = :owner AND type = 'memory' AND status = 'active' AND valid_to <= :at AND json_extract(facets, '$[7]') <= :at

-- name: count_archived
SELECT count(*) FROM shelves AS s JOIN records AS r INDEXED BY memories_archived ON r.shelf = s.no
WHERE s.owner = ? AND r.type = 'memory' AND r.status = 'archived'

-- name: count_own
SELECT count(*) FROM records
WHERE owner = :owner AND type = 'memory' AND status = 'active' AND json_extract(nullif(facets, ''), '$[1]') IS :agent

-- name: own_memories
SELECT r.id, r.recorded_at, r.at, json_extract(r.facets, '$[2]'), json_extract(r.facets, '$[4]'),
    json_extract(r.facets, '$[6]') IS NOT NULL, r.thread IS NOT NULL, u.strength, u.used_at, u.count
FROM records AS r LEFT JOIN uses AS u ON u.record = r.no
WHERE r.owner = :owner AND r.type = 'memory' AND r.status = 'active' AND json_extract(nullif(r.facets, ''), '$[1]') IS :agent

-- name: oldest_own
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM records AS r JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.type = 'memory' AND r.status = 'active'
  AND json_extract(r.body, '$.agent') IS :agent AND coalesce(json_extract(r.body, '$.pinned'), 0) = 0
ORDER BY r.recorded_at, r.id LIMIT :limit

-- name: count_run
SELECT count(*) FROM records WHERE owner = ? AND run = ?

-- name: in_thread
SELECT id FROM records WHERE thread = ? AND owner = ? AND type <> 'thread'

-- ── writing records ──────────────────────────────────────────────────────────────────────────────────────────────

-- name: insert_record
INSERT INTO records (id, type, version, recorded_at, slot, thread, seq, kind, status, at, valid_from, valid_to, facets, body,
    hash, learnt, ended, owner, shelf, position, run, mark)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: keep_version
INSERT INTO versions (record, version, shelf, position, recorded_at, ended_at, body, hash)
SELECT no, version, shelf, position, recorded_at, ?, body, hash FROM records WHERE id = ?

-- name: update_record
UPDATE records SET version = ?, recorded_at = ?, slot = ?, thread = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ?,
    facets = ?, body = ?, hash = ?, ended = CASE WHEN ? THEN NULL ELSE coalesce(ended, ?) END, shelf = ?, position = ?, mark = ?
WHERE id = ?

-- name: where_is
SELECT no, shelf, version FROM records WHERE id = ?

-- name: where_are
SELECT id, no, shelf FROM records WHERE id IN ({ids})

-- name: where_passage_is
SELECT no, shelf FROM records WHERE id = ? AND mark > 0

-- name: reworded_among
SELECT id, version FROM records WHERE id IN ({ids}) AND type = 'message' AND version > 1

-- name: free_slot
UPDATE records SET slot = NULL WHERE id = ?

-- name: set_tail
UPDATE records SET seq = max(seq, ?) WHERE id = ?

-- name: set_derived
UPDATE records SET slot = ?, kind = ?, status = ?, at = ?, valid_from = ?, valid_to = ?, facets = ?, learnt = ?, ended = ?
WHERE id = ?

-- name: unlink
DELETE FROM links WHERE record = ? AND part = x''

-- name: link
INSERT OR IGNORE INTO links (record, part, source) VALUES (?, ?, ?)

-- name: unlink_one
DELETE FROM links WHERE record = ? AND part = ? AND source = ?

-- The numbers of the fixed values come first in the text, so that those of the list follow them.
-- name: members
SELECT part, source FROM links WHERE ?3 > 0 AND record = ?1 AND source > ?2 AND part IN ({ids}) ORDER BY source LIMIT ?3

-- name: members_among
SELECT part, source FROM links WHERE record = ? AND part <> x'' AND source IN ({ids})

-- name: note_gone
INSERT OR REPLACE INTO gone (shelf, mark, id) VALUES (?, ?, ?)

-- name: put_terms
INSERT INTO terms (record, rule, packed) VALUES (?, ?, ?)
ON CONFLICT (record) DO UPDATE SET rule = excluded.rule, packed = excluded.packed

-- ── ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: add_entry
INSERT INTO ledger (owner, position, at, actor_kind, actor, operation, request, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: by_operation
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.operation IN (?, ?)

-- name: entry_at
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.owner = ? AND l.position = ?

-- name: entries_after
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.owner = ? AND l.position > ? ORDER BY l.position LIMIT ?

-- name: rewrite_entry
UPDATE ledger SET actor = ?, body = ? WHERE owner = ? AND position = ?

-- name: positions_touching
SELECT position FROM records WHERE owner = :owner AND id = :id
UNION SELECT v.position FROM versions AS v JOIN records AS r ON r.no = v.record WHERE r.owner = :owner AND r.id = :id

-- name: version_of
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM records AS r JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.id = :id AND r.version = :version
UNION ALL
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, v.version, v.recorded_at, v.body
FROM records AS r JOIN versions AS v ON v.record = r.no JOIN shelves AS s ON s.no = v.shelf
JOIN owners AS o ON o.no = r.owner
WHERE r.owner = :owner AND r.id = :id AND v.version = :version AND v.body <> ''

-- name: versions_of
SELECT v.version, v.position, v.recorded_at, v.body, s.audience, s.agent, s.groups
FROM records AS r JOIN versions AS v ON v.record = r.no JOIN shelves AS s ON s.no = v.shelf
WHERE r.id = ? ORDER BY v.version

-- ── passages ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: passages_since
SELECT r.id, r.type, r.kind, r.status, r.thread, r.seq, r.at, r.valid_from, r.valid_to, t.packed, v.packed, r.facets,
    r.learnt, r.ended, CASE WHEN r.type = 'item' OR r.type = 'memory' AND instr(r.body, '"data":') > 0
        THEN CASE WHEN length(r.body) <= 8192 THEN r.body ELSE '' END END
FROM records AS r JOIN terms AS t ON t.record = r.no
LEFT JOIN vectors AS v ON v.place = ((SELECT no FROM vector_sets WHERE active = 1) << 40) + r.no
WHERE r.shelf = ? AND r.mark > ? AND r.mark > 0 ORDER BY r.mark

-- name: gone_since
SELECT id FROM gone WHERE shelf = ? AND mark > ? ORDER BY mark

-- ── aids ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: stale_terms
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body
FROM terms AS t JOIN records AS r ON r.no = t.record JOIN shelves AS s ON s.no = r.shelf
JOIN owners AS o ON o.no = r.owner
WHERE t.rule < ? AND NOT EXISTS (SELECT 1 FROM owners AS p CROSS JOIN restrictions AS x WHERE p.no = r.owner AND x.digest = p.digest) LIMIT ?

-- name: mark_record
UPDATE records SET mark = ? WHERE no = ?

-- ── vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: vector_sets
SELECT no, name, dimension, count, active FROM vector_sets ORDER BY active DESC, no

-- name: active_vector_set
SELECT name FROM vector_sets WHERE active = 1

-- name: vector_set
SELECT no, name, dimension, count, active, through FROM vector_sets WHERE name = ?

-- name: add_vector_set
INSERT INTO vector_sets (name, dimension, active) VALUES (?, ?, ?)

-- name: lacking
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body, r.no
FROM (
    SELECT record FROM terms AS t
    WHERE t.record > :through AND NOT EXISTS (SELECT 1 FROM vectors WHERE place = (:set << 40) + t.record)
        AND NOT EXISTS (
            SELECT 1 FROM records AS q CROSS JOIN owners AS p CROSS JOIN restrictions AS x
            WHERE q.no = t.record AND p.no = q.owner AND x.digest = p.digest)
    ORDER BY t.record LIMIT :limit) AS l
JOIN records AS r ON r.no = l.record JOIN shelves AS s ON s.no = r.shelf JOIN owners AS o ON o.no = r.owner
ORDER BY r.no

-- name: first_lacking
SELECT min(record) - 1 FROM (
    SELECT record FROM terms AS t
    WHERE t.record > :through AND NOT EXISTS (SELECT 1 FROM vectors WHERE place = (:set << 40) + t.record)
    ORDER BY t.record LIMIT 1)

-- name: last_passage
SELECT max(record) FROM terms

-- name: add_vector
INSERT INTO vectors (place, packed) VALUES ((? << 40) + ?, ?) ON CONFLICT DO NOTHING

-- name: renew_vector
UPDATE vectors SET packed = ? WHERE place = (? << 40) + ?

-- name: grow_vector_set
UPDATE vector_sets SET count = count + ?, through = ? WHERE no = ?

-- name: delete_vectors
DELETE FROM vectors WHERE place IN ({ids})

-- name: shrink_vector_set
UPDATE vector_sets SET count = count - ? WHERE no = ?

-- The passages before the first one that lost its vector still have theirs.
-- name: lose_vectors
UPDATE vector_sets SET count = count - ?, through = min(through, ?) WHERE no = ?

-- name: activate_vector_set
UPDATE vector_sets SET active = (no = ?)

-- name: renew_shelves
UPDATE shelves SET mark = mark + 1, renewed = mark + 1

-- name: delete_vectors_of_set
DELETE FROM vectors WHERE place > (:set << 40) AND place < (:set + 1) << 40

-- name: delete_vector_set
DELETE FROM vector_sets WHERE no = ?

-- name: delete_upkeep
DELETE FROM jobs WHERE owner = 0 AND kind = ? AND key = ?

-- name: sets_not_due
SELECT name FROM vector_sets AS s
WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE owner = 0 AND kind = ? AND key = s.name AND state = 'waiting')

-- ── uses ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: put_use
INSERT INTO uses (record, strength, used_at, count) VALUES (?, ?, ?, ?)
ON CONFLICT (record) DO UPDATE SET strength = excluded.strength, used_at = excluded.used_at, count = excluded.count

-- name: uses
SELECT r.id, u.strength, u.used_at, u.count FROM uses AS u JOIN records AS r ON r.no = u.record
WHERE r.id IN ({ids}) AND +r.shelf IN ({shelves})

-- name: most_used
SELECT -u.count, -coalesce(u.used_at, 0), r.id FROM records AS r JOIN uses AS u ON u.record = r.no
WHERE r.shelf = :shelf AND r.type = 'memory' AND u.count > 0 AND {conditions}
ORDER BY 1, 2, 3 LIMIT :limit

-- Those of these records that are on other shelves.
-- name: out_of_view
SELECT r.id FROM records AS r WHERE r.id IN ({ids}) AND +r.shelf NOT IN ({shelves})
  AND r.owner = (SELECT s.owner FROM shelves AS s WHERE s.no = ?)

-- name: numbers_in_view
SELECT r.id, r.no FROM records AS r
WHERE r.id IN ({ids}) AND +r.shelf IN ({shelves}) AND r.type = 'memory'

-- ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: put_job
INSERT INTO jobs (id, owner, kind, key, payload, records, state, run_at, first_at)
VALUES (:id, :owner, :kind, :key, :payload, :records, 'waiting', :run_at, :at)
ON CONFLICT (owner, kind, key) DO UPDATE SET
    payload = CASE WHEN :keeps THEN payload ELSE excluded.payload END,
    records = excluded.records,
    generation = generation + 1,
    first_at = CASE WHEN state = 'waiting' THEN first_at ELSE :at END,
    run_at = max(CASE WHEN :insists AND state <> 'leased' THEN 0 ELSE not_before END,
        CASE WHEN state = 'waiting' AND :max_wait IS NOT NULL THEN min(:run_at, first_at + :max_wait) ELSE :run_at END),
    not_before = CASE WHEN :insists AND state <> 'leased' THEN 0 ELSE not_before END,
    attempts = CASE WHEN state = 'dead' OR (:insists AND state = 'waiting') THEN 0 ELSE attempts END,
    postponed = CASE WHEN state = 'dead' OR (:insists AND state = 'waiting') THEN 0 ELSE postponed END,
    error = CASE WHEN :insists AND state <> 'leased' THEN '' ELSE error END,
    state = CASE WHEN state = 'dead' THEN 'waiting' ELSE state END

-- Of each kind the longest due: what waits of other kinds, or behind it, is not read.
-- name: due_job
SELECT id, kind FROM jobs WHERE id IN (
    SELECT (
        SELECT j.id FROM jobs AS j WHERE j.kind = json_each.value AND j.due <= :now AND (:only IS NULL OR j.id = :only)
            AND (:tenant IS NULL OR j.owner = 0 OR EXISTS (SELECT 1 FROM owners AS o WHERE o.no = j.owner AND o.tenant = :tenant))
            AND NOT EXISTS (SELECT 1 FROM owners AS p CROSS JOIN restrictions AS x WHERE p.no = j.owner AND x.digest = p.digest)
            AND NOT EXISTS (
                SELECT 1 FROM jobs AS other
                WHERE other.owner = j.owner AND other.owner <> 0 AND other.state = 'leased' AND other.leased_until > :now
            )
        ORDER BY j.due, j.id LIMIT 1
    ) FROM json_each(:kinds)
)
ORDER BY due, id LIMIT 1

-- name: save_job
UPDATE jobs SET state = :state, run_at = :run_at, attempts = :attempts, postponed = :postponed, not_before = :not_before,
    leased_generation = :leased_generation, worker = :worker, leased_until = :leased_until, error = :error
WHERE id = :id

-- name: keep_with_job
INSERT INTO kept (job, records, payload) VALUES (?, ?, ?)
ON CONFLICT (job) DO UPDATE SET records = excluded.records, payload = excluded.payload

-- name: kept_with_job
SELECT payload FROM kept WHERE job = ?

-- name: delete_kept
DELETE FROM kept WHERE job = ?

-- name: one_job
SELECT j.id, j.kind, j.key, j.payload, j.records, j.state, j.run_at, j.first_at, j.attempts, j.postponed, j.not_before,
    j.generation, j.leased_generation, j.worker, j.leased_until, j.error,
    o.tenant, o.kind, o.id, o.era
FROM jobs AS j LEFT JOIN owners AS o ON o.no = j.owner WHERE j.id = ?

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
FROM jobs AS j LEFT JOIN owners AS o ON o.no = j.owner WHERE (:state IS NULL OR j.state = :state)
    AND (:owner IS NULL OR (o.tenant = :tenant AND o.kind = :owner_kind AND o.id = :owner AND o.erased_at IS NULL))
ORDER BY j.run_at, j.id LIMIT :limit

-- name: jobs_about
SELECT j.id, j.records, k.records FROM jobs AS j LEFT JOIN kept AS k ON k.job = j.id
WHERE j.records <> '[]' OR k.job IS NOT NULL

-- What a job failed with may quote what it is about, and what is kept with it.
-- name: silence_job
UPDATE jobs SET error = '' WHERE id = ? AND error <> ''

-- name: delete_job
DELETE FROM jobs WHERE id = ?

-- ── spending ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: add_spent
INSERT INTO spent (owner, tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, day, owner, agent, task, model) DO UPDATE SET
    calls = calls + excluded.calls,
    answers = answers + excluded.answers,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_cached = tokens_cached + excluded.tokens_cached,
    tokens_out = tokens_out + excluded.tokens_out,
    unpriced = unpriced + excluded.unpriced,
    price = price + excluded.price

-- name: spent
SELECT o.kind, o.id, s.tenant, s.day, s.agent, s.task, s.model,
    s.calls, s.answers, s.tokens_in, s.tokens_cached, s.tokens_out, s.unpriced, s.price
FROM spent AS s LEFT JOIN owners AS o ON o.no = s.owner
WHERE s.tenant = :tenant AND s.day >= :since AND s.day < :until
  AND (:owner IS NULL OR s.owner = :owner) AND (:agent IS NULL OR s.agent = :agent)

-- Prices are added up in two parts: no sum of them is larger than an integer.
-- name: spent_in_all
SELECT sum(calls), sum(answers), sum(tokens_in), sum(tokens_cached), sum(tokens_out), sum(unpriced),
    sum(price / 1000000000000), sum(price % 1000000000000)
FROM spent
WHERE tenant = :tenant AND day >= :since AND day < :until
  AND (:owner IS NULL OR owner = :owner) AND (:agent IS NULL OR agent = :agent)

-- name: spent_of_owner
SELECT tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price
FROM spent WHERE owner = ? ORDER BY tenant, day, agent, task, model

-- name: delete_spent_of_owner
DELETE FROM spent WHERE owner = ?

-- ── erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: all_of_owner
SELECT r.type, r.id, o.tenant, o.kind, o.id, s.audience, s.agent, s.groups, r.version, r.recorded_at, r.body,
    r.thread, r.seq, r.status
FROM owners AS o JOIN shelves AS s ON s.owner = o.no JOIN records AS r ON r.shelf = s.no
WHERE o.no = ?

-- An emptied version keeps its place, so that the entry that wrote it is still found.
-- name: blank_versions
UPDATE versions SET body = '', hash = x'' WHERE record IN (SELECT no FROM records WHERE id IN ({ids})) AND body <> ''

-- name: count_filled
SELECT count(*) FROM records AS r JOIN versions AS v ON v.record = r.no WHERE r.id IN ({ids}) AND v.body <> ''

-- name: belongings
SELECT
    (SELECT count(*) FROM versions WHERE record IN (SELECT value FROM json_each(:numbers))),
    (SELECT count(*) FROM terms WHERE record IN (SELECT value FROM json_each(:numbers))),
    (SELECT count(*) FROM uses WHERE record IN (SELECT value FROM json_each(:numbers))),
    (SELECT count(*) FROM vectors WHERE place IN (SELECT value FROM json_each(:places))),
    (SELECT count(*) FROM records AS r JOIN links AS l ON l.record = r.id
        WHERE r.no IN (SELECT value FROM json_each(:numbers)))

-- name: delete_versions
DELETE FROM versions WHERE record IN ({ids})

-- name: delete_terms
DELETE FROM terms WHERE record IN ({ids})

-- name: delete_uses
DELETE FROM uses WHERE record IN ({ids})

-- name: delete_links_of
DELETE FROM links WHERE record IN ({ids})

-- name: delete_records
DELETE FROM records WHERE id IN ({ids})

-- name: bury
INSERT OR IGNORE INTO tombstones (digest, at) VALUES (?, ?)

-- name: buried
SELECT 1 FROM tombstones WHERE digest = ?

-- name: erase_entries
SELECT body FROM ledger WHERE body LIKE '%"erase"%' OR body LIKE '%"redacted"%'

-- name: aged_entries
SELECT l.owner, l.position, l.at, l.actor_kind, l.actor, l.operation, l.request, l.body, o.era, o.erased_at
FROM ledger AS l JOIN owners AS o ON o.no = l.owner WHERE l.owner = ? AND l.body LIKE '%"aged":%' ORDER BY l.position

-- name: erased_eras
SELECT era FROM owners WHERE erased_at IS NOT NULL ORDER BY no

-- name: owner_of_era
SELECT tenant, kind, id FROM owners WHERE era = ? AND erased_at IS NULL

-- name: owners_of
SELECT r.id, o.tenant, o.kind, o.id FROM records AS r JOIN owners AS o ON o.no = r.owner WHERE r.id IN ({ids})

-- name: end_era
UPDATE owners SET tenant = NULL, kind = NULL, id = NULL, erased_at = ?, held = 0, items = 0 WHERE no = ?

-- name: ended_era
SELECT 1 FROM owners WHERE era = ? AND erased_at IS NOT NULL

-- name: delete_shelf_groups_of_owner
DELETE FROM shelf_groups WHERE shelf IN (SELECT no FROM shelves WHERE owner = ?)

-- name: delete_gone_of_owner
DELETE FROM gone WHERE shelf IN (SELECT no FROM shelves WHERE owner = ?)

-- name: delete_shelves_of_owner
DELETE FROM shelves WHERE owner = ?

-- name: own_jobs
SELECT id FROM jobs WHERE owner = ?

-- name: delete_jobs_of_owner
DELETE FROM jobs WHERE owner = ?

-- ── moving ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- What an operation asks of the whole book, in one statement.
-- name: standing
SELECT (SELECT value FROM book WHERE name = 'secret'), (SELECT value FROM book WHERE name = 'departure'),
    (SELECT value FROM book WHERE name = 'arrival'), EXISTS (SELECT 1 FROM restrictions WHERE digest >= x'')

-- name: properties
SELECT name, value FROM book WHERE name IN ('secret', 'departure', 'arrival', 'made_by', 'backup', 'who_forms')

-- name: set_property
INSERT INTO book (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: remove_property
DELETE FROM book WHERE name = ?

-- name: tables_of_content
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('book', 'backups') AND name NOT LIKE 'sqlite_%'

-- name: scrub_waiting
SELECT id, generation FROM jobs WHERE owner = 0 AND kind = 'scrub'

-- name: end_scrub
DELETE FROM jobs WHERE id = ? AND generation = ?

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
WHERE j.owner = ? AND (j.owner <> 0 OR j.kind NOT IN (SELECT value FROM json_each(?))) ORDER BY j.id

-- name: ids_on_shelf_after
SELECT id FROM records WHERE shelf = ? AND type = ? AND id > ? ORDER BY id LIMIT ?

-- name: record_pieces
SELECT r.no, r.id, r.type, r.version, r.recorded_at, r.slot, r.thread, r.seq, r.kind, r.status, r.at, r.valid_from, r.valid_to,
    r.facets, r.body, r.hash, s.audience, s.agent, s.groups, r.position, r.learnt, r.ended, r.run, r.mark,
    t.rule, t.packed, u.strength, u.used_at, u.count
FROM records AS r LEFT JOIN shelves AS s ON s.no = r.shelf AND s.owner = r.owner
LEFT JOIN terms AS t ON t.record = r.no LEFT JOIN uses AS u ON u.record = r.no
WHERE r.id IN ({ids}) ORDER BY r.id

-- name: version_pieces
SELECT v.record, v.version, v.position, v.recorded_at, s.audience, s.agent, s.groups, v.hash, v.body
FROM versions AS v JOIN records AS r ON r.no = v.record LEFT JOIN shelves AS s ON s.no = v.shelf AND s.owner = r.owner
WHERE v.record IN ({ids}) ORDER BY v.record, v.version

-- name: link_pieces
SELECT record, part, source FROM links WHERE record IN ({ids}) ORDER BY record, part, source

-- name: vector_pieces
SELECT r.no, s.name, v.packed FROM records AS r CROSS JOIN vector_sets AS s JOIN vectors AS v ON v.place = (s.no << 40) + r.no
WHERE r.no IN ({ids}) ORDER BY r.no, s.name

-- name: entry_pieces
SELECT position, at, actor_kind, actor, operation, request, body FROM ledger
WHERE owner = ? AND position > ? ORDER BY position LIMIT ?

-- name: stone_pieces
SELECT digest, at FROM tombstones WHERE digest > ? ORDER BY digest LIMIT ?

-- name: lay_era
INSERT INTO owners (tenant, kind, id, era, digest, position, erased_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (era) DO NOTHING RETURNING no

-- name: set_shelf
UPDATE shelves SET mark = ?, renewed = ? WHERE no = ?

-- name: lay_job
INSERT INTO jobs (owner, id, kind, key, payload, records, state, run_at, first_at, attempts, postponed, not_before, generation,
    leased_generation, worker, leased_until, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: lay_kept
INSERT INTO kept (job, records, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: lay_spent
INSERT INTO spent (owner, tenant, day, agent, task, model, calls, answers, tokens_in, tokens_cached, tokens_out, unpriced, price)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: lay_record
INSERT INTO records (id, type, version, recorded_at, slot, thread, seq, kind, status, at, valid_from, valid_to, facets, body,
    hash, owner, shelf, position, learnt, ended, run, mark)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING no

-- name: lay_version
INSERT INTO versions (record, version, shelf, position, recorded_at, ended_at, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: lay_entry
INSERT INTO ledger (owner, position, at, actor_kind, actor, operation, request, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (owner, position) DO NOTHING

-- name: lay_stone
INSERT INTO tombstones (digest, at) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING

-- name: lay_vector_set
INSERT INTO vector_sets (name, dimension, active) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING

-- name: recount_held_of_all
UPDATE owners SET held = (SELECT count(*) FROM records WHERE owner = owners.no AND type = 'memory' AND status = 'active'),
    items = (SELECT count(*) FROM shelves AS s JOIN records AS r ON r.shelf = s.no AND r.type = 'item'
        WHERE s.owner = owners.no AND r.status IS NULL)

-- name: recount_vector_sets
UPDATE vector_sets SET through = 0,
    count = (SELECT count(*) FROM vectors WHERE place > (no << 40) AND place < (no + 1) << 40)

-- name: backups
SELECT path, at, made FROM backups ORDER BY at

-- name: note_backup
INSERT OR REPLACE INTO backups (path, at, made) VALUES (?, ?, ?)

-- ── beside the owners' records ───────────────────────────────────────────────────────────────────────────────────

-- name: restrictions
SELECT digest, at, mode FROM restrictions ORDER BY digest

-- name: restrictions_of
SELECT digest, at, mode FROM restrictions WHERE digest IN ({ids}) ORDER BY digest

-- name: restricted
SELECT mode FROM restrictions WHERE digest = ?

-- name: put_restriction
INSERT INTO restrictions (digest, at, mode) VALUES (?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET at = excluded.at, mode = excluded.mode

-- name: lift_restriction
DELETE FROM restrictions WHERE digest = ?

-- name: key_uses
SELECT id, at FROM key_uses ORDER BY id

-- name: key_uses_of
SELECT id, at FROM key_uses WHERE id IN ({ids}) ORDER BY id

-- name: put_key_use
INSERT INTO key_uses (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = max(at, excluded.at)

-- name: reads_of_tenant
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit
WHERE (at, id) > (:at, :id) AND tenant = :tenant ORDER BY at, id LIMIT :limit

-- name: reads_of_owner
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit
WHERE owner = :owner AND (at, id) > (:at, :id) AND tenant = :tenant ORDER BY at, id LIMIT :limit

-- name: erasures_of
SELECT erased_at FROM owners WHERE digest = ? AND erased_at IS NOT NULL ORDER BY erased_at

-- name: read_pieces
SELECT at, id, tenant, owner, principal, verb, surface FROM read_audit WHERE (at, id) > (?, ?) ORDER BY at, id LIMIT ?

-- name: put_read
INSERT INTO read_audit (at, id, tenant, owner, principal, verb, surface) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: drop_reads
DELETE FROM read_audit WHERE at < ? AND tenant = ? AND verb NOT IN ('restrict', 'unrestrict')
