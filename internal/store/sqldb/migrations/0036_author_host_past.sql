-- Host names that authors had in use. Until the time in until, subscribers of feeds at them are
-- notified.
CREATE TABLE author_host_past (
	name  TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	owner TEXT {BYTEWISE} NOT NULL,
	until BIGINT NOT NULL
) {WITHOUT ROWID};
CREATE INDEX author_host_past_owner ON author_host_past (owner);
