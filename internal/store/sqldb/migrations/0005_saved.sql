-- Feeds that people saved here. told is the version of which subscribers were told;
-- the documents stand apart, so that what is known of many feeds is read quickly.

CREATE TABLE saved (
	owner    TEXT {BYTEWISE} NOT NULL,
	name     TEXT {BYTEWISE} NOT NULL,
	version  BIGINT NOT NULL,
	told     BIGINT NOT NULL,
	saved_at BIGINT NOT NULL,
	type     TEXT NOT NULL,
	size     BIGINT NOT NULL,
	hash     {BYTES},
	moved_to TEXT NOT NULL,
	gone     BOOLEAN NOT NULL,
	title    TEXT NOT NULL,
	items    BIGINT NOT NULL,
	PRIMARY KEY (owner, name)
) {WITHOUT ROWID};
CREATE INDEX saved_untold ON saved (owner, name) WHERE told < version;

CREATE TABLE saved_document (
	owner    TEXT {BYTEWISE} NOT NULL,
	name     TEXT {BYTEWISE} NOT NULL,
	document {BYTES} NOT NULL,
	PRIMARY KEY (owner, name)
);
