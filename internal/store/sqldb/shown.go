package sqldb

import (
	"regexp"
	"strings"
)

// hidden returns the tables that no page of an author reads. A table that is not listed here counts
// as shown: then pages are rendered too often, but are never stale. Pages read the items of feeds
// only for one line above a reply; package authorui updates that line in time.
func hidden() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`topic part subscription task event minute probe body alias intent change change_count follow follow_alive
		account_first account_place account_session account_token account_invite feed_secret feed_nonce seen reader_day
		source source_document source_check river_host river_subscription river_category river_category_source river_unfollowed river_filter
		item item_content item_mark item_unindexed item_full item_word reading_list notice notice_queue notice_refusal notice_count
		media_piece outping testfeed certificate tally allowance admin_audit admin_block admin_setting mention_sent thread_work
		post_word post_version`) {
		all[name] = true
	}
	return all
}

// written finds the tables that a statement writes to. It excludes ON CONFLICT … DO UPDATE, FOR
// UPDATE and FOR NO KEY UPDATE.
var written = regexp.MustCompile(`(?i)\b(DO |FOR |FOR NO KEY )?(?:INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE|DELETE FROM)\s+(\w+)`)

// IsShown reports whether a statement may write to a table that pages of authors show.
func IsShown(statement string) bool {
	known, quiet := false, hidden()
	for _, found := range written.FindAllStringSubmatch(statement, -1) {
		if found[1] != "" {
			continue
		}
		if known = true; !quiet[strings.ToLower(found[2])] {
			return true
		}
	}
	return !known && !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "SELECT")
}

// IsCounted reports whether a statement may change an unread count, or the categories of a feed.
func IsCounted(statement string) bool {
	if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "SELECT") {
		return false
	}
	statement = strings.ToLower(statement)
	return !written.MatchString(statement) || strings.Contains(statement, "river_subscription") ||
		strings.Contains(statement, "source") && (strings.Contains(statement, "items") || strings.Contains(statement, "delete"))
}
