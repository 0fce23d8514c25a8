-- Earlier versions of posts. n counts the versions of a post from 1. body is JSON: the content, as in
-- post. saved_at is when that content was saved.
CREATE TABLE post_version (
	owner    TEXT {BYTEWISE} NOT NULL,
	post_id  BIGINT NOT NULL,
	n        BIGINT NOT NULL,
	saved_at BIGINT NOT NULL,
	state    TEXT {BYTEWISE} NOT NULL,
	body     TEXT NOT NULL,
	PRIMARY KEY (owner, post_id, n)
);
