-- Rules of a user about the items of their feeds. rule is JSON: the name, the conditions and the
-- actions. version changes with each change. apply_place is the place below which existing items are
-- still compared, NULL: none. dropped_at: the user deleted the rule, which can be undone for a minute.

CREATE TABLE river_filter (
	id          {ID} NOT NULL PRIMARY KEY,
	reader      TEXT {BYTEWISE} NOT NULL,
	source_id   BIGINT NOT NULL,
	category    TEXT {BYTEWISE} NOT NULL,
	position    BIGINT NOT NULL,
	enabled     BOOLEAN NOT NULL,
	version     BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	dropped_at  BIGINT NOT NULL,
	matched     BIGINT NOT NULL,
	last_at     BIGINT NOT NULL,
	apply_place BIGINT,
	applied     BIGINT NOT NULL,
	rule        TEXT NOT NULL
);
CREATE INDEX river_filter_reader ON river_filter (reader, position);
CREATE INDEX river_filter_source ON river_filter (source_id);
CREATE INDEX river_filter_apply ON river_filter (id) WHERE apply_place IS NOT NULL;
CREATE INDEX river_filter_dropped ON river_filter (dropped_at) WHERE dropped_at > 0;

-- hidden_by is the rule that hides the item from the user; 0: none. A hidden item is read.
ALTER TABLE item_mark ADD COLUMN hidden_by BIGINT NOT NULL DEFAULT 0;
CREATE INDEX item_mark_hidden ON item_mark (reader, place) WHERE hidden_by <> 0;
