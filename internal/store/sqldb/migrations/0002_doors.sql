-- What WebSub, CNWS and pings of sites need: secrets, the content itself, other
-- names of topics, requests that are not decided yet, and the list of changes.

ALTER TABLE subscription ADD COLUMN secret {BYTES};
ALTER TABLE subscription ADD COLUMN failing_since BIGINT NOT NULL DEFAULT 0;
-- Of these alone the sweep asks whether a topic's content is still needed. The
-- protocol comes first, or SQLite would rather go through all of the topic's.
CREATE INDEX subscription_websub ON subscription (protocol, topic_id, next_at) WHERE protocol = 'websub';

ALTER TABLE topic ADD COLUMN is_full BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE topic ADD COLUMN about {BYTES}; -- JSON of hub.About; NULL when it says nothing
CREATE INDEX topic_full ON topic (id) WHERE is_full;

-- The newest version of a topic, and of topics that are full only.
CREATE TABLE body (
	topic_id     {ID} NOT NULL PRIMARY KEY,
	version      BIGINT NOT NULL,
	content_type {BYTES},
	content      {BYTES}
);

-- What topics call themselves, by the id of that URL.
CREATE TABLE alias (
	alias_id BIGINT NOT NULL,
	topic_id BIGINT NOT NULL,
	PRIMARY KEY (alias_id, topic_id)
) {WITHOUT ROWID};
CREATE INDEX alias_topic ON alias (topic_id);

CREATE TABLE intent (
	topic_id BIGINT NOT NULL,
	id       BIGINT NOT NULL,
	topic    TEXT {BYTEWISE} NOT NULL,
	callback TEXT {BYTEWISE} NOT NULL,
	mode     TEXT NOT NULL,
	secret   {BYTES},
	lease    BIGINT NOT NULL, -- nanoseconds
	reason   TEXT NOT NULL,
	door     TEXT NOT NULL,
	at       BIGINT NOT NULL,
	due_at   BIGINT NOT NULL,
	tries    BIGINT NOT NULL,
	claim    BIGINT NOT NULL,
	PRIMARY KEY (topic_id, id)
) {WITHOUT ROWID};
CREATE INDEX intent_due ON intent (due_at);
CREATE INDEX intent_at ON intent (at);

CREATE TABLE change (
	node BIGINT NOT NULL,
	seq  BIGINT NOT NULL,
	at   BIGINT NOT NULL,
	name TEXT NOT NULL,
	url  TEXT NOT NULL,
	feed TEXT NOT NULL,
	page TEXT NOT NULL,
	tags TEXT NOT NULL, -- with U+001F between them
	door TEXT NOT NULL,
	PRIMARY KEY (node, seq)
) {WITHOUT ROWID};
CREATE INDEX change_at ON change (at, node, seq);

-- How many changes were ever listed, in several rows so that writers at the same
-- time seldom wait for each other.
CREATE TABLE change_count (
	shard BIGINT NOT NULL PRIMARY KEY,
	n     BIGINT NOT NULL
) {WITHOUT ROWID};
