-- A book in a schema of its own. Content stands only in records, versions, jobs and what is kept with them;
-- everything else holds numbers, ids and digests. Times are microseconds since the epoch, UTC. Ids are 16 bytes.
-- Text is compared by its bytes, as on every engine. Every table of an owner's content is keyed by the owner first,
-- so that hash partitions by owner distribute it.

CREATE TABLE book (
    name  text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
);

-- One row an era: an owner's life between erasures. After an erasure the names are gone and the digest stays.
CREATE TABLE owners (
    no        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    text COLLATE "C",
    kind      text COLLATE "C",
    id        text COLLATE "C",
    era       bytea NOT NULL UNIQUE,
    digest    bytea NOT NULL,
    position  bigint NOT NULL DEFAULT 0,
    held      bigint NOT NULL DEFAULT 0,
    erased_at bigint,
    items     bigint NOT NULL DEFAULT 0     -- the living ones, so that their limit is checked without counting them
);
CREATE UNIQUE INDEX owners_living ON owners (tenant, kind, id) WHERE erased_at IS NULL;

-- All records with the same owner and the same audience.
CREATE SEQUENCE shelf_numbers;
CREATE TABLE shelves (
    owner    bigint NOT NULL,
    no       bigint NOT NULL DEFAULT nextval('shelf_numbers'),
    audience text COLLATE "C" NOT NULL,
    agent    text COLLATE "C" NOT NULL DEFAULT '',
    groups   text COLLATE "C" NOT NULL DEFAULT '[]',
    mark     bigint NOT NULL DEFAULT 0,
    renewed  bigint NOT NULL DEFAULT 0,     -- the mark at which all of its passages changed
    passages bigint NOT NULL DEFAULT 0,     -- how many stand on it
    followed bigint,                        -- of a large shelf, the mark up to which it can be searched on the server
    -- Of the groups, which may be too long for an index.
    digest   bytea NOT NULL GENERATED ALWAYS AS (sha256(decode(replace(groups, E'\\', E'\\\\'), 'escape'))) STORED,
    PRIMARY KEY (owner, no),
    UNIQUE (owner, audience, agent, digest)
);
CREATE INDEX shelves_large ON shelves (passages) WHERE passages >= 10000;

CREATE TABLE shelf_groups (
    owner bigint NOT NULL,
    shelf bigint NOT NULL,
    name  text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, shelf, name)
);

-- Who has a record: its id is nobody else's, in whichever partition they are.
CREATE TABLE ids (
    id    bytea PRIMARY KEY,
    owner bigint NOT NULL
);

-- The current version of every record.
CREATE SEQUENCE record_numbers;
CREATE TABLE records (
    owner       bigint NOT NULL,
    no          bigint NOT NULL DEFAULT nextval('record_numbers'),
    id          bytea NOT NULL,
    shelf       bigint NOT NULL,
    type        text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    position    bigint NOT NULL,
    recorded_at bigint NOT NULL,
    slot        bytea,
    thread      bytea,
    seq         bigint NOT NULL,            -- a message's place; of a thread, the last place given out
    kind        text COLLATE "C",
    status      text COLLATE "C",
    at          bigint NOT NULL,
    valid_from  bigint,
    valid_to    bigint,
    facets      text COLLATE "C" NOT NULL,  -- [speaker, agent, key, subject, trust, tags, and true where pinned], or empty
    learnt      bigint NOT NULL,            -- when its first version was recorded
    ended       bigint,                     -- when it ceased to be held
    run         bytea,
    mark        bigint NOT NULL,            -- of its shelf, at the last change; 0 for what is no passage
    hash        bytea NOT NULL,
    body        text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, no)
);
CREATE UNIQUE INDEX records_by_id ON records (owner, id);
CREATE INDEX records_on_shelf ON records (owner, shelf, type, id);
CREATE INDEX records_by_mark ON records (owner, shelf, mark) WHERE mark > 0;
CREATE INDEX records_of_thread ON records (owner, thread, seq) WHERE thread IS NOT NULL;
CREATE UNIQUE INDEX records_by_slot ON records (owner, slot) WHERE slot IS NOT NULL;
CREATE INDEX records_of_run ON records (owner, run) WHERE run IS NOT NULL;
CREATE INDEX memories_pinned ON records (owner, shelf, id) WHERE type = 'memory' AND position('"pinned":true' IN body) > 0;
CREATE INDEX memories_held ON records (owner, recorded_at) WHERE type = 'memory' AND status = 'active';
-- Active instructions and memories with a key are few among many: contexts and profiles ask for them each time.
CREATE INDEX memories_instructing ON records (owner, shelf, id) WHERE type = 'memory' AND status = 'active' AND kind = 'instruction';
CREATE INDEX memories_keyed ON records (owner, shelf, id) WHERE type = 'memory' AND status IN ('active', 'archived') AND position('"key":"' IN body) > 0;
CREATE INDEX memories_archived ON records (owner, shelf, id) WHERE type = 'memory' AND status = 'archived';

-- Earlier versions of records that changed.
CREATE TABLE versions (
    owner       bigint NOT NULL,
    record      bigint NOT NULL,
    version     bigint NOT NULL,
    shelf       bigint NOT NULL,
    position    bigint NOT NULL,
    recorded_at bigint NOT NULL,
    ended_at    bigint NOT NULL,
    hash        bytea NOT NULL,
    body        text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, record, version)
);

-- What rests on what; the source may be another owner's. Of many sources a record lists a few; the others are links of a part
-- of it, the group that it names.
CREATE TABLE links (
    owner  bigint NOT NULL,
    record bytea NOT NULL,
    source bytea NOT NULL,
    part   bytea NOT NULL DEFAULT '',       -- empty: the record lists the source itself
    PRIMARY KEY (owner, record, part, source)
);
CREATE INDEX links_to_source ON links (source);

-- Passages that left a shelf, so that an index elsewhere lets go of them.
CREATE TABLE gone (
    owner bigint NOT NULL,
    shelf bigint NOT NULL,
    mark  bigint NOT NULL,
    id    bytea NOT NULL,
    PRIMARY KEY (owner, shelf, mark, id)
);

CREATE TABLE terms (
    owner  bigint NOT NULL,
    record bigint NOT NULL,
    rule   bigint NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (owner, record)
);
CREATE INDEX terms_by_rule ON terms (rule);

CREATE TABLE uses (
    owner    bigint NOT NULL,
    record   bigint NOT NULL,
    strength double precision NOT NULL,
    used_at  bigint,
    count    bigint NOT NULL,
    PRIMARY KEY (owner, record)
);

CREATE TABLE ledger (
    owner      bigint NOT NULL,
    position   bigint NOT NULL,
    at         bigint NOT NULL,
    actor_kind text COLLATE "C" NOT NULL,
    actor      text COLLATE "C",
    operation  bytea,
    request    bytea,
    body       text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, position)
);
-- An operation's digest is made with its owner's name: the same one under two numbers is of two eras of one owner.
CREATE UNIQUE INDEX ledger_by_operation ON ledger (operation, owner) WHERE operation IS NOT NULL;

-- Keyed digests of the ids of what was erased one by one, so that it is recognised when it comes back.
CREATE TABLE tombstones (
    digest bytea PRIMARY KEY,
    at     bigint NOT NULL
);

CREATE TABLE jobs (
    id           bytea PRIMARY KEY,
    owner        bigint NOT NULL,           -- 0: the book's own upkeep
    kind         text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    payload      text COLLATE "C" NOT NULL,
    records      bytea[] NOT NULL,
    state        text COLLATE "C" NOT NULL,
    run_at       bigint NOT NULL,
    first_at     bigint NOT NULL,
    attempts     bigint NOT NULL DEFAULT 0,
    postponed    bigint NOT NULL DEFAULT 0, -- of the attempts those that were given back unharmed
    not_before   bigint NOT NULL DEFAULT 0, -- it is not due before, however often it is put
    generation   bigint NOT NULL DEFAULT 1,
    leased_generation bigint NOT NULL DEFAULT 0,
    worker       text COLLATE "C",
    leased_until bigint,
    error        text COLLATE "C" NOT NULL DEFAULT '',
    due          bigint GENERATED ALWAYS AS (CASE state WHEN 'waiting' THEN run_at WHEN 'leased' THEN leased_until END) STORED,
    UNIQUE (owner, kind, key)
);
CREATE INDEX jobs_due ON jobs (kind, due, id);
CREATE INDEX jobs_leased ON jobs (owner) WHERE state = 'leased';

-- Apart from the jobs: it may be large, and a job's row is written anew with every lease. It goes with its job.
CREATE TABLE kept (
    job     bytea PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    records bytea[] NOT NULL,               -- ids of all that it tells of
    payload text COLLATE "C" NOT NULL
);

-- What an embedding made of the passages; recall reads the active set.
CREATE TABLE vector_sets (
    no        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      text COLLATE "C" NOT NULL UNIQUE,
    dimension bigint NOT NULL,
    active    boolean NOT NULL,
    count     bigint NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX vector_sets_active ON vector_sets (active) WHERE active;

CREATE TABLE vectors (
    owner  bigint NOT NULL,
    record bigint NOT NULL,
    set    bigint NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (owner, record, set)
);

-- What each set still lacks: written with every passage, so that nobody looks for it among all that have their vector.
CREATE TABLE unmade (
    set    bigint NOT NULL,
    record bigint NOT NULL,
    owner  bigint NOT NULL,
    PRIMARY KEY (set, record, owner)
);
CREATE INDEX unmade_of_owner ON unmade (owner, record);

-- What calls to language models used and cost. Who is erased leaves the tenant's sums, without a name.
CREATE TABLE spent (
    tenant        text COLLATE "C" NOT NULL,
    day           text COLLATE "C" NOT NULL, -- in UTC, as 2025-03-01
    owner         bigint NOT NULL,           -- 0: not here, or no more
    agent         text COLLATE "C" NOT NULL, -- '' where there is none
    task          text COLLATE "C" NOT NULL,
    model         text COLLATE "C" NOT NULL,
    calls         bigint NOT NULL,
    answers       bigint NOT NULL,
    tokens_in     bigint NOT NULL,
    tokens_cached bigint NOT NULL,
    tokens_out    bigint NOT NULL,
    unpriced      bigint NOT NULL,
    price         bigint NOT NULL,           -- in 1e-12 dollars
    -- Of the last three of its place, which may be too long for an index; no name holds what stands between them.
    digest        bytea NOT NULL GENERATED ALWAYS AS (sha256(decode(
        replace(agent || E'\n' || task || E'\n' || model, E'\\', E'\\\\'), 'escape'))) STORED,
    PRIMARY KEY (tenant, day, owner, digest)
);
CREATE INDEX spent_of_owner ON spent (owner);

-- Whose data may not be processed: kept outside the owners' records, so that it outlives an erasure, under a keyed digest.
CREATE TABLE restrictions (
    digest bytea PRIMARY KEY,
    at     bigint NOT NULL,
    mode   text COLLATE "C" NOT NULL        -- of new content: refuse, or keep_unread
);

-- When each key of a service was last used; apart from the keys, whose versions are history.
CREATE TABLE key_uses (
    id bytea PRIMARY KEY,
    at bigint NOT NULL
);

-- Who asked what kind of thing about whom; never content.
CREATE TABLE read_audit (
    at        bigint NOT NULL,
    id        bytea NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    owner     bytea NOT NULL,               -- the owner's keyed digest; empty: it was about the whole tenant
    principal text COLLATE "C" NOT NULL,
    verb      text COLLATE "C" NOT NULL,
    surface   text COLLATE "C" NOT NULL,
    PRIMARY KEY (at, id)
);
CREATE INDEX read_audit_of_owner ON read_audit (owner, at, id);

-- Where its maker asked for partitions, the tables that are keyed by owner have them.
DO $$
DECLARE
    parts integer := coalesce(nullif(current_setting('memoranda.partitions', true), ''), '0')::integer;
    spread text;
BEGIN
    IF parts > 0 THEN
        FOREACH spread IN ARRAY ARRAY[
            'shelves', 'shelf_groups', 'records', 'versions', 'links', 'gone', 'terms', 'uses', 'ledger', 'vectors'
        ] LOOP
            EXECUTE format('ALTER TABLE %I RENAME TO of_one', spread);
            EXECUTE format('CREATE TABLE %I (LIKE of_one INCLUDING ALL) PARTITION BY HASH (owner)', spread);
            DROP TABLE of_one;
            FOR part IN 0 .. parts - 1 LOOP
                EXECUTE format(
                    'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                    spread || '_' || part, spread, parts, part);
            END LOOP;
        END LOOP;
    END IF;
END
$$;

-- What finds candidates on shelves that are too large to be held in a process, as their marks move; it goes with the
-- terms that it was made of. A word is its term's hash, mixed with the shelf: each shelf has postings of its own.
-- Beside it, where the extension is, a table of each set's vectors (nearness_1, …) is made as it is needed.
-- They hold numbers, and are read through the records, which are walled: behind a wall of its own no index would serve
-- a search by words.
CREATE TABLE findable (
    owner  bigint NOT NULL,
    record bigint NOT NULL,
    shelf  bigint NOT NULL,
    at     bigint NOT NULL,
    length bigint NOT NULL,                 -- of its terms, repetitions counted
    words  bigint[] NOT NULL,
    PRIMARY KEY (owner, record),
    FOREIGN KEY (owner, record) REFERENCES terms (owner, record) ON DELETE CASCADE
);
CREATE INDEX findable_by_words ON findable USING gin (words);
CREATE INDEX findable_by_time ON findable (owner, shelf, at);

-- The second wall: a transaction that reads for one owner meets only that owner's rows in these tables and in what is kept
-- with jobs, whatever a statement of the engine's forgets to ask. The engine's filter is the first, and does not rely on it.
-- Not behind it: owners, shelves and their groups, by which it is known whom a reader may see; what was spent, of which a
-- tenant's sums are made; what holds numbers, digests and ids alone; a partition where a statement names it, which none
-- does. Whoever can send statements of their own can take it down. Settings are read once a statement, not once a row.
-- Superusers pass it: serve a book with an ordinary role.
DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['records', 'versions', 'links', 'gone', 'terms', 'uses', 'ledger', 'vectors', 'jobs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', walled);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format(
            'CREATE POLICY of_owner ON %I USING ((SELECT current_setting(''memoranda.whole'', true)) = ''on'' '
            'OR owner = (SELECT nullif(current_setting(''memoranda.owner'', true), '''')::bigint))', walled);
    END LOOP;
    ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
    ALTER TABLE kept FORCE ROW LEVEL SECURITY;
    CREATE POLICY of_owner ON kept USING ((SELECT current_setting('memoranda.whole', true)) = 'on'
        OR (SELECT true FROM jobs WHERE id = job));
END
$$;

-- The server samples columns when it analyses tables, and keeps the samples in a table of its own, from which nobody but an
-- administrator can clear what was erased. Of columns that tell of people it keeps none.
DO $$
DECLARE
    telling text[];
BEGIN
    FOREACH telling SLICE 1 IN ARRAY ARRAY[
        ['owners', 'id'], ['shelves', 'agent'], ['shelves', 'groups'], ['shelves', 'digest'], ['shelf_groups', 'name'],
        ['records', 'kind'], ['records', 'facets'], ['records', 'body'], ['versions', 'body'], ['terms', 'packed'], ['vectors', 'packed'], ['findable', 'words'],
        ['ledger', 'actor'], ['ledger', 'body'], ['jobs', 'key'], ['jobs', 'payload'], ['jobs', 'error'], ['kept', 'payload'],
        ['spent', 'agent'], ['spent', 'digest'], ['read_audit', 'principal']
    ] LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', telling[1], telling[2]);
    END LOOP;
END
$$;
