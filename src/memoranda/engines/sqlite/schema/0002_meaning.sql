-- Vectors in sets, what recall filters passages by, and when the book learnt a record and ceased to hold it.

-- What an embedding made of the passages; recall reads the active set.
CREATE TABLE vector_sets (
    no        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    active    INTEGER NOT NULL,
    count     INTEGER NOT NULL DEFAULT 0,
    through   INTEGER NOT NULL DEFAULT 0       -- no passage up to this record's number lacks its vector
) STRICT;
CREATE UNIQUE INDEX vector_sets_active ON vector_sets (active) WHERE active = 1;

-- Keyed by (set << 40) + record: a shelf's vectors are met in the order of its records, at half the cost of a pair's index.
CREATE TABLE vectors (
    place  INTEGER PRIMARY KEY,
    packed BLOB NOT NULL
) STRICT;

-- The mark at which all of a shelf's passages changed: what is held of an earlier one is void.
ALTER TABLE shelves ADD COLUMN renewed INTEGER NOT NULL DEFAULT 0;

-- Made anew, so that the new columns stand before the body: what lies behind a long text is slow to reach.
CREATE TABLE records_anew (
    no          INTEGER PRIMARY KEY AUTOINCREMENT,
    id          BLOB NOT NULL UNIQUE,
    owner       INTEGER NOT NULL,
    shelf       INTEGER NOT NULL,
    type        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    slot        BLOB,
    thread      BLOB,
    seq         INTEGER NOT NULL,          -- a message's place; of a thread, the last place given out
    kind        TEXT,
    status      TEXT,
    at          INTEGER NOT NULL,
    valid_from  INTEGER,
    valid_to    INTEGER,
    facets      TEXT NOT NULL,             -- [speaker, agent, key, subject, trust, tags, and true where pinned], or empty
    learnt      INTEGER NOT NULL,          -- when its first version was recorded
    ended       INTEGER,                   -- when it ceased to be held
    run         BLOB,
    mark        INTEGER NOT NULL,          -- of its shelf, at the last change; 0 for what is no passage
    body        TEXT NOT NULL,
    hash        BLOB NOT NULL
) STRICT;

INSERT INTO records_anew
SELECT r.no, r.id, r.owner, r.shelf, r.type, r.version, r.position, r.recorded_at, r.slot, r.thread, r.seq, r.kind,
    r.status, r.at,
    coalesce(r.valid_from, CASE WHEN r.type = 'memory' AND json_extract(r.body, '$.supersedes[0]') IS NOT NULL THEN r.at END),
    r.valid_to,
    CASE
        WHEN r.type IN ('message', 'memory', 'episode') THEN json_insert(json_array(
            CASE r.type WHEN 'message' THEN json_extract(r.body, '$.speaker') END,
            json_extract(r.body, '$.agent'),
            CASE r.type WHEN 'memory' THEN json_extract(r.body, '$.key') END,
            CASE r.type WHEN 'memory' THEN json_extract(r.body, '$.subject') END,
            coalesce(json_extract(r.body, '$.trust'), CASE r.type WHEN 'episode' THEN 'assistant' ELSE 'user' END),
            json(coalesce(json_extract(r.body, '$.tags'), '[]'))),
            -- At the end; where it is not pinned, in a place that is taken, which inserts nothing.
            CASE WHEN r.type = 'memory' AND json_extract(r.body, '$.pinned') THEN '$[#]' ELSE '$[0]' END, json('true'))
        WHEN r.type = 'thread' AND coalesce(json_extract(r.body, '$.agent'), json_extract(r.body, '$.tags[0]')) IS NOT NULL
        THEN json_array(NULL, json_extract(r.body, '$.agent'), NULL, NULL, NULL,
            json(coalesce(json_extract(r.body, '$.tags'), '[]')))
        ELSE ''
    END,
    coalesce((SELECT v.recorded_at FROM versions AS v WHERE v.record = r.no ORDER BY v.version LIMIT 1), r.recorded_at),
    -- The earliest of the versions since the last one that was held. What an emptied version was cannot be told.
    CASE WHEN r.status IN ('superseded', 'retracted', 'undone', 'evicted', 'withdrawn') THEN coalesce((
        SELECT v.recorded_at FROM versions AS v
        WHERE v.record = r.no AND v.version > coalesce((
            SELECT max(h.version) FROM versions AS h
            WHERE h.record = r.no AND coalesce(json_extract(nullif(h.body, ''), '$.withdrawn'), 0) = 0
                AND coalesce(json_extract(nullif(h.body, ''), '$.status'), '')
                    NOT IN ('superseded', 'retracted', 'undone', 'evicted')), 0)
        ORDER BY v.version LIMIT 1), r.recorded_at)
    END,
    r.run, r.mark, r.body, r.hash
FROM records AS r;

-- Numbers are never used again, those of erased records neither.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'records_anew', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'records_anew');
UPDATE sqlite_sequence SET seq = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'records'), 0)
WHERE name = 'records_anew';

DROP TABLE records;
ALTER TABLE records_anew RENAME TO records;
CREATE INDEX records_on_shelf ON records (shelf, type, id);
CREATE INDEX records_by_mark ON records (shelf, mark) WHERE mark > 0;
CREATE INDEX records_of_thread ON records (thread, seq) WHERE thread IS NOT NULL;
CREATE UNIQUE INDEX records_by_slot ON records (owner, slot) WHERE slot IS NOT NULL;
CREATE INDEX records_of_run ON records (owner, run) WHERE run IS NOT NULL;
-- Without reading the JSON, which might be damaged: whoever reads looks closer.
CREATE INDEX memories_pinned ON records (shelf, id) WHERE type = 'memory' AND instr(body, '"pinned":true') > 0;
CREATE INDEX memories_held ON records (owner, recorded_at) WHERE type = 'memory' AND status = 'active';
