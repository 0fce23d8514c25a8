-- Host names of authors, at most one each. token proves that the name leads to this server; until then
-- verified_at is 0 and several authors may have the same name.
CREATE TABLE author_host (
	owner       TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	name        TEXT {BYTEWISE} NOT NULL,
	token       TEXT {BYTEWISE} NOT NULL,
	created_at  BIGINT NOT NULL,
	verified_at BIGINT NOT NULL
) {WITHOUT ROWID};
CREATE UNIQUE INDEX author_host_name ON author_host (name) WHERE verified_at > 0;
