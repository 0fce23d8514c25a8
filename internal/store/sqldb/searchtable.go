package sqldb

// The search tables of the two databases have nothing in common, except that the key of a row is
// the place of an item. riversql.Words creates their content and the queries.

// fts5Table stores no text, only the positions of words; rowid is the place. The words are already
// split and folded. Prefixes of three letters have an index of their own; without it, every search
// would merge the lists of all words with the prefix.
const fts5Table = `CREATE VIRTUAL TABLE item_word USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3');`

// tsvectorTable also creates a function, because a plan may use the word index only inside it:
// connections disable bitmap scans, which harm all other statements. gin_pending_list_limit is in
// kB: each search scans the rows that wait to be added to the index.
const tsvectorTable = `CREATE TABLE item_word (
	place BIGINT NOT NULL PRIMARY KEY,
	words tsvector NOT NULL
);
CREATE INDEX item_word_words ON item_word USING gin (words) WITH (gin_pending_list_limit = 256);
CREATE FUNCTION item_found(query tsquery, below bigint, above bigint, backwards boolean, most bigint) RETURNS SETOF bigint
	LANGUAGE sql STABLE SET enable_bitmapscan = on SET enable_indexscan = off SET enable_indexonlyscan = off AS '
	SELECT place FROM item_word WHERE words @@ query AND place < below AND place >= above
	ORDER BY CASE WHEN backwards THEN place END DESC, CASE WHEN NOT backwards THEN place END LIMIT most';`
