-- object: the content is an object outside of the database, named as the row; there are no pieces.
ALTER TABLE media_content ADD COLUMN object BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX media_content_pieces ON media_content (hash) WHERE kept AND NOT object;
