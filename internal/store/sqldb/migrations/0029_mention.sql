-- Pages of other sites that link to posts, as their sites reported them. id grows with the time of the
-- report. host is that of source, author the URL by which the page names its author. due_at is when the
-- page is read next, NULL: never; while lease is not 0, when the lease expires. data is JSON: what the
-- page says.
CREATE TABLE mention (
	owner       TEXT {BYTEWISE} NOT NULL,
	id          BIGINT NOT NULL,
	post_id     BIGINT NOT NULL,
	source      TEXT {BYTEWISE} NOT NULL,
	target      TEXT NOT NULL,
	state       TEXT {BYTEWISE} NOT NULL,
	host        TEXT {BYTEWISE} NOT NULL,
	author      TEXT {BYTEWISE} NOT NULL,
	received_at BIGINT NOT NULL,
	due_at      BIGINT,
	tries       BIGINT NOT NULL,
	lease       BIGINT NOT NULL,
	data        TEXT NOT NULL,
	PRIMARY KEY (owner, id),
	UNIQUE (owner, post_id, source)
);
CREATE INDEX mention_due ON mention (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mention_state ON mention (owner, state, id);

-- What a user decided about the mentions of an author, or of a whole host (author *).
CREATE TABLE mention_rule (
	owner   TEXT {BYTEWISE} NOT NULL,
	host    TEXT {BYTEWISE} NOT NULL,
	author  TEXT {BYTEWISE} NOT NULL,
	name    TEXT NOT NULL,
	verdict TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (owner, host, author)
);
