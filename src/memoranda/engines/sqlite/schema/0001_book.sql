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
    erased_at INTEGER
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
    UNIQUE (owner, audience, agent, groups)
) STRICT;

CREATE TABLE shelf_groups (
    shelf INTEGER NOT NULL,
    name  TEXT NOT NULL,
    PRIMARY KEY (shelf, name)
) STRICT, WITHOUT ROWID;

-- The current version of every record.
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
CREATE INDEX memories_held ON records (owner, recorded_at) WHERE type = 'memory' AND status = 'active';

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

-- What rests on what.
CREATE TABLE links (
    record BLOB NOT NULL,
    source BLOB NOT NULL,
    PRIMARY KEY (record, source)
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
    UNIQUE (owner, kind, key)
) STRICT;
CREATE INDEX jobs_by_time ON jobs (state, run_at);

-- The book's own backups, so that forgetting can reach them.
CREATE TABLE backups (
    path TEXT PRIMARY KEY,
    at   INTEGER NOT NULL,
    made INTEGER NOT NULL DEFAULT 0          -- 0 while it is being written
) STRICT, WITHOUT ROWID;
