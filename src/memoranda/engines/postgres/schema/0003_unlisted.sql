-- Of many sources a record lists a few; the others are links of a part of it, the group that the record names. The part
-- of a listed source is empty.
ALTER TABLE links ADD COLUMN part bytea NOT NULL DEFAULT '';

-- In a book with partitions the key has a name that the server chose.
DO $$
DECLARE
    former text;
BEGIN
    SELECT conname INTO STRICT former FROM pg_constraint WHERE conrelid = 'links'::regclass AND contype = 'p';
    EXECUTE format('ALTER TABLE links DROP CONSTRAINT %I', former);
END
$$;
ALTER TABLE links ADD PRIMARY KEY (owner, record, part, source);
