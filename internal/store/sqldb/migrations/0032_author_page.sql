-- Pages of authors that are not posts. source is Markdown; place is the order in the navigation.
CREATE TABLE author_page (
	owner      TEXT {BYTEWISE} NOT NULL,
	slug       TEXT {BYTEWISE} NOT NULL,
	title      TEXT NOT NULL,
	place      BIGINT NOT NULL,
	in_menu    BOOLEAN NOT NULL,
	updated_at BIGINT NOT NULL,
	source     TEXT NOT NULL,
	PRIMARY KEY (owner, slug)
) {WITHOUT ROWID};

-- Style sheets of authors: as written, and confined to the content of their page. hash identifies the
-- source; the profile of the author names the hashes in use.
CREATE TABLE author_style (
	owner  TEXT {BYTEWISE} NOT NULL,
	hash   TEXT {BYTEWISE} NOT NULL,
	source TEXT NOT NULL,
	css    TEXT NOT NULL,
	PRIMARY KEY (owner, hash)
) {WITHOUT ROWID};

-- Words of published posts, to search by. A post whose words are not current has indexed = false.
ALTER TABLE post ADD COLUMN indexed BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX post_unindexed ON post (owner, id) WHERE NOT indexed;
CREATE TABLE post_word (
	owner        TEXT {BYTEWISE} NOT NULL,
	word         TEXT {BYTEWISE} NOT NULL,
	published_at BIGINT NOT NULL,
	id           BIGINT NOT NULL,
	PRIMARY KEY (owner, word, published_at, id)
) {WITHOUT ROWID};
CREATE INDEX post_word_post ON post_word (owner, id);
