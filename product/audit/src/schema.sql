CREATE TABLE entry (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    text TEXT NOT NULL,
    hash TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;

CREATE TABLE head (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

INSERT INTO head VALUES
    (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE TRIGGER an_entry_continues_the_last BEFORE INSERT ON entry
WHEN NEW.number IS NOT (SELECT number + 1 FROM head)
    OR json_extract(NEW.text, '$.previous') IS NOT (SELECT hash FROM head)
BEGIN
    SELECT RAISE(ABORT, 'an entry continues the last one');
END;

CREATE TRIGGER an_entry_is_never_changed BEFORE UPDATE ON entry
BEGIN
    SELECT RAISE(ABORT, 'an entry is never changed');
END;

CREATE TRIGGER a_pruning_alone_removes_entries BEFORE DELETE ON entry
WHEN OLD.number > coalesce(
    (SELECT CASE json_extract(text, '$.kind')
        WHEN 'pruned' THEN json_extract(text, '$.what.last_number') END
    FROM entry ORDER BY number DESC LIMIT 1), 0)
BEGIN
    SELECT RAISE(ABORT, 'an entry is removed by a pruning alone');
END;

CREATE TRIGGER the_head_follows AFTER INSERT ON entry
BEGIN
    UPDATE head SET number = NEW.number, hash = NEW.hash;
END;

CREATE TRIGGER the_head_is_the_last_entry BEFORE UPDATE ON head
WHEN NEW.number IS NOT (SELECT max(number) FROM entry)
    OR NEW.hash IS NOT (SELECT hash FROM entry WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'the head is the last entry');
END;

CREATE TRIGGER the_head_stays BEFORE DELETE ON head
BEGIN
    SELECT RAISE(ABORT, 'the head stays');
END;
