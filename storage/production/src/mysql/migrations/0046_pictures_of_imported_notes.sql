-- The pictures of imported notes. Below /blogs/, a note written here shows uploads alone, listed already.
INSERT IGNORE INTO note_pictures (name, note_id)
SELECT CASE WHEN LEFT(path, 6) = '/imgs/' THEN SUBSTRING(path, 6) ELSE path END, id
FROM (SELECT id, REPLACE(REPLACE(REPLACE(path, '//', '/'), '//', '/'), '//', '/') AS path
      FROM (SELECT notes.id AS id, TRIM(SUBSTRING_INDEX(SUBSTRING_INDEX(images, ',', place), ',', -1)) AS path
            FROM notes JOIN
              (SELECT 1 + one + 10 * ten AS place FROM
                 (SELECT 0 AS one UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
                  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS ones,
                 (SELECT 0 AS ten UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
                  UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS tens
              ) AS places
              ON place <= 1 + LENGTH(images) - LENGTH(REPLACE(images, ',', ''))
            WHERE images <> '') AS listed
      WHERE LEFT(path, 1) = '/' AND LEFT(path, 2) <> '//') AS named
WHERE LENGTH(path) <= 255 AND (LEFT(path, 7) = '/blogs/' OR LEFT(path, 12) = '/imgs/blogs/');
