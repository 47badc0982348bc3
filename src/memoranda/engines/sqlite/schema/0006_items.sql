-- An owner's living items, so that their limit is checked without counting them.
ALTER TABLE owners ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
