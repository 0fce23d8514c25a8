package sqlstore

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/store/sqldb"
)

// retention maps every table to the code that deletes its rows. The value "forever: …" gives the
// reason why rows are kept until a person deletes them. Every other table needs a DELETE statement.
// All tables must appear in docs/reference/retention.md.
func retention() map[string]string {
	return map[string]string{
		"topic": "Sweep", "part": "Sweep", "body": "Sweep", "alias": "Sweep", "subscription": "Sweep", "intent": "decided, or given up after a day",
		"event": "TrimEvents", "change": "TrimChanges", "minute": "SaveMinute", "follow": "deleted when unused", "seen": "TrimSeen", "reader_day": "TrimDays",
		"account_session": "SweepAccounts", "account_place": "SweepAccounts", "feed_nonce": "SweepAccounts",
		"account_invite": "SweepAccounts", "admin_audit": "SweepAudit", "account_deleted": "forever: the names stay reserved",
		"admin_block": "forever: until an administrator removes it", "admin_setting": "forever: until an administrator resets it",
		"tally": "TrimTallies", "allowance": "SweepAllowances",
		"item": "SweepRiver", "item_content": "SweepRiver", "item_full": "SweepRiver", "item_mark": "SweepRiver", "item_unindexed": "IndexItems", "item_word": "SweepRiver",
		"source": "SweepRiver", "source_document": "SweepRiver", "source_check": "SweepRiver", "river_host": "SweepRiver", "notice_queue": "sent",
		"outping": "delivered, or given up", "mention": "TidyMentions", "mention_sent": "TidySent", "thread_entry": "TidyThreads", "thread_work": "TidyThreads", "mention_rule": "forever: until its user removes it", "post": "SweepPosts", "post_version": "SweepPosts", "media_content": "SweepFiles", "media_piece": "SweepFiles", "testfeed": "TickTestFeed",
		"author_host": "forever: until its author removes it", "author_host_past": "TidyAuthorHosts", "author_page": "forever: until its author deletes it", "author_style": "KeepAuthorStyles", "post_word": "IndexPosts",
		"post_category": "its post is no longer published", "post_group": "its post is no longer for the group", "certificate": "removed with its name",
		"task": "forever: a row for each kind of task", "probe": "forever: one row", "change_count": "forever: some rows, a number grows",
		"follow_alive": "forever: one row", "account_first": "forever: one row", "account": "forever: a person's",
		"account_token": "forever: until it is revoked", "feed_secret": "forever: until it is revoked", "saved": "forever: a person's", "saved_document": "forever: a person's",
		"river_unfollowed": "KeepUnfollowed", "river_subscription": "forever: until it is ended", "river_category": "forever: until it is removed", "river_filter": "forever: until it is removed and a minute has passed", "river_category_source": "forever: as its subscription",
		"reading_list": "forever: until it is removed", "notice": "forever: until it is removed", "notice_refusal": "forever: until the mailbox agrees again", "notice_count": "CountMessages", "writer": "forever: a person's",
		"post_count": "forever: a count for each month and category, which says when it changed last", "media": "forever: until its author removes it",
	}
}

func TestEveryTableHasARetentionPeriod(t *testing.T) {
	t.Parallel()
	tables, err := sqldb.Schema()
	if err != nil {
		t.Fatal(err)
	}
	names := sqldb.Derived()
	for _, table := range tables {
		names = append(names, table.Name)
	}
	doc, err := os.ReadFile("../../../docs/reference/retention.md")
	if err != nil {
		t.Fatal(err)
	}
	deleted := deletes(t)
	for _, name := range names {
		how, ok := retention()[name]
		if !ok {
			t.Errorf("the table %s has no retention: add one here and in docs/reference/retention.md", name)
			continue
		}
		if !strings.HasPrefix(how, "forever") && !slices.Contains(deleted, name) {
			t.Errorf("no statement deletes from %s, whose retention is %s", name, how)
		}
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/reference/retention.md lacks the retention of %s", name)
		}
	}
	for name := range retention() {
		if !slices.Contains(names, name) {
			t.Errorf("the table %s does not exist", name)
		}
	}
}

// deletes returns the tables from which a statement deletes.
func deletes(t *testing.T) (tables []string) {
	t.Helper()
	files, err := filepath.Glob("../*sql/*.go") // the stores of all domains
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("DELETE FROM ([a-z_]+)").FindAllSubmatch(text, -1) {
			tables = append(tables, string(m[1]))
		}
		// The sweep of topics iterates over a list of tables.
		for _, m := range regexp.MustCompile(`range \[\]string\{("part", "body", "alias")\}`).FindAllSubmatch(text, -1) {
			tables = append(tables, strings.Split(strings.ReplaceAll(string(m[1]), `"`, ""), ", ")...)
		}
	}
	return tables
}
