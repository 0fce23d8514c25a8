-- What people write here. A user's rows have his name first: one user, one transaction,
-- one shard. body is what he wrote, as JSON; the columns beside it are what lists go by.
-- was is the post before a change that can be taken back until was_until. The writer and
-- the counts of nobody ('') are those of everyone; changed grows from one transaction to
-- the next, for which the row of nobody is taken last.

ALTER TABLE saved ADD COLUMN written BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE writer (
	owner   TEXT {BYTEWISE} NOT NULL,
	version BIGINT NOT NULL,
	last_id BIGINT NOT NULL,
	last_seq BIGINT NOT NULL,
	posts   BIGINT NOT NULL,
	changed BIGINT NOT NULL,
	profile TEXT NOT NULL,
	PRIMARY KEY (owner)
) {WITHOUT ROWID};
INSERT INTO writer (owner, version, last_id, last_seq, posts, changed, profile) VALUES ('', 0, 0, 0, 0, 0, '{}');

CREATE TABLE post (
	owner        TEXT {BYTEWISE} NOT NULL,
	id           BIGINT NOT NULL,
	revision     BIGINT NOT NULL,
	state        TEXT {BYTEWISE} NOT NULL,
	guid         TEXT {BYTEWISE} NOT NULL,
	perma_link   BOOLEAN NOT NULL,
	slug         TEXT {BYTEWISE} NOT NULL,
	seq          BIGINT NOT NULL,
	post_key     TEXT {BYTEWISE} NOT NULL,
	created_at   BIGINT NOT NULL,
	updated_at   BIGINT NOT NULL,
	published_at BIGINT NOT NULL,
	due_at       BIGINT NOT NULL,
	was          TEXT,
	was_until    BIGINT NOT NULL,
	body         TEXT NOT NULL,
	PRIMARY KEY (owner, id)
);
CREATE INDEX post_published ON post (owner, published_at, id) WHERE state = 'published';
CREATE INDEX post_everyone ON post (published_at, owner, id) WHERE state = 'published';
CREATE INDEX post_order ON post (owner, seq) WHERE state = 'published';
CREATE INDEX post_kept ON post (owner, updated_at, id) WHERE state <> 'deleted';
CREATE INDEX post_other ON post (owner, state, updated_at, id) WHERE state <> 'published';
CREATE UNIQUE INDEX post_slug ON post (owner, slug) WHERE slug <> '';
CREATE INDEX post_guid ON post (owner, guid) WHERE guid <> '';
CREATE INDEX post_by_key ON post (owner, post_key) WHERE post_key <> '';
CREATE INDEX post_due ON post (due_at, owner, id) WHERE state = 'scheduled';
CREATE INDEX post_undo ON post (was_until) WHERE was_until > 0;
CREATE INDEX post_deleted ON post (updated_at) WHERE state = 'deleted';

-- Categories of published posts, by their folded names.
CREATE TABLE post_category (
	owner        TEXT {BYTEWISE} NOT NULL,
	name         TEXT {BYTEWISE} NOT NULL,
	published_at BIGINT NOT NULL,
	id           BIGINT NOT NULL,
	PRIMARY KEY (owner, name, published_at, id)
) {WITHOUT ROWID};
CREATE INDEX post_category_everyone ON post_category (name, published_at, owner, id);

-- How many published posts there are of each month (kind 'month') and category, and for
-- categories when one of their posts changed last: that stays when the last post has left.
CREATE TABLE post_count (
	owner   TEXT {BYTEWISE} NOT NULL,
	kind    TEXT {BYTEWISE} NOT NULL,
	name    TEXT {BYTEWISE} NOT NULL,
	label   TEXT NOT NULL,
	posts   BIGINT NOT NULL,
	changed BIGINT NOT NULL,
	PRIMARY KEY (owner, kind, name)
) {WITHOUT ROWID};

-- Files that authors keep here: whose they are; what there is of bytes, which comes in
-- under a name of its own and has a hash when it is whole; and the pieces. What nobody
-- keeps (any more) is swept.
CREATE TABLE media (
	owner    TEXT {BYTEWISE} NOT NULL,
	hash     TEXT {BYTEWISE} NOT NULL,
	name     TEXT NOT NULL,
	type     TEXT NOT NULL,
	size     BIGINT NOT NULL,
	width    BIGINT NOT NULL,
	height   BIGINT NOT NULL,
	added_at BIGINT NOT NULL,
	PRIMARY KEY (owner, hash)
) {WITHOUT ROWID};
CREATE INDEX media_newest ON media (owner, added_at, hash);
CREATE INDEX media_hash ON media (hash);

CREATE TABLE media_content (
	name     TEXT {BYTEWISE} NOT NULL,
	hash     TEXT {BYTEWISE} NOT NULL,
	kept     BOOLEAN NOT NULL,
	begun_at BIGINT NOT NULL,
	PRIMARY KEY (name)
) {WITHOUT ROWID};
CREATE UNIQUE INDEX media_content_hash ON media_content (hash) WHERE hash <> '';
CREATE INDEX media_content_begun ON media_content (begun_at, name) WHERE NOT kept;

CREATE TABLE media_piece (
	name     TEXT {BYTEWISE} NOT NULL,
	n        BIGINT NOT NULL,
	piece    {BYTES} NOT NULL,
	PRIMARY KEY (name, n)
);

-- Other servers that are told of a change, one row each until they know. version is the
-- newest that they shall hear of; told the one that they know.
CREATE TABLE outping (
	owner    TEXT {BYTEWISE} NOT NULL,
	sink     TEXT {BYTEWISE} NOT NULL,
	topic    TEXT {BYTEWISE} NOT NULL,
	version  BIGINT NOT NULL,
	told     BIGINT NOT NULL,
	due_at   BIGINT,
	tries    BIGINT NOT NULL,
	lease    BIGINT NOT NULL,
	data     TEXT NOT NULL,
	PRIMARY KEY (owner, sink, topic)
);
CREATE INDEX outping_due ON outping (due_at) WHERE due_at IS NOT NULL;
