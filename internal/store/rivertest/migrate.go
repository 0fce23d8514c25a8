package rivertest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/store/storetest"
)

// BeforeConsent is the last schema version without the consent of recipients.
const BeforeConsent = 16

// ForwardingRows returns statements that fill the table notice of schema BeforeConsent.
func ForwardingRows() (rows []string) {
	for id, n := range []struct {
		sent   int
		paused string
	}{{3, "FALSE"}, {0, "FALSE"}, {0, "TRUE"}, {1, "TRUE"}} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO notice (id, reader, source_id, category, via, target, secret, created_at, paused, sent, last_at, failures, problem, next_at, claim)
			VALUES (%d, 'ann', 0, '', 'webhook', 'http://hook%d.example/', NULL, 1790000000000, %s, %d, 1790000000000, 0, '', NULL, 0)`, id+1, id+1, n.paused, n.sent))
	}
	return rows
}

// ForwardingsMigrated checks that a store with ForwardingRows delivers the confirmed forwardings
// and requests consent for the others.
func ForwardingsMigrated(t *testing.T, st hub.Store) {
	e := newEnv(t, st)
	s := e.stream(t)
	storetest.Same(t, "states", s.states("ann"), []string{forward.ForwardingConfirmed, forward.ForwardingWaiting, forward.ForwardingWaiting, forward.ForwardingConfirmed})
	due, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	storetest.Same(t, "forwardings without consent", []any{len(due), due[0].ID}, []any{1, int64(2)})
}

// BeforeUnread is the last schema version without counters of unread items.
const BeforeUnread = 21

// UnreadRows returns statements that fill schema BeforeUnread: ann and bob follow two feeds with
// five items each. ann has read the first feed up to its third item and has marked two items
// individually, of which one is below the read marker. The first feed declares an icon and a home
// page.
func UnreadRows() (rows []string) {
	for id := range 2 {
		rows = append(rows, fmt.Sprintf(`INSERT INTO source (id, next_at, claim, heard_at, heard_in, readers, checks, checked_at, told_hash, items, newest, failing, gone, moved,
			pushed_until, wish, created_at, left_at, heard, url, first_url, topic, title, login, state)
			VALUES (%d, NULL, 0, 0, FALSE, 2, 1, 1, 1, %d, %d, FALSE, FALSE, FALSE, 0, 0, 1, NULL, '', 'http://feed%d.example/', 'http://feed%d.example/', '', '', '', '{}')`,
			id+1, 5+id, id*100+5, id, id)) // the stored item count of the second source is wrong
		for n := 1; n <= 5; n++ {
			rows = append(rows, fmt.Sprintf(`INSERT INTO item (place, id, source_id, seq, came, read_at, edited_at, withdrawn_at, hash, held, guid, title, link)
				VALUES (%d, %d, %d, %d, %d, 0, 0, 0, 0, TRUE, NULL, '', '')`, id*100+n, 1000+id*100+n, id+1, id*100+n, id*100+n))
		}
		for _, reader := range []string{"ann", "bob"} {
			place := "-9223372036854775808"
			if reader == "ann" && id == 0 {
				place = "4"
			}
			rows = append(rows, fmt.Sprintf(`INSERT INTO river_subscription (reader, source_id, read_place, added_at, wish, list_id, title, categories)
				VALUES ('%s', %d, %s, 1, 0, 0, '', '[]')`, reader, id+1, place))
		}
	}
	for _, place := range []int{1, 5, 102} {
		rows = append(rows, fmt.Sprintf(`INSERT INTO item_mark (reader, place, source_id, read, starred, starred_at) VALUES ('ann', %d, %d, TRUE, FALSE, 0)`, place, 1+place/100))
	}
	return append(rows, `INSERT INTO item_mark (reader, place, source_id, read, starred, starred_at) VALUES ('bob', 103, 2, FALSE, TRUE, 1)`,
		`INSERT INTO source_document (id, about, doors, last) VALUES (1, '{"title":"One","home":"http://home.example/","icon":"http://home.example/i.png?\"x\""}', 'null', '')`,
		`INSERT INTO source_document (id, about, doors, last) VALUES (2, '{"title":"\u0000","icon":"http://home.example/"}', 'null', '')`)
}

// UnreadMigrated checks the counts and the icons of a store with UnreadRows.
func UnreadMigrated(t *testing.T, st hub.Store) {
	s := newEnv(t, st).stream(t)
	for reader, want := range map[string]map[int64]int64{"ann": {1: 1, 2: 4}, "bob": {1: 5, 2: 5}} {
		got, icons := map[int64]int64{}, map[int64]string{}
		list, err := s.RiverRail(s.Ctx, rail.Query{User: reader})
		storetest.Must(t, err)
		for _, f := range list.Feeds {
			got[f.ID], icons[f.ID] = f.Unread, f.Icon
		}
		storetest.Same(t, "unread of "+reader, got, want)
		storetest.Same(t, "icons", icons, map[int64]string{1: `http://home.example/i.png?"x"`, 2: ""})
	}
}
