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
