-- A user's choices for the pages, as JSON; '' is the default of each.

ALTER TABLE account ADD COLUMN preferences TEXT NOT NULL DEFAULT '';
