package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/people"
)

// fakePeople is a directory with the authors ann and bob. Each river follows ann.
type fakePeople struct{}

func (fakePeople) Range(_ context.Context, _ string, from, limit int) (people.Page, error) {
	all := []people.Author{{User: "ann", Name: "Ann", About: "Writes.", Avatar: "/ann/media/a.png", Posts: 3, LastAt: start()}, {User: "bob", Name: "Bob"}}
	to := min(from+limit, len(all))
	return people.Page{Authors: all[min(from, to):to], More: to < len(all), Total: len(all)}, nil
}

func (fakePeople) Followed(author string, _ map[int64]bool) int64 {
	return map[string]int64{"ann": 7}[author]
}

// fakeThreads has a thread at each URL, except at URLs that contain "secret".
type fakeThreads struct{}

func (fakeThreads) NameOf(url string) string { return strings.TrimPrefix(url, "http://us.example") }

func (fakeThreads) Open(context.Context, string) error { return nil }

func (fakeThreads) Readable(_ context.Context, url string) (conversation.Brief, error) {
	if strings.Contains(url, "secret") {
		return conversation.Brief{}, fault.New(fault.NotFound, "There is no post at this URL.")
	}
	return conversation.Brief{Name: "Top", Line: "The first post"}, nil
}

func (fakeThreads) Above(_ context.Context, name string) ([]conversation.Node, error) {
	if !strings.Contains(name, "deep") {
		return nil, nil
	}
	return []conversation.Node{{ID: 3, Root: 2, ParentName: "/ann/2026/05/04/secret-title", Name: "/ann/above", Path: strings.Repeat("a", 12)}, {ID: 4, Root: 2, Name: name}}, nil
}

func (fakeThreads) Thread(_ context.Context, q conversation.ThreadQuery) (conversation.Thread, error) {
	first := conversation.Node{ID: 5, Parent: q.ID, Path: strings.Repeat("b", 12), At: start(), User: "bob", Name: "/bob/2026/05/04/y", ParentName: "/ann/secret", Author: "Bob", AuthorURL: "/bob/", HTML: "<p>Yes</p>"}
	hidden := conversation.Node{ID: 6, Parent: 5, Path: strings.Repeat("b", 24), At: start(), User: "eve", Name: "/eve/secret", Author: "Eve", Hidden: true}
	if q.After != "" {
		return conversation.Thread{Nodes: []conversation.Node{hidden}}, nil
	}
	return conversation.Thread{Nodes: []conversation.Node{first}, More: true}, nil
}

func TestPeopleArePagedWithTheirFeedsAndSources(t *testing.T) {
	t.Parallel()
	c, _ := serveRiver(t, newFakeRiver())
	var all []string
	for one, err := range c.River("alice").People(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		line, _ := json.Marshal(one)
		all = append(all, string(line))
	}
	want := `{"user":"ann","name":"Ann","about":"Writes.","avatar":"http://us.example/ann/media/a.png","page":"http://us.example/ann/","feed":"http://us.example/ann/rss.xml","posts":3,"last_at":"2026-05-04T03:02:01Z","following":"7"}
{"user":"bob","name":"Bob","page":"http://us.example/bob/","feed":"http://us.example/bob/rss.xml","posts":0}`
	if got := strings.Join(all, "\n"); got != want {
		t.Error(got)
	}
	n := 0
	for range c.River("").People(t.Context(), "", 1) {
		n++
	}
	if n != 1 {
		t.Errorf("%d authors of at most 1", n)
	}
}

func TestThreadContainsNoHiddenPosts(t *testing.T) {
	t.Parallel()
	c, _ := serveRiver(t, newFakeRiver())
	const post = "http://us.example/ann/2026/05/04/deep"
	var all []client.ThreadReply
	for one, err := range c.River("alice").Replies(t.Context(), post) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	th, err := c.River("alice").Thread(t.Context(), post, "")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(append(all, th.Above...))
	want := `[{"id":"5","parent":"` + fmt.Sprint(int64(all[0].Parent)) + `","depth":1,"url":"http://us.example/bob/2026/05/04/y","at":"2026-05-04T03:02:01Z","user":"bob","name":"Bob","author_url":"http://us.example/bob/","html":"<p>Yes</p>"},` +
		`{"id":"6","parent":"5","depth":2,"hidden":true},{"id":"2","depth":0,"hidden":true},{"id":"3","depth":1,"url":"http://us.example/ann/above"}]`
	if string(got) != strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(want) {
		t.Errorf("%s", got)
	}
}
