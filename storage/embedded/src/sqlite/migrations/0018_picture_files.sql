-- Pictures that an import left as files, by name: of its notes and users.
CREATE TABLE picture_files (
    -- As in note_pictures.
    name       TEXT    NOT NULL PRIMARY KEY,
    -- 0 shown by an imported note or user, 1 given up by one of them, 2 erased by an operator.
    state      INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_files_gone ON picture_files (changed_ms, name) WHERE state > 0;

-- The pictures of imported notes. Below /blogs/, a note written here shows uploads alone, listed already.
WITH RECURSIVE listed (note_id, path, rest) AS (
    SELECT id, '', images || ',' FROM notes WHERE images <> ''
    UNION ALL
    SELECT note_id, trim(substr(rest, 1, instr(rest, ',') - 1)), substr(rest, instr(rest, ',') + 1)
    FROM listed WHERE rest <> ''
),
named (note_id, name) AS (
    SELECT note_id, CASE WHEN path GLOB '/imgs/*' THEN substr(path, 6) ELSE path END
    FROM (SELECT note_id, replace(replace(replace(path, '//', '/'), '//', '/'), '//', '/') AS path
          FROM listed WHERE path GLOB '/*' AND path NOT GLOB '//*')
)
INSERT OR IGNORE INTO note_pictures (name, note_id) SELECT name, note_id FROM named WHERE name GLOB '/blogs/*';

INSERT INTO picture_files (name, state, changed_ms)
SELECT name, 0, 0 FROM (
    SELECT name FROM note_pictures
    UNION
    SELECT CASE WHEN icon GLOB '/imgs/*' THEN substr(icon, 6) ELSE icon END FROM users WHERE icon <> ''
) AS shown
WHERE name GLOB '/blogs/*' AND NOT EXISTS (SELECT 1 FROM pictures WHERE pictures.name = shown.name);
