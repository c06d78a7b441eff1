INSERT IGNORE INTO picture_files (name, state, changed_ms)
SELECT name, 0, 0 FROM (
    SELECT CONVERT(name USING utf8mb4) COLLATE utf8mb4_bin AS name FROM note_pictures
    UNION
    SELECT CASE WHEN LEFT(icon, 6) = '/imgs/' THEN SUBSTRING(icon, 6) ELSE icon END FROM users WHERE icon <> ''
) AS shown
WHERE LEFT(name, 7) = '/blogs/' AND LENGTH(name) <= 255
  AND NOT EXISTS (SELECT 1 FROM pictures WHERE pictures.name = shown.name);
