-- The title that a topic declares, which its description holds too, for searches; and the
-- order of topics by their last change.

ALTER TABLE topic ADD COLUMN title TEXT NOT NULL DEFAULT '';
UPDATE topic SET title = {TITLE OF ABOUT} WHERE about IS NOT NULL AND {TEXT OF ABOUT} NOT LIKE '%\u0000%';
CREATE INDEX topic_changed ON topic (changed_at, id);
