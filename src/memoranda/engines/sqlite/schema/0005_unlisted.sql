-- Of many sources a record lists a few; the others are links of a part of it, the group that the record names.
CREATE TABLE links_anew (
    record BLOB NOT NULL,
    part   BLOB NOT NULL DEFAULT x'',        -- empty: the record lists the source itself
    source BLOB NOT NULL,
    PRIMARY KEY (record, part, source)
) STRICT, WITHOUT ROWID;
INSERT INTO links_anew (record, source) SELECT record, source FROM links;
DROP TABLE links;
ALTER TABLE links_anew RENAME TO links;
CREATE INDEX links_to_source ON links (source);
