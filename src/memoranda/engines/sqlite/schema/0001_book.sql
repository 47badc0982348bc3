-- A book in one file. Content stands only in records, versions and jobs; everything else holds numbers, ids and digests.
-- Times are microseconds since the epoch, UTC. Ids are 16 bytes.

CREATE TABLE book (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row an era: an owner's life between erasures. After an erasure the names are gone and the digest stays.
CREATE TABLE owners (
    no        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT,
    kind      TEXT,
    id        TEXT,
    era       BLOB NOT NULL UNIQUE,
    digest    BLOB NOT NULL,
    position  INTEGER NOT NULL DEFAULT 0,
    held      INTEGER NOT NULL DEFAULT 0,
    erased_at INTEGER,
    items     INTEGER NOT NULL DEFAULT 0     -- the living ones, so that their limit is checked without counting them
) STRICT;
CREATE UNIQUE INDEX owners_living ON owners (tenant, kind, id) WHERE erased_at IS NULL;

-- All records with the same owner and the same audience.
CREATE TABLE shelves (
    no       INTEGER PRIMARY KEY AUTOINCREMENT,
    owner    INTEGER NOT NULL,
    audience TEXT NOT NULL,
    agent    TEXT NOT NULL DEFAULT '',
    groups   TEXT NOT NULL DEFAULT '[]',
    mark     INTEGER NOT NULL DEFAULT 0,
    -- The mark at which all of its passages changed: what is held of an earlier one is void.
    renewed  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, audience, agent, groups)
) STRICT;

CREATE TABLE shelf_groups (
    shelf INTEGER NOT NULL,
    name  TEXT NOT NULL,
    PRIMARY KEY (shelf, name)
) STRICT, WITHOUT ROWID;

-- The current version of every record.
-- What filters read stands before the body: what lies behind a long text is slow to reach.
CREATE TABLE records (
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
CREATE INDEX records_on_shelf ON records (shelf, type, id);
CREATE INDEX records_by_mark ON records (shelf, mark) WHERE mark > 0;
CREATE INDEX records_of_thread ON records (thread, seq) WHERE thread IS NOT NULL;
CREATE UNIQUE INDEX records_by_slot ON records (owner, slot) WHERE slot IS NOT NULL;
CREATE INDEX records_of_run ON records (owner, run) WHERE run IS NOT NULL;
-- Without reading the JSON, which might be damaged: whoever reads looks closer.
CREATE INDEX memories_pinned ON records (shelf, id) WHERE type = 'memory' AND instr(body, '"pinned":true') > 0;
CREATE INDEX memories_held ON records (owner, recorded_at) WHERE type = 'memory' AND status = 'active';
-- Active instructions and memories with a key are few among many: contexts and profiles ask for them each time.
CREATE INDEX memories_instructing ON records (shelf, id) WHERE type = 'memory' AND status = 'active' AND kind = 'instruction';
CREATE INDEX memories_keyed ON records (shelf, id) WHERE type = 'memory' AND status IN ('active', 'archived') AND instr(body, '"key":"') > 0;
CREATE INDEX memories_archived ON records (shelf, id) WHERE type = 'memory' AND status = 'archived';

-- Earlier versions of records that changed.
CREATE TABLE versions (
    record      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    shelf       INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    body        TEXT NOT NULL,
    hash        BLOB NOT NULL,
    PRIMARY KEY (record, version)
) STRICT;

-- What rests on what. Of many sources a record lists a few; the others are links of a part of it, the group that it names.
CREATE TABLE links (
    record BLOB NOT NULL,
    part   BLOB NOT NULL DEFAULT x'',        -- empty: the record lists the source itself
    source BLOB NOT NULL,
    PRIMARY KEY (record, part, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_to_source ON links (source);

-- Passages that left a shelf, so that an index elsewhere lets go of them.
CREATE TABLE gone (
    shelf INTEGER NOT NULL,
    mark  INTEGER NOT NULL,
    id    BLOB NOT NULL,
    PRIMARY KEY (shelf, mark, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE terms (
    record INTEGER PRIMARY KEY,
    rule   INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;
CREATE INDEX terms_by_rule ON terms (rule);

CREATE TABLE uses (
    record   INTEGER PRIMARY KEY,
    strength REAL NOT NULL,
    used_at  INTEGER,
    count    INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger (
    owner      INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor      TEXT,
    operation  BLOB,
    request    BLOB,
    body       TEXT NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT;
CREATE UNIQUE INDEX ledger_by_operation ON ledger (operation) WHERE operation IS NOT NULL;

-- Keyed digests of the ids of what was erased one by one, so that it is recognised when it comes back.
CREATE TABLE tombstones (
    digest BLOB PRIMARY KEY,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id           BLOB PRIMARY KEY,
    owner        INTEGER NOT NULL,          -- 0: the book's own upkeep
    kind         TEXT NOT NULL,
    key          TEXT NOT NULL,
    payload      TEXT NOT NULL,
    records      TEXT NOT NULL,             -- ids in hex, as a JSON array
    state        TEXT NOT NULL,
    run_at       INTEGER NOT NULL,
    first_at     INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    generation   INTEGER NOT NULL DEFAULT 1,
    leased_generation INTEGER NOT NULL DEFAULT 0,
    worker       TEXT,
    leased_until INTEGER,
    error        TEXT NOT NULL DEFAULT '',
    postponed    INTEGER NOT NULL DEFAULT 0, -- of the attempts those that were given back unharmed
    not_before   INTEGER NOT NULL DEFAULT 0, -- it is not due before, however often it is put
    due          INTEGER GENERATED ALWAYS AS (CASE state WHEN 'waiting' THEN run_at WHEN 'leased' THEN leased_until END) VIRTUAL,
    UNIQUE (owner, kind, key)
) STRICT;
-- What is due is found without reading what waits of other kinds, and an owner's leases without the owner's other jobs.
CREATE INDEX jobs_due ON jobs (kind, due, id);
CREATE INDEX jobs_leased ON jobs (owner) WHERE state = 'leased';

-- The book's own backups, so that forgetting can reach them.
CREATE TABLE backups (
    path TEXT PRIMARY KEY,
    at   INTEGER NOT NULL,
    made INTEGER NOT NULL DEFAULT 0          -- 0 while it is being written
) STRICT, WITHOUT ROWID;

-- Apart from the jobs: it may be large, and a job's row is written anew with every lease. It goes with its job.
CREATE TABLE kept (
    job     BLOB PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    records TEXT NOT NULL,                  -- ids in hex of all that it tells of, as a JSON array
    payload TEXT NOT NULL
) STRICT;

-- What calls to language models used and cost. Who is erased leaves the tenant's sums, without a name.
CREATE TABLE spent (
    tenant        TEXT NOT NULL,
    day           TEXT NOT NULL,            -- in UTC, as 2025-03-01
    owner         INTEGER NOT NULL,         -- 0: not here, or no more
    agent         TEXT NOT NULL,            -- '' where there is none
    task          TEXT NOT NULL,
    model         TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    answers       INTEGER NOT NULL,
    tokens_in     INTEGER NOT NULL,
    tokens_cached INTEGER NOT NULL,
    tokens_out    INTEGER NOT NULL,
    unpriced      INTEGER NOT NULL,
    price         INTEGER NOT NULL,         -- in 1e-12 dollars
    PRIMARY KEY (tenant, day, owner, agent, task, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_of_owner ON spent (owner);

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

-- Whose data may not be processed: kept outside the owners' records, so that it outlives an erasure, under a keyed digest.
CREATE TABLE restrictions (
    digest BLOB PRIMARY KEY,
    at     INTEGER NOT NULL,
    mode   TEXT NOT NULL                    -- of new content: refuse, or keep_unread
) STRICT, WITHOUT ROWID;

-- When each key of a service was last used; apart from the keys, whose versions are history.
CREATE TABLE key_uses (
    id BLOB PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who asked what kind of thing about whom; never content.
CREATE TABLE read_audit (
    at        INTEGER NOT NULL,
    id        BLOB NOT NULL,
    tenant    TEXT NOT NULL,
    owner     BLOB NOT NULL,                -- the owner's keyed digest; empty: it was about the whole tenant
    principal TEXT NOT NULL,
    verb      TEXT NOT NULL,
    surface   TEXT NOT NULL,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX read_audit_of_owner ON read_audit (owner, at, id);
