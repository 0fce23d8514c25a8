-- People, and by what they are let in. Passwords are hashes; of sessions and tokens
-- only the SHA-256 is here; the secrets of readers are encrypted, because WSSE needs
-- them in clear.

CREATE TABLE account (
	name        TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	password    TEXT NOT NULL,
	created_at  BIGINT NOT NULL,
	password_at BIGINT NOT NULL,
	seen_at     BIGINT NOT NULL,
	disabled    BOOLEAN NOT NULL
) {WITHOUT ROWID};

-- One row since there is an account: it keeps two first accounts from being made at once.
CREATE TABLE account_first (
	id   BIGINT NOT NULL PRIMARY KEY,
	name TEXT NOT NULL
) {WITHOUT ROWID};

-- Where people logged in from before, as keyed hashes of addresses.
CREATE TABLE account_place (
	account TEXT {BYTEWISE} NOT NULL,
	place   TEXT {BYTEWISE} NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (account, place)
) {WITHOUT ROWID};

CREATE TABLE account_session (
	id         TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	account    TEXT {BYTEWISE} NOT NULL,
	agent      TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
) {WITHOUT ROWID};
CREATE INDEX account_session_account ON account_session (account, created_at);
CREATE INDEX account_session_expires ON account_session (expires_at);

-- scopes are words with a space between.
CREATE TABLE account_token (
	id         TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	hash       TEXT {BYTEWISE} NOT NULL UNIQUE,
	account    TEXT {BYTEWISE} NOT NULL,
	label      TEXT NOT NULL,
	scopes     TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	used_at    BIGINT NOT NULL
) {WITHOUT ROWID};
CREATE INDEX account_token_account ON account_token (account, created_at);

-- sealed_by says which key sealed the secret and made its mac.
CREATE TABLE feed_secret (
	selector   TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	account    TEXT {BYTEWISE} NOT NULL,
	feed       TEXT {BYTEWISE} NOT NULL,
	reader     TEXT {BYTEWISE} NOT NULL,
	sealed     {BYTES} NOT NULL,
	mac        {BYTES} NOT NULL,
	sealed_by  TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	used_at    BIGINT NOT NULL,
	UNIQUE (account, feed, reader)
) {WITHOUT ROWID};
CREATE INDEX feed_secret_mac ON feed_secret (mac);

-- What was shown once by WSSE and may not be shown again while it is fresh.
CREATE TABLE feed_nonce (
	id         {BYTES} NOT NULL PRIMARY KEY,
	expires_at BIGINT NOT NULL
) {WITHOUT ROWID};
CREATE INDEX feed_nonce_expires ON feed_nonce (expires_at);
