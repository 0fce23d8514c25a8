package hubui

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/web/shell"
)

func FuzzChangesQuery(f *testing.F) {
	f.Add("q=x&before=1.2.3")
	f.Add("after=-1.-2.9223372036854775807")
	f.Add("q=\xff&before=1.2&after=%00")
	f.Fuzz(func(t *testing.T, s string) {
		v, _ := url.ParseQuery(s)
		q := parseChangesQuery(v)
		if q.PlaceError != "" {
			return
		}
		u, err := url.Parse(q.url("/changes", "before", shell.FormatCursor(q.before)))
		if err != nil {
			t.Fatal(err)
		}
		again := parseChangesQuery(u.Query())
		again.after = q.after
		if diff := cmp.Diff(q, again, cmp.AllowUnexported(changesQuery{})); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzLogQuery(f *testing.F) {
	f.Add("topic=https://a/b&kind=ping,drop&q=x&before=1.2.3")
	f.Add("topic=17&after=-1.-2.9223372036854775807")
	f.Add("kind=\xff&before=1.2&topic=%00")
	f.Fuzz(func(t *testing.T, s string) {
		v, _ := url.ParseQuery(s)
		q := parseLogQuery(v)
		if q.bad() {
			return
		}
		u, err := url.Parse(q.url("/log", "before", shell.FormatCursor(q.before)))
		if err != nil {
			t.Fatal(err)
		}
		again := parseLogQuery(u.Query())
		again.after = q.after
		if diff := cmp.Diff(q, again, cmp.AllowUnexported(logQuery{})); diff != "" {
			t.Error(diff)
		}
	})
}
