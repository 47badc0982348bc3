-- What is due is found without reading what waits of other kinds, and an owner's leases without the owner's other jobs.
ALTER TABLE jobs ADD COLUMN due INTEGER
    GENERATED ALWAYS AS (CASE state WHEN 'waiting' THEN run_at WHEN 'leased' THEN leased_until END) VIRTUAL;
DROP INDEX jobs_by_time;
CREATE INDEX jobs_due ON jobs (kind, due, id);
CREATE INDEX jobs_leased ON jobs (owner) WHERE state = 'leased';
