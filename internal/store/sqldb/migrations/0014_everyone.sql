-- What one writer does no longer changes a row that all writers share. What everyone's
-- feed says of itself is read from the rows of the writers: the newest change, and a
-- number that grows with each, in whatever order two of them come to be seen. The row of
-- nobody ('') stays as it was; it is the least that the numbers of everyone may be.

ALTER TABLE post_count ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
DELETE FROM post_count WHERE owner = '';
CREATE INDEX post_count_everyone ON post_count (kind, name, changed, version, posts);
CREATE INDEX writer_changed ON writer (changed, version);
