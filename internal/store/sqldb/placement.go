package sqldb

import (
	"regexp"
	"strings"
	"sync"
)

// Placement is where a Citus cluster stores a table. A distributed table is divided among the
// workers by a column. All distributed tables are divided in the same way, so that all rows of one
// topic are on one worker.
type Placement struct {
	Table  string
	Column string // distribution column, which contains the id of a topic; "": the table is not distributed
	Copied bool   // a reference table: each node has a copy
	Why    string
	// Before are statements that run before the table is distributed: a unique constraint must
	// contain the distribution column.
	Before []string
}

// Local reports whether the table is an ordinary table of the coordinator.
func (p Placement) Local() bool { return p.Column == "" && !p.Copied }

// Placements returns the placement of every table.
func Placements() []Placement { return placements() }

var placements = sync.OnceValue(func() []Placement {
	all := []Placement{
		{Table: "topic", Column: "id", Why: "one row for each topic, written by each ping",
			Before: []string{ // no constraint on url is needed: the id is a hash of the URL
				`ALTER TABLE topic DROP CONSTRAINT topic_url_key`, `CREATE INDEX topic_url ON topic (url)`}},
		{Table: "part", Column: "topic_id", Why: "claims and positions of deliveries"},
		{Table: "subscription", Column: "topic_id", Why: "subscribers, the largest table of a hub"},
		{Table: "body", Column: "topic_id", Why: "the newest content of topics"},
		{Table: "intent", Column: "topic_id", Why: "WebSub requests that wait for verification"},
		{Table: "event", Column: "topic_id", Why: "the log, which each delivery writes",
			Before: []string{`ALTER TABLE event DROP CONSTRAINT event_pkey, ADD PRIMARY KEY (topic_id, node, seq)`}},
		{Table: "alias", Copied: true, Why: "each ping looks up URLs here, and it rarely changes"},
	}
	for why, tables := range map[string]string{
		"one row, or a few, for the whole installation":                                                          "task probe testfeed certificate admin_setting change_count",
		"one row for each node and minute":                                                                       "minute",
		"recent changes are one list, read by time; each node inserts its own rows":                              "change",
		"one row for each network or host whose rate is limited":                                                 "allowance tally",
		"few rows, changed by administrators":                                                                    "admin_audit admin_block",
		"users and their sign-ins: unique names and tokens, few rows":                                            "account account_first account_place account_session account_token account_invite account_deleted feed_secret feed_nonce",
		"the feeds that this server pushes from, read by token and by feed":                                      "follow follow_alive",
		"counts of readers, kept for a week":                                                                     "seen reader_day",
		"the reader joins items with feeds, subscriptions and marks of a user in one statement":                  "source source_document source_check river_host river_subscription river_category river_category_source river_unfollowed river_filter item item_content item_mark item_unindexed item_full item_word reading_list notice notice_queue notice_refusal notice_count",
		"pages of authors are current by the snapshot of the coordinator, which writes on workers do not change": "writer post post_category post_count post_word post_group post_version saved saved_document author_page author_style author_host author_host_past mention mention_rule mention_sent thread_entry thread_work outping",
		"files, read by their hash":                                                                              "media media_content media_piece",
	} {
		for table := range strings.FieldsSeq(tables) {
			all = append(all, Placement{Table: table, Why: why})
		}
	}
	return all
})

// placementOf returns the placement of a table. For an unknown table it returns the zero Placement,
// which is local.
func placementOf(table string) Placement {
	for _, p := range placements() {
		if p.Table == table {
			return p
		}
	}
	return Placement{}
}

// Key returns the distribution column of a table, or "" if the table or the database is not
// distributed.
func (db *DB) Key(table string) string {
	if !db.Distributed {
		return ""
	}
	return placementOf(table).Column
}

var afterTable = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)`)

// isDistributed reports whether a statement uses a table that is not only on the coordinator.
func isDistributed(text string) bool {
	for _, found := range afterTable.FindAllStringSubmatch(text, -1) {
		if !placementOf(strings.ToLower(found[1])).Local() {
			return true
		}
	}
	return false
}
