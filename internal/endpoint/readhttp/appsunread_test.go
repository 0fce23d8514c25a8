package readhttp_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/river"
	"cloudburst/internal/river/rail"
	"cloudburst/protocol/fever"
	"cloudburst/protocol/greader"
)

// unreadModel marks items at random through both app APIs and through the river that the pages use.
type unreadModel struct {
	*appHarness
	river  *realRiver
	google *greader.Client
	fever  *fever.Client
	rnd    *rand.Rand
	urls   []string
}

const alice = "reader of alice"

// TestUnreadCountsInAppsAndOnPagesAreEqual compares, after each of many random operations, the counts
// that apps and pages show with the unread items that they list.
func TestUnreadCountsInAppsAndOnPagesAreEqual(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, real)
	m := &unreadModel{appHarness: w, river: w.river.(*realRiver), google: w.google(), fever: w.fever(), rnd: rand.New(rand.NewPCG(4, 2)), urls: []string{newsURL, podURL}}
	w.clock.wait(10 * time.Second)
	m.check("at first")
	for n := range 80 {
		w.clock.wait(time.Duration(1+m.rnd.IntN(5)) * time.Second)
		m.check(fmt.Sprintf("step %d, %s", n, m.step()))
	}
}

// items returns some items of alice.
func (m *unreadModel) items() (list []river.Entry) {
	m.Helper()
	all, err := m.river.Items(m.Context(), river.ItemQuery{Reader: alice, Limit: 1000})
	m.must(err)
	for range 1 + m.rnd.IntN(4) {
		if len(all) > 0 {
			list = append(list, all[m.rnd.IntN(len(all))])
		}
	}
	return list
}

// step runs one random operation and returns its name.
func (m *unreadModel) step() string {
	m.Helper()
	ctx, yes := m.Context(), m.rnd.IntN(3) > 0
	address := m.urls[m.rnd.IntN(len(m.urls))]
	followed, err := m.river.Following(ctx, alice)
	m.must(err)
	source := river.SourceID(address)
	switch m.rnd.IntN(8) {
	case 0, 1:
		if !followed[source] {
			m.follow("alice", address, "Daily")
			return "follow"
		}
		m.arrive(address, 1+m.rnd.IntN(3))
		return "arrive"
	case 2:
		for _, e := range m.items() {
			m.must(m.google.Mark(ctx, greader.Read, yes, greader.ItemID(e.ID)))
		}
		return "mark by Google Reader"
	case 3:
		for _, e := range m.items() {
			_, err := m.fever.Mark(ctx, "item", map[bool]string{true: "read", false: "unread"}[yes], e.First, time.Time{})
			m.must(err)
		}
		return "mark by Fever"
	case 4:
		var ids []int64
		for _, e := range m.items() {
			ids = append(ids, e.ID)
		}
		_, err := m.river.Mark(ctx, alice, ids, &yes, nil)
		m.must(err)
		return "mark on a page"
	case 5:
		m.must(m.google.MarkAllRead(ctx, greader.Label("Daily"), m.clock.now().Add(-time.Minute)))
		return "mark a label read"
	case 6:
		to := m.clock.now().Truncate(time.Millisecond)
		m.must(m.river.MarkAllRead(ctx, alice, 0, "", to))
		if yes {
			m.must(m.river.UndoAllRead(ctx, alice, to))
		}
		return fmt.Sprintf("mark all read, undone: %v", yes)
	}
	if followed[source] && len(followed) > 1 {
		m.must(m.river.Remove(ctx, alice, source))
		if yes {
			_, err := m.river.UndoRemove(ctx, alice, source)
			m.must(err)
		}
	}
	return "unfollow"
}

// check compares all counts with the unread items.
func (m *unreadModel) check(what string) {
	m.Helper()
	ctx := m.Context()
	list, err := m.river.Items(ctx, river.ItemQuery{Reader: alice, Unread: true, Bare: true, Limit: 1000})
	m.must(err)
	want, total := map[string]int64{}, int64(len(list))
	for _, e := range list {
		want[greader.Feed(strconv.FormatInt(e.SourceID, 10)).String()]++
		for _, name := range e.Source.Categories {
			want[greader.Label(name).String()]++
		}
	}
	want[greader.Stream{}.String()] = total
	got, err := m.google.Unread(ctx)
	m.must(err)
	maps.DeleteFunc(got, func(id string, n int64) bool { return n == 0 && id != greader.Stream{}.String() })
	if diff := cmp.Diff(want, got); diff != "" {
		m.Fatalf("%s: counts of Google Reader (-want +got):\n%s", what, diff)
	}
	refs, _, err := m.google.IDs(ctx, greader.Query{N: 1000, Exclude: []greader.Stream{greader.State(greader.Read)}})
	m.must(err)
	answer, err := m.fever.Send(ctx, "unread_item_ids", nil)
	m.must(err)
	feeds, err := m.river.Rail(ctx, rail.Query{User: alice})
	m.must(err)
	badges := int64(0)
	for _, f := range feeds.Feeds {
		badges += f.Unread
	}
	if int64(len(refs)) != total || int64(len(*answer.UnreadItems)) != total || badges != total {
		m.Fatalf("%s: %d unread items; Google Reader lists %d, Fever %d, the rail counts %d", what, total, len(refs), len(*answer.UnreadItems), badges)
	}
}

// An app states the time of its last synchronization. Meanwhile alice follows another feed, whose
// items have dates before that time.
func TestMarkAllReadInAppsKeepsItemsThatArrivedAfterTheStatedTime(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(w *appHarness, at time.Time) error{
		"Google Reader": func(w *appHarness, at time.Time) error {
			return w.google().MarkAllRead(w.Context(), greader.Stream{}, at)
		},
		"Fever": func(w *appHarness, at time.Time) error {
			_, err := w.fever().Mark(w.Context(), "group", "read", 0, at)
			return err
		},
	} {
		w := newAppHarness(t, real)
		w.clock.wait(10 * time.Second)
		at := w.clock.now()
		w.clock.wait(10 * time.Second)
		w.follow("alice", newURL)
		w.clock.wait(10 * time.Second)
		w.must(mark(w, at))
		unread, err := w.river.(*realRiver).CountUnread(w.Context(), alice)
		w.must(err)
		if diff := cmp.Diff(map[int64]int64{river.SourceID(newURL): 3}, map[int64]int64{river.SourceID(newURL): unread[river.SourceID(newURL)].Items}); diff != "" || len(unread) != 1 {
			t.Errorf("%s: %s %v", name, diff, unread)
		}
	}
}
