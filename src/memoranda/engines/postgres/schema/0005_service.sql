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

-- A principal may have a person's name: the server keeps no samples of it.
ALTER TABLE read_audit ALTER COLUMN principal SET STATISTICS 0;
