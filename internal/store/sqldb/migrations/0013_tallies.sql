-- Log-ins that failed and what strangers did often, so that all nodes count together and a
-- restart forgets nothing. A key is a keyed hash. kept_at is the later of last_at and until_at.
CREATE TABLE tally (
	kind      TEXT {BYTEWISE} NOT NULL,
	key       {BYTES} NOT NULL,
	change_no BIGINT NOT NULL,
	failures  BIGINT NOT NULL,
	waits     BIGINT NOT NULL,
	since_at  BIGINT NOT NULL,
	last_at   BIGINT NOT NULL,
	until_at  BIGINT NOT NULL,
	kept_at   BIGINT NOT NULL,
	PRIMARY KEY (kind, key)
) {WITHOUT ROWID};
CREATE INDEX tally_kept ON tally (kind, kept_at);

-- How much the nodes used of the rates that they share: the allowance is whole again at full_at.
CREATE TABLE allowance (
	kind     TEXT {BYTEWISE} NOT NULL,
	key      {BYTES} NOT NULL,
	spent_at BIGINT NOT NULL,
	full_at  BIGINT NOT NULL,
	PRIMARY KEY (kind, key)
) {WITHOUT ROWID};
CREATE INDEX allowance_full ON allowance (full_at);
