-- Topics, who follows them, what is owed, and the log. Times are Unix
-- milliseconds; 0 (or NULL where an index leaves NULLs out) means never.

CREATE TABLE topic (
	id            {ID} NOT NULL PRIMARY KEY,
	url           TEXT {BYTEWISE} NOT NULL UNIQUE,
	version       BIGINT NOT NULL DEFAULT 0,
	hash          {BYTES},
	etag          {BYTES},
	last_modified {BYTES},
	content_type  {BYTES},
	size          BIGINT NOT NULL DEFAULT 0,
	checked_at    BIGINT NOT NULL DEFAULT 0,
	changed_at    BIGINT NOT NULL DEFAULT 0,
	failures      BIGINT NOT NULL DEFAULT 0,
	error         TEXT NOT NULL DEFAULT '',
	pinged_at     BIGINT NOT NULL DEFAULT 0,
	due_at        BIGINT,
	held          BIGINT NOT NULL DEFAULT 0,
	used_at       BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX topic_due ON topic (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX topic_used ON topic (used_at);

-- pass is the version that the pass at pos tells: when want has risen since, a
-- new owner starts the range again instead of going on from pos.
CREATE TABLE part (
	topic_id BIGINT NOT NULL,
	part     BIGINT NOT NULL,
	lo       BIGINT NOT NULL,
	hi       BIGINT NOT NULL,
	want     BIGINT NOT NULL,
	done     BIGINT NOT NULL,
	pass     BIGINT NOT NULL,
	pos      BIGINT NOT NULL DEFAULT 0,
	epoch    BIGINT NOT NULL DEFAULT 0,
	owner    BIGINT,
	due_at   BIGINT,
	PRIMARY KEY (topic_id, part)
) {WITHOUT ROWID};
CREATE INDEX part_due ON part (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE subscription (
	topic_id      BIGINT NOT NULL,
	bucket        BIGINT NOT NULL,
	id            BIGINT NOT NULL,
	protocol      TEXT NOT NULL,
	callback      TEXT {BYTEWISE} NOT NULL,
	proc          TEXT NOT NULL,
	created_at    BIGINT NOT NULL,
	renewed_at    BIGINT NOT NULL,
	expires_at    BIGINT NOT NULL,
	failures      BIGINT NOT NULL DEFAULT 0,
	tries         BIGINT NOT NULL DEFAULT 0,
	next_at       BIGINT,
	owed          BIGINT NOT NULL DEFAULT 0,
	counted       BIGINT NOT NULL DEFAULT 0,
	sent          BIGINT NOT NULL DEFAULT 0,
	claim         BIGINT NOT NULL DEFAULT 0,
	last_error    TEXT NOT NULL DEFAULT '',
	last_error_at BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (topic_id, bucket, id)
) {WITHOUT ROWID};
CREATE INDEX subscription_next ON subscription (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX subscription_expires ON subscription (expires_at);
CREATE INDEX subscription_failing ON subscription (failures) WHERE failures > 0;

CREATE TABLE task (
	name   TEXT NOT NULL PRIMARY KEY,
	due_at BIGINT NOT NULL,
	epoch  BIGINT NOT NULL DEFAULT 1
) {WITHOUT ROWID};

CREATE TABLE event (
	node     BIGINT NOT NULL,
	seq      BIGINT NOT NULL,
	at       BIGINT NOT NULL,
	kind     TEXT NOT NULL,
	topic_id BIGINT NOT NULL,
	topic    TEXT {BYTEWISE} NOT NULL,
	ok       BOOLEAN NOT NULL,
	text     TEXT NOT NULL,
	door     TEXT NOT NULL,
	peer     TEXT NOT NULL,
	took     BIGINT NOT NULL,
	told     BIGINT NOT NULL,
	failed   BIGINT NOT NULL,
	version  BIGINT NOT NULL,
	detail   {BYTES},
	PRIMARY KEY (node, seq)
) {WITHOUT ROWID};
CREATE INDEX event_at ON event (at, node, seq);
CREATE INDEX event_topic ON event (topic_id, at, node, seq);

CREATE TABLE minute (
	at        BIGINT NOT NULL,
	node      BIGINT NOT NULL,
	pings     BIGINT NOT NULL,
	checks    BIGINT NOT NULL,
	changes   BIGINT NOT NULL,
	notified  BIGINT NOT NULL,
	failed    BIGINT NOT NULL,
	registers BIGINT NOT NULL,
	p50       DOUBLE PRECISION NOT NULL,
	p99       DOUBLE PRECISION NOT NULL,
	queue     BIGINT NOT NULL,
	writes    BIGINT NOT NULL,
	PRIMARY KEY (at, node)
) {WITHOUT ROWID};

-- One row that is written to find out whether writing works.
CREATE TABLE probe (
	id BIGINT NOT NULL PRIMARY KEY,
	n  BIGINT NOT NULL
) {WITHOUT ROWID};
