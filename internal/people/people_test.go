package people

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

type fakeStore struct {
	rows  []Row
	reads int
}

func (f *fakeStore) Authors(_ context.Context, after string, limit int) ([]Row, error) {
	f.reads++
	i := slices.IndexFunc(f.rows, func(r Row) bool { return r.User > after })
	if i < 0 {
		return nil, nil
	}
	return f.rows[i:min(len(f.rows), i+limit)], nil
}

func (f *fakeStore) FollowersOf(context.Context, []int64, int) ([]string, error) {
	return []string{"", "bob", "carol"}, nil
}

func (f *fakeStore) PreferencesOf(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"bob": `{"showFollows":true}`}, nil
}

func TestDirectoryIsSortedByLatestPostAndOmitsUnlistedUsers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	f := &fakeStore{}
	for i := range PerPage + 5 {
		f.rows = append(f.rows, Row{User: fmt.Sprintf("u%02d", i), LastAt: now.Add(-time.Duration(i) * time.Minute)})
	}
	f.rows[0].Preferences = `{"unlisted":true}`
	f.rows[7].Profile = author.Profile{Name: "Ünal Ö.", Blurb: "Line one.\nLine two."}
	d := &Directory{Store: f, Now: func() time.Time { return now }}
	p, err := d.List(t.Context(), "", 1)
	if err != nil || len(p.Authors) != PerPage || !p.More || p.Total != PerPage+4 || p.Authors[0].User != "u01" {
		t.Fatalf("%+v %v", p, err)
	}
	if p, err = d.List(t.Context(), "", 2); err != nil || len(p.Authors) != 4 || p.More || f.reads != 1 {
		t.Errorf("%+v %v, %d reads", p, err, f.reads)
	}
	if p, err = d.List(t.Context(), "ÜNAL @u0", 1); err != nil || p.Total != 1 || p.Authors[0].About != "Line one. Line two." {
		t.Errorf("%+v %v", p, err)
	}
	if p, err = d.List(t.Context(), "nobody", 99); err != nil || p.Total != 0 || len(p.Authors) != 0 {
		t.Errorf("%+v %v", p, err)
	}
	now = now.Add(time.Minute)
	if _, err = d.List(t.Context(), "", 1); err != nil || f.reads != 2 {
		t.Errorf("%d reads, %v", f.reads, err)
	}
	d.Off = true
	if _, err = d.List(t.Context(), "", 1); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestFollowersAreListedOnlyWithTheirConsent(t *testing.T) {
	t.Parallel()
	h := &Here{Store: &fakeStore{}, URLs: func(context.Context, string) ([]string, error) {
		return []string{"https://a.example/alice/rss.xml"}, nil
	}, OwnerOf: func(r string) string {
		if r == "" {
			return "alice"
		}
		return r
	}}
	f, err := h.Of(t.Context(), "alice")
	if err != nil || f.Count != 2 || strings.Join(f.Names, " ") != "bob" {
		t.Errorf("%+v %v", f, err)
	}
}
