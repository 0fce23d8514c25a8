-- slug_wish is the slug that the author wants for a post that has no slug yet.
ALTER TABLE post ADD COLUMN slug_wish TEXT NOT NULL DEFAULT '';
