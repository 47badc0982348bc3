-- What a worker keeps with the job that it has leased, and jobs that wait for others to work again.

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

-- Of the attempts those that were given back unharmed.
ALTER TABLE jobs ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0;
-- It is not due before, however often it is put.
ALTER TABLE jobs ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
