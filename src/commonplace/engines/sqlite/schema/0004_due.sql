-- What is due is found without reading what waits of other kinds, and an owner's leases without the owner's other jobs.
DROP INDEX jobs_by_time;
CREATE INDEX jobs_by_time ON jobs (state, kind, run_at, id);
CREATE INDEX jobs_leased ON jobs (owner) WHERE state = 'leased';
