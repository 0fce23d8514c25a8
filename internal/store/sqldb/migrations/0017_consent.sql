-- The recipient of forwarded items decides whether they come. A notice that was delivered
-- before goes on as confirmed; one that never was is asked about.

ALTER TABLE notice ADD COLUMN state TEXT NOT NULL DEFAULT 'waiting';
ALTER TABLE notice ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notice ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notice ADD COLUMN decided_at BIGINT NOT NULL DEFAULT 0;
UPDATE notice SET state = 'confirmed', decided_at = last_at WHERE sent > 0;
UPDATE notice SET next_at = 1, claim = 0 WHERE sent = 0 AND NOT paused;

-- Mailboxes that want nothing from a reader.
CREATE TABLE notice_refusal (
	reader  TEXT {BYTEWISE} NOT NULL,
	mailbox TEXT {BYTEWISE} NOT NULL,
	at      BIGINT NOT NULL,
	PRIMARY KEY (reader, mailbox)
) {WITHOUT ROWID};

-- Messages of a day (UTC, since 1970) by and to whom they are limited.
CREATE TABLE notice_count (
	day     BIGINT NOT NULL,
	subject TEXT {BYTEWISE} NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (day, subject)
) {WITHOUT ROWID};
