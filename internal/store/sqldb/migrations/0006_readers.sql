-- Who reads the feeds of this server: one row for each reader of each feed, as long as
-- it comes, and one for each feed and day.

CREATE TABLE seen (
	feed        TEXT {BYTEWISE} NOT NULL,
	key         TEXT {BYTEWISE} NOT NULL,
	kind        TEXT NOT NULL,
	name        TEXT NOT NULL,
	form        TEXT NOT NULL,
	address     TEXT NOT NULL,
	subscribers BIGINT NOT NULL,
	hits        BIGINT NOT NULL,
	modified    BIGINT NOT NULL,
	first_at    BIGINT NOT NULL,
	last_at     BIGINT NOT NULL,
	PRIMARY KEY (feed, key)
) {WITHOUT ROWID};
CREATE INDEX seen_last ON seen (last_at);

CREATE TABLE reader_day (
	feed     TEXT {BYTEWISE} NOT NULL,
	day      BIGINT NOT NULL,
	readers  BIGINT NOT NULL,
	services BIGINT NOT NULL,
	programs BIGINT NOT NULL,
	push     BIGINT NOT NULL,
	private  BIGINT NOT NULL,
	requests BIGINT NOT NULL,
	modified BIGINT NOT NULL,
	PRIMARY KEY (feed, day)
) {WITHOUT ROWID};
CREATE INDEX reader_day_day ON reader_day (day);
