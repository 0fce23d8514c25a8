-- When everything was marked read the last time: that can be undone for a minute.

ALTER TABLE river_subscription ADD COLUMN read_before_at BIGINT NOT NULL DEFAULT 0;

-- Subscriptions that their readers ended a moment ago, as they were.
CREATE TABLE river_unfollowed (
	reader     TEXT {BYTEWISE} NOT NULL,
	source_id  BIGINT NOT NULL,
	ended_at   BIGINT NOT NULL,
	read_place BIGINT NOT NULL,
	added_at   BIGINT NOT NULL,
	wish       BIGINT NOT NULL,
	list_id    BIGINT NOT NULL,
	title      TEXT NOT NULL,
	categories TEXT NOT NULL,
	PRIMARY KEY (reader, source_id)
) {WITHOUT ROWID};
CREATE INDEX river_unfollowed_ended ON river_unfollowed (ended_at);
