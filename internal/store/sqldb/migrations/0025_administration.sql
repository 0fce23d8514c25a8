-- Administrators manage the server on its pages. The first account is one of them.

ALTER TABLE account ADD COLUMN administrator BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE account SET administrator = TRUE WHERE name = (SELECT a.name FROM account AS a ORDER BY a.created_at, a.name LIMIT 1);

-- Names of deleted users. Nobody can take such a name, because links and subscriptions
-- of others still lead to it.
CREATE TABLE account_deleted (
	name       TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	deleted_at BIGINT NOT NULL
) {WITHOUT ROWID};

-- Invitations to create an account. The id is the SHA-256 of the secret in the link.
CREATE TABLE account_invite (
	id         TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	created_at BIGINT NOT NULL,
	created_by TEXT {BYTEWISE} NOT NULL,
	note       TEXT NOT NULL,
	expires_at BIGINT NOT NULL,
	used_at    BIGINT NOT NULL,
	used_by    TEXT {BYTEWISE} NOT NULL
) {WITHOUT ROWID};
CREATE INDEX account_invite_created ON account_invite (created_at);

-- Actions of administrators. The id is the time in microseconds, made unique; failed is
-- the reason why an action had no effect, or empty.
CREATE TABLE admin_audit (
	id      BIGINT NOT NULL PRIMARY KEY,
	actor   TEXT {BYTEWISE} NOT NULL,
	action  TEXT {BYTEWISE} NOT NULL,
	object  TEXT NOT NULL,
	detail  TEXT NOT NULL,
	address TEXT NOT NULL,
	via     TEXT NOT NULL,
	failed  TEXT NOT NULL
) {WITHOUT ROWID};
CREATE INDEX admin_audit_actor ON admin_audit (actor, id);

-- Hosts, networks and topics that this server neither reads nor notifies.
CREATE TABLE admin_block (
	kind       TEXT {BYTEWISE} NOT NULL,
	value      TEXT {BYTEWISE} NOT NULL,
	reason     TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by TEXT {BYTEWISE} NOT NULL,
	PRIMARY KEY (kind, value)
) {WITHOUT ROWID};

-- Settings that an administrator changed while the server ran.
CREATE TABLE admin_setting (
	name       TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	value      TEXT NOT NULL,
	changed_at BIGINT NOT NULL,
	changed_by TEXT {BYTEWISE} NOT NULL
) {WITHOUT ROWID};
