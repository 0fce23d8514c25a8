-- The river: sources, what their checks came to, who follows them, and what came.
-- Times are Unix milliseconds; 0, or NULL where an index leaves NULLs out, means never.

-- Everything that a check without news writes is in source, and all else that a check
-- finds out is in source_document: told_hash is of that, 0 as long as nothing was read.
CREATE TABLE source (
	id           {ID} NOT NULL PRIMARY KEY,
	next_at      BIGINT,
	claim        BIGINT NOT NULL,
	heard_at     BIGINT NOT NULL,
	heard_in     BOOLEAN NOT NULL,
	readers      BIGINT NOT NULL,
	checks       BIGINT NOT NULL,
	checked_at   BIGINT NOT NULL,
	told_hash    BIGINT NOT NULL,
	items        BIGINT NOT NULL,
	newest       BIGINT,
	failing      BOOLEAN NOT NULL,
	gone         BOOLEAN NOT NULL,
	moved        BOOLEAN NOT NULL,
	pushed_until BIGINT NOT NULL,
	wish         BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	left_at      BIGINT,
	heard        TEXT NOT NULL,
	url          TEXT {BYTEWISE} NOT NULL,
	first_url    TEXT {BYTEWISE} NOT NULL,
	topic        TEXT {BYTEWISE} NOT NULL,
	title        TEXT NOT NULL,
	login        TEXT NOT NULL,
	state        TEXT NOT NULL
);
CREATE INDEX source_due ON source (next_at, claim) WHERE next_at IS NOT NULL;
CREATE INDEX source_heard ON source (next_at) WHERE heard_at > 0;
CREATE INDEX source_url ON source (url, id);
CREATE INDEX source_first ON source (first_url) WHERE first_url <> url;
CREATE INDEX source_topic ON source (topic) WHERE topic <> '' AND topic <> url;
CREATE INDEX source_condition ON source (items, readers, failing, gone, pushed_until);
CREATE INDEX source_left ON source (left_at) WHERE left_at IS NOT NULL;

CREATE TABLE source_document (
	id    {ID} NOT NULL PRIMARY KEY,
	about TEXT NOT NULL,
	doors TEXT NOT NULL,
	last  {BYTES} NOT NULL
);

-- The last checks of a source: a ring. The key is the source's with its lowest bits as
-- the place in the ring, so that one small index holds it all.
CREATE TABLE source_check (
	id        {ID} NOT NULL PRIMARY KEY,
	source_id BIGINT NOT NULL,
	n         BIGINT NOT NULL,
	data      TEXT NOT NULL
);

CREATE TABLE river_host (
	host     TEXT {BYTEWISE} NOT NULL PRIMARY KEY,
	until_at BIGINT NOT NULL,
	data     TEXT NOT NULL
) {WITHOUT ROWID};

-- categories is what river_category_source says too, as a JSON list. What lies below
-- read_place is read.
CREATE TABLE river_subscription (
	reader     TEXT {BYTEWISE} NOT NULL,
	source_id  BIGINT NOT NULL,
	read_place BIGINT NOT NULL,
	added_at   BIGINT NOT NULL,
	wish       BIGINT NOT NULL,
	list_id    BIGINT NOT NULL,
	title      TEXT NOT NULL,
	categories TEXT NOT NULL,
	PRIMARY KEY (reader, source_id)
) {WITHOUT ROWID};
CREATE INDEX river_subscription_source ON river_subscription (source_id, wish);

-- made: somebody made it, so that it stays when it is empty.
CREATE TABLE river_category (
	reader  TEXT {BYTEWISE} NOT NULL,
	name    TEXT {BYTEWISE} NOT NULL,
	shown   BOOLEAN NOT NULL,
	made    BOOLEAN NOT NULL,
	PRIMARY KEY (reader, name)
) {WITHOUT ROWID};

CREATE TABLE river_category_source (
	reader    TEXT {BYTEWISE} NOT NULL,
	category  TEXT {BYTEWISE} NOT NULL,
	source_id BIGINT NOT NULL,
	PRIMARY KEY (reader, category, source_id)
) {WITHOUT ROWID};
CREATE INDEX river_category_source_source ON river_category_source (reader, source_id);

-- place is where an item is in the river, time and id in one number: the rows lie in
-- the order in which they are read. held: the source's last document has it.
CREATE TABLE item (
	place        {ID} NOT NULL PRIMARY KEY,
	id           BIGINT NOT NULL UNIQUE,
	source_id    BIGINT NOT NULL,
	seq          BIGINT NOT NULL,
	came         BIGINT NOT NULL,
	read_at      BIGINT NOT NULL,
	edited_at    BIGINT NOT NULL,
	withdrawn_at BIGINT NOT NULL,
	hash         BIGINT NOT NULL,
	held         BOOLEAN NOT NULL,
	guid         {BYTES},
	title        TEXT NOT NULL,
	link         TEXT NOT NULL
);
CREATE INDEX item_source ON item (source_id, place);
CREATE INDEX item_seq ON item (seq);
CREATE INDEX item_came ON item (came);
CREATE INDEX item_left ON item (place) WHERE NOT held;

CREATE TABLE item_content (
	place   {ID} NOT NULL PRIMARY KEY,
	content TEXT NOT NULL
);

CREATE TABLE item_mark (
	reader     TEXT {BYTEWISE} NOT NULL,
	place      BIGINT NOT NULL,
	source_id  BIGINT NOT NULL,
	read       BOOLEAN NOT NULL,
	starred    BOOLEAN NOT NULL,
	starred_at BIGINT NOT NULL,
	PRIMARY KEY (reader, place)
) {WITHOUT ROWID};
CREATE INDEX item_mark_place ON item_mark (place);
CREATE INDEX item_mark_starred ON item_mark (reader, place) WHERE starred;
CREATE INDEX item_mark_source ON item_mark (source_id) WHERE starred;

-- What is not searchable yet, as of which change.
CREATE TABLE item_unindexed (
	place {ID} NOT NULL PRIMARY KEY,
	seq   BIGINT NOT NULL
);
{SEARCH TABLE}

CREATE TABLE reading_list (
	id       {ID} NOT NULL PRIMARY KEY,
	reader   TEXT {BYTEWISE} NOT NULL,
	url      TEXT {BYTEWISE} NOT NULL,
	title    TEXT NOT NULL,
	category TEXT NOT NULL,
	state    TEXT NOT NULL,
	memory   TEXT NOT NULL,
	feeds    BIGINT NOT NULL,
	read_at  BIGINT NOT NULL,
	next_at  BIGINT,
	claim    BIGINT NOT NULL,
	problem  TEXT NOT NULL,
	UNIQUE (reader, url)
);
CREATE INDEX reading_list_next ON reading_list (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE notice (
	id         {ID} NOT NULL PRIMARY KEY,
	reader     TEXT {BYTEWISE} NOT NULL,
	source_id  BIGINT NOT NULL,
	category   TEXT {BYTEWISE} NOT NULL,
	via        TEXT NOT NULL,
	target     TEXT NOT NULL,
	secret     {BYTES},
	created_at BIGINT NOT NULL,
	paused     BOOLEAN NOT NULL,
	sent       BIGINT NOT NULL,
	last_at    BIGINT NOT NULL,
	failures   BIGINT NOT NULL,
	problem    TEXT NOT NULL,
	next_at    BIGINT,
	claim      BIGINT NOT NULL
);
CREATE INDEX notice_reader ON notice (reader, id);
CREATE INDEX notice_source ON notice (source_id);
CREATE INDEX notice_next ON notice (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE notice_queue (
	notice_id BIGINT NOT NULL,
	place     BIGINT NOT NULL,
	PRIMARY KEY (notice_id, place)
) {WITHOUT ROWID};
CREATE INDEX notice_queue_place ON notice_queue (place);
