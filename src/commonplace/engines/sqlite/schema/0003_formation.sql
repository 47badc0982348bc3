-- What a worker keeps with the job that it has leased, and jobs that wait for others to work again.

-- Apart from the jobs: it may be large, and a job's row is written anew with every lease. It goes with its job.
CREATE TABLE kept (
    job     BLOB PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    records TEXT NOT NULL,                  -- ids in hex of all that it tells of, as a JSON array
    payload TEXT NOT NULL
) STRICT;

-- Of the attempts those that were given back unharmed.
ALTER TABLE jobs ADD COLUMN postponed INTEGER NOT NULL DEFAULT 0;
-- It is not due before, however often it is put.
ALTER TABLE jobs ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
