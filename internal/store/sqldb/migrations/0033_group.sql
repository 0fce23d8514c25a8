-- Private posts by the groups that they are for.
CREATE TABLE post_group (
	owner        TEXT {BYTEWISE} NOT NULL,
	name         TEXT {BYTEWISE} NOT NULL,
	published_at BIGINT NOT NULL,
	id           BIGINT NOT NULL,
	PRIMARY KEY (owner, name, published_at, id)
) {WITHOUT ROWID};

-- Only private posts use the file.
ALTER TABLE media ADD COLUMN private BOOLEAN NOT NULL DEFAULT false;
