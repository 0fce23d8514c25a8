-- This server's own subscriptions at other hubs. wanted is who in this program
-- wants them, with a space on each side of a name.

CREATE TABLE follow (
	id            {ID} NOT NULL PRIMARY KEY,
	feed          TEXT {BYTEWISE} NOT NULL,
	protocol      TEXT {BYTEWISE} NOT NULL,
	topic         TEXT {BYTEWISE} NOT NULL,
	hub           TEXT {BYTEWISE} NOT NULL,
	wire          TEXT NOT NULL,
	proc          TEXT NOT NULL,
	named         BOOLEAN NOT NULL,
	wanted        TEXT NOT NULL,
	token         TEXT {BYTEWISE} NOT NULL UNIQUE,
	secret        TEXT NOT NULL,
	base          TEXT {BYTEWISE} NOT NULL,
	state         TEXT NOT NULL,
	created_at    BIGINT NOT NULL,
	requested_at  BIGINT NOT NULL,
	confirmed_at  BIGINT NOT NULL,
	heard_at      BIGINT NOT NULL,
	expires_at    BIGINT NOT NULL,
	next_at       BIGINT NOT NULL,
	claim         BIGINT NOT NULL,
	asked         BOOLEAN NOT NULL,
	missed        BOOLEAN NOT NULL,
	failures      BIGINT NOT NULL,
	rejected      BIGINT NOT NULL,
	last_error    TEXT NOT NULL,
	last_error_at BIGINT NOT NULL,
	UNIQUE (feed, protocol)
);
CREATE INDEX follow_topic ON follow (topic);
CREATE INDEX follow_next ON follow (next_at);

-- When somebody last looked after them: one row.
CREATE TABLE follow_alive (
	id BIGINT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL
) {WITHOUT ROWID};
