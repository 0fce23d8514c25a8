-- push is by what readers of a document learn of changes, '' where it names a cloud or a hub.
-- add_cloud means that it is served with those of this server where it names none.

ALTER TABLE saved ADD COLUMN push TEXT NOT NULL DEFAULT '';
ALTER TABLE saved ADD COLUMN add_cloud BOOLEAN NOT NULL DEFAULT FALSE;
