-- Replies with their place in a thread. Keys are numbers made from a name: of a post of this server
-- from the path of its page, of any other from its URL or guid. root_id is the key of the post at the
-- top, which has no row itself if it is not a reply; path grows in the order of a page, 12 characters a
-- level. owner and post_id name a post of this server or, with a mention, the post below which the
-- mention is. judge and judge_id name the mention by which a post of this server is known to the author of
-- the post that it replies to, who may have rejected it. data is JSON: the content of a reply without a
-- mention.
CREATE TABLE thread_entry (
	id         BIGINT NOT NULL PRIMARY KEY,
	guid_id    BIGINT NOT NULL,
	parent_id  BIGINT NOT NULL,
	root_id    BIGINT NOT NULL,
	path       TEXT {BYTEWISE} NOT NULL,
	posted_at  BIGINT NOT NULL,
	owner      TEXT {BYTEWISE} NOT NULL,
	post_id    BIGINT NOT NULL,
	mention_id BIGINT NOT NULL,
	judge      TEXT {BYTEWISE} NOT NULL,
	judge_id   BIGINT NOT NULL,
	item_id    BIGINT NOT NULL,
	name       TEXT NOT NULL,
	guid       TEXT NOT NULL,
	parent     TEXT NOT NULL,
	data       TEXT NOT NULL
);
CREATE INDEX thread_entry_guid ON thread_entry (guid_id);
CREATE INDEX thread_entry_root ON thread_entry (root_id, path);
CREATE INDEX thread_entry_owner ON thread_entry (owner, post_id, mention_id);

-- Items that reply to something and feeds of comments, to read. due_at NULL: done at done_at.
CREATE TABLE thread_work (
	kind    TEXT {BYTEWISE} NOT NULL,
	name    TEXT {BYTEWISE} NOT NULL,
	depth   BIGINT NOT NULL,
	due_at  BIGINT,
	done_at BIGINT NOT NULL,
	tries   BIGINT NOT NULL,
	lease   BIGINT NOT NULL,
	PRIMARY KEY (kind, name)
);
CREATE INDEX thread_work_due ON thread_work (due_at) WHERE due_at IS NOT NULL;
