-- What the certificates of this server need, which all machines on the database share:
-- accounts, certificates with their keys, answers to challenges. Sealed by the program.
CREATE TABLE certificate (
	name     TEXT {BYTEWISE} NOT NULL,
	sealed   {BYTES} NOT NULL,
	saved_at BIGINT NOT NULL,
	PRIMARY KEY (name)
) {WITHOUT ROWID};
