package sqldb

// The tables of words differ as a whole; their rows have the place of an item as
// their key. What is written into them, and asked of them, is made by [Words].

// fts5Table keeps no text, only where words occur; rowid is the place. Words come apart
// and folded already. Beginnings of three letters have lists of their own, or the list
// of every word that begins so would have to be put together for each search.
const fts5Table = `CREATE VIRTUAL TABLE item_word USING fts5(words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '3');`

// tsvectorTable has a function because only in there may a plan use the index of words:
// connections forbid the kind of plan, which would harm everything else. What waits to
// be put into the index, in kB, is gone through by each search.
const tsvectorTable = `CREATE TABLE item_word (
	place BIGINT NOT NULL PRIMARY KEY,
	words tsvector NOT NULL
);
CREATE INDEX item_word_words ON item_word USING gin (words) WITH (gin_pending_list_limit = 256);
CREATE FUNCTION item_found(query tsquery, below bigint, above bigint, backwards boolean, most bigint) RETURNS SETOF bigint
	LANGUAGE sql STABLE SET enable_bitmapscan = on SET enable_indexscan = off SET enable_indexonlyscan = off AS '
	SELECT place FROM item_word WHERE words @@ query AND place < below AND place >= above
	ORDER BY CASE WHEN backwards THEN place END DESC, CASE WHEN NOT backwards THEN place END LIMIT most';`
