package authortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/storetest"
)

func versionTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ReplacedTextIsKeptAsVersion":        versionTest(keptVersion),
		"VersionsOfChangesBelongToTheirPost": versionTest(versionsOfChanges),
		"OldestVersionsAreDropped":           versionTest(droppedVersions),
		"VersionsEndWithTheirPost":           versionTest(endedVersions),
	}
}

type versions struct {
	*env
	version.Store
	t *testing.T
}

func versionTest(f func(*testing.T, *versions)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) {
		s, ok := e.Store.(version.Store)
		if !ok {
			t.Fatal("the store is not a version.Store")
		}
		f(t, &versions{env: e, Store: s, t: t})
	}
}

// write changes a post and keeps its replaced text.
func (v *versions) write(user string, id int64, change func(*author.Post)) author.Post {
	v.t.Helper()
	w := v.writing(user, id, change)
	w.Keep = func(author.Post, author.Post, time.Time) bool { return true }
	return v.wrote(v.t, w).Post
}

// of returns the texts of a post's versions as "number:text".
func (v *versions) of(user string, id int64) string {
	v.t.Helper()
	list, err := v.Versions(v.Ctx, user, id)
	storetest.Must(v.t, err)
	var all []string
	for _, one := range list {
		all = append(all, fmt.Sprintf("%d:%s", one.N, one.Source))
	}
	return strings.Join(all, " ")
}

func source(s string) func(*author.Post) { return func(p *author.Post) { p.Source = s } }

func keptVersion(t *testing.T, v *versions) {
	post := v.write("alice", 0, func(p *author.Post) {
		p.State, p.Source, p.Categories, p.Card = author.Draft, "☂ one", []string{"Walks"}, &author.Card{URL: "https://example.com/", Title: "x"}
	})
	at := v.Now
	v.Now = v.Now.Add(time.Hour)
	var last []time.Time
	for _, words := range []string{"two", "three"} {
		w := v.writing("alice", post.ID, source(words))
		w.Keep = func(now, next author.Post, saved time.Time) bool {
			last = append(last, saved)
			return now.Source != "two" || next.Source != "three"
		}
		v.wrote(t, w)
	}
	if len(last) != 2 || !last[0].IsZero() || !last[1].Equal(at) {
		t.Errorf("the rule was asked with %v", last)
	}
	if got := v.of("alice", post.ID); got != "1:☂ one" {
		t.Errorf("the versions are %s", got)
	}
	got, err := v.Version(v.Ctx, "alice", post.ID, 1)
	if err != nil || !got.At.Equal(at) || got.State != author.Draft || got.Categories[0] != "Walks" || got.Card.Title != "x" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, missing := range []func() (version.Version, error){
		func() (version.Version, error) { return v.Version(v.Ctx, "alice", post.ID, 2) },
		func() (version.Version, error) { return v.Version(v.Ctx, "alice", post.ID+1, 1) },
		func() (version.Version, error) { return v.Version(v.Ctx, "bob", post.ID, 1) },
	} {
		if _, err := missing(); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("a missing version: %v", err)
		}
	}
}

func versionsOfChanges(t *testing.T, v *versions) {
	post := v.write("alice", 0, func(p *author.Post) { p.State, p.Title, p.Source = author.Published, "One", "one" })
	draft := v.write("alice", 0, func(p *author.Post) {
		p.State, p.Key, p.Source = author.Draft, fmt.Sprintf("edit-%d", post.ID), "changed"
	})
	v.write("alice", draft.ID, source("changed more"))
	v.write("alice", post.ID, source("two"))
	if got := v.of("alice", post.ID); got != "2:one 1:changed" {
		t.Errorf("the versions are %s", got)
	}
	if got := v.of("alice", draft.ID); got != "" {
		t.Errorf("the draft has the versions %s", got)
	}
}

func droppedVersions(t *testing.T, v *versions) {
	post := v.write("alice", 0, func(p *author.Post) { p.State, p.Source = author.Draft, "0" })
	for i := range author.MaxVersions + 2 {
		v.write("alice", post.ID, source(fmt.Sprint(i+1)))
	}
	list, err := v.Versions(v.Ctx, "alice", post.ID)
	if err != nil || len(list) != author.MaxVersions || list[0].N != author.MaxVersions+2 || list[len(list)-1].N != 3 {
		t.Errorf("%d versions, %v", len(list), err)
	}
}

func endedVersions(t *testing.T, v *versions) {
	kept := v.write("alice", 0, func(p *author.Post) { p.State, p.Source = author.Draft, "kept" })
	gone := v.write("alice", 0, func(p *author.Post) { p.State, p.Source = author.Draft, "gone" })
	for _, id := range []int64{kept.ID, gone.ID} {
		v.write("alice", id, source("changed"))
	}
	v.write("alice", gone.ID, func(p *author.Post) { p.State = author.Deleted })
	later := v.Now.Add(time.Hour)
	storetest.Must(t, v.posts(t).SweepPosts(v.Ctx, later, later))
	if a, b := v.of("alice", kept.ID), v.of("alice", gone.ID); a != "1:kept" || b != "" {
		t.Errorf("the versions are %q and %q", a, b)
	}
}
