-- The product was renamed, and so are the settings that the second wall reads: commonplace.whole and commonplace.owner
-- become memoranda.whole and memoranda.owner. A process of before that still has the book open sets the former ones. It
-- must neither take an empty answer for the truth nor write: each of its writes reads the table book before anything
-- else, which is a view now that raises, also for roles that pass the wall; its reads meet the error in the policies.

CREATE FUNCTION refuse_older_program() RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RAISE EXCEPTION 'a newer program, Memoranda, has upgraded this book: end this program, and use the newer one';
END
$$;

-- An older program that is started finds all tables it looks for, and a version that it does not know.
ALTER TABLE book RENAME TO properties;
CREATE VIEW book AS SELECT refuse_older_program() AS name, refuse_older_program()::bytea AS value;

-- As before, with the settings' new names. The last condition is only evaluated for a row that the others hide, and is
-- compared with a text, as the first, so that the planner guesses as few rows as before.
DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['records', 'versions', 'links', 'gone', 'terms', 'uses', 'ledger', 'vectors', 'jobs'] LOOP
        EXECUTE format(
            'ALTER POLICY of_owner ON %I USING ((SELECT current_setting(''memoranda.whole'', true)) = ''on'' '
            'OR owner = (SELECT nullif(current_setting(''memoranda.owner'', true), '''')::bigint) '
            'OR (SELECT CASE WHEN current_setting(''commonplace.whole'', true) <> '''' '
            'OR current_setting(''commonplace.owner'', true) <> '''' THEN refuse_older_program() END) = ''never'')', walled);
    END LOOP;
    ALTER POLICY of_owner ON kept USING ((SELECT current_setting('memoranda.whole', true)) = 'on'
        OR (SELECT true FROM jobs WHERE id = job));
END
$$;
