-- Webmentions of posts: a row for each page to which a post links or linked. A row without target means
-- that the links of the post are due to be compared with its rows. due_at is the next attempt, NULL:
-- never; while lease is not 0, when the lease expires. data is JSON: what was sent, and the answer.
CREATE TABLE mention_sent (
	owner   TEXT {BYTEWISE} NOT NULL,
	post_id BIGINT NOT NULL,
	target  TEXT {BYTEWISE} NOT NULL,
	due_at  BIGINT,
	tries   BIGINT NOT NULL,
	lease   BIGINT NOT NULL,
	data    TEXT NOT NULL,
	PRIMARY KEY (owner, post_id, target)
);
CREATE INDEX mention_sent_due ON mention_sent (due_at) WHERE due_at IS NOT NULL;

-- The state of a mention before its last decision, and when that was, for undo.
ALTER TABLE mention ADD COLUMN was TEXT {BYTEWISE} NOT NULL DEFAULT '';
ALTER TABLE mention ADD COLUMN decided_at BIGINT NOT NULL DEFAULT 0;
