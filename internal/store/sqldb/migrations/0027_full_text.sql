-- Full texts of items: the pages of items that a user wants to read here. A row exists for a page
-- that is to be read (next_at is set), that was read (html), or that could not be read (problem).
-- read_at is the time of the last attempt; 0: none.

CREATE TABLE item_full (
	place   {ID} NOT NULL PRIMARY KEY,
	next_at BIGINT,
	claim   BIGINT NOT NULL,
	tries   BIGINT NOT NULL,
	read_at BIGINT NOT NULL,
	problem TEXT NOT NULL,
	html    TEXT NOT NULL
);
CREATE INDEX item_full_next ON item_full (next_at, claim) WHERE next_at IS NOT NULL;

-- full_text: the pages of new items of the feed are read.
ALTER TABLE river_subscription ADD COLUMN full_text BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE river_unfollowed ADD COLUMN full_text BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX river_subscription_full ON river_subscription (source_id) WHERE full_text;
