package api

import (
	"context"
	"strings"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// fakeFeeds stores hosted feeds in memory. It implements only what the API uses.
type fakeFeeds struct {
	list []author.Feed
	docs []author.Document
}

func (w *fakeFeeds) Put(_ context.Context, d author.Document) (author.Feed, error) {
	switch {
	case d.User == "nobody":
		return author.Feed{}, fault.New(fault.Refused, "There is no such user.")
	case d.Name != author.Public && d.Name != author.Private:
		return author.Feed{}, fault.New(fault.NotFound, "There is no such feed.")
	case len(d.Bytes) > author.MaxDocument:
		return author.Feed{}, fault.New(fault.Invalid, "The document is too large.")
	case len(d.Bytes) == 0:
		return author.Feed{}, fault.New(fault.Invalid, "The document is empty.")
	}
	w.docs = append(w.docs, d)
	f := author.Feed{User: d.User, Name: d.Name, Version: 1, SavedAt: start(), Type: "application/rss+xml", Size: int64(len(d.Bytes)), Title: "T", Items: 2}
	w.list = append(w.list, f)
	return f, nil
}

func (w *fakeFeeds) at(user, name string) (*author.Feed, error) {
	for i := range w.list {
		if f := &w.list[i]; f.User == user && f.Name == name {
			return f, nil
		}
	}
	return nil, fault.New(fault.NotFound, "%s has saved nothing.", user)
}

func (w *fakeFeeds) set(user, name, to string, gone bool) (author.Feed, error) {
	f, err := w.at(user, name)
	if err != nil {
		return author.Feed{}, err
	}
	f.MovedTo, f.Temporary, f.Gone = to, false, gone
	return *f, nil
}

func (w *fakeFeeds) Feed(_ context.Context, user, name string) (author.Feed, error) {
	f, err := w.at(user, name)
	if err != nil {
		return author.Feed{}, err
	}
	return *f, nil
}

func (w *fakeFeeds) Move(_ context.Context, user, name, to string) (author.Feed, error) {
	if !strings.HasPrefix(to, "https://") {
		return author.Feed{}, fault.New(fault.Invalid, "%q is no URL.", to)
	}
	return w.set(user, name, to, false)
}

func (w *fakeFeeds) MoveTemporarily(ctx context.Context, user, name, to string) (author.Feed, error) {
	f, err := w.Move(ctx, user, name, to)
	if err == nil {
		at, _ := w.at(user, name)
		at.Temporary, f.Temporary = true, true
	}
	return f, err
}

func (w *fakeFeeds) AddCloud(_ context.Context, user string, on bool) (author.Feed, error) {
	f, err := w.at(user, author.Public)
	if err != nil {
		return author.Feed{}, err
	}
	f.AddCloud = on
	return *f, nil
}

func (w *fakeFeeds) End(_ context.Context, user, name string) (author.Feed, error) {
	return w.set(user, name, "", true)
}

func (w *fakeFeeds) Restore(_ context.Context, user, name string) (author.Feed, error) {
	return w.set(user, name, "", false)
}

func (w *fakeFeeds) List(_ context.Context, after string, limit int) ([]author.Feed, error) {
	var list []author.Feed
	for _, f := range w.list {
		if f.User+"/"+f.Name > after && len(list) < limit {
			list = append(list, f)
		}
	}
	return list, nil
}

func TestHostedFeedResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	const one = "/v1/feeds/{user}/{feed}"
	w := &fakeFeeds{}
	checkResponses(t, Options{Feeds: w, PublicURL: "https://cloud.example"}, []expectation{
		{"GET", "/v1/feeds", "", "", 200},
		{"PUT", "/v1/feeds/alice/rss", one, `{"version":"https://jsonfeed.org/version/1.1"}`, 200},
		{"PUT", "/v1/feeds/alice/private", one, `<rss/>`, 200},
		{"PUT", "/v1/feeds/alice/other", one, `<rss/>`, 404},
		{"PUT", "/v1/feeds/nobody/rss", one, `<rss/>`, 403},
		{"PUT", "/v1/feeds/alice/rss", one, strings.Repeat("x", author.MaxDocument+1), 400},
		{"GET", "/v1/feeds/alice/rss", one, "", 200},
		{"GET", "/v1/feeds/alice/rss?format=atom", one, "", 400},
		{"GET", "/v1/feeds/bob/rss", one, "", 404},
		{"GET", "/v1/feeds?limit=1", "", "", 200},
		{"GET", "/v1/feeds?user=alice", "", "", 400},
		{"POST", "/v1/feeds/alice/rss/move", one + "/move", `{"to":"https://there.example/rss.xml"}`, 200},
		{"POST", "/v1/feeds/alice/rss/move", one + "/move", `{"to":"there"}`, 400},
		{"POST", "/v1/feeds/bob/rss/move", one + "/move", `{"to":"https://there.example/rss.xml"}`, 404},
		{"POST", "/v1/feeds/alice/rss/end", one + "/end", "", 200},
		{"POST", "/v1/feeds/bob/rss/end", one + "/end", "", 404},
		{"POST", "/v1/feeds/alice/rss/restore", one + "/restore", "", 200},
		{"POST", "/v1/feeds/bob/rss/restore", one + "/restore", "", 404},
		{"POST", "/v1/feeds/alice/rss/cloud", one + "/cloud", `{"on":true}`, 200},
		{"POST", "/v1/feeds/alice/private/cloud", one + "/cloud", `{"on":true}`, 400},
		{"POST", "/v1/feeds/bob/rss/cloud", one + "/cloud", `{"on":true}`, 404},
	})
	if len(w.docs) != 2 || string(w.docs[1].Bytes) != "<rss/>" || w.docs[0].Type != "application/json" || w.docs[0].Via != "cli" {
		t.Errorf("saved were %+v", w.docs)
	}
}

func TestFeedRequestsReturn501WithoutHostedFeeds(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for _, path := range []string{"/v1/feeds", "/v1/feeds/alice/rss"} {
		if res, body := do(t, srv, "GET", path, "", ""); res.StatusCode != 501 || !strings.Contains(body, "does not host feeds") {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
}

func TestClientManagesHostedFeeds(t *testing.T) {
	t.Parallel()
	w := &fakeFeeds{}
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Bus: event.NewBus(1), Feeds: w, PublicURL: "https://cloud.example"})
	if f, err := c.SaveFeed(t.Context(), "alice", client.PublicFeed, "", []byte("<rss/>")); err != nil || f.URL != "https://cloud.example/alice/rss.xml" || w.docs[0].Type != "" {
		t.Error(f, err, w.docs)
	}
	if f, err := c.SaveFeed(t.Context(), "alice", client.PrivateFeed, "application/feed+json", []byte("{}")); err != nil || f.URL != "https://cloud.example/alice/private/rss.xml" || w.docs[1].Type != "application/feed+json" {
		t.Error(f, err, w.docs)
	}
	w.list[0].Push = author.PushMissing
	if f, err := c.Feed(t.Context(), "alice", "rss"); err != nil || !strings.Contains(f.Warning, "neither a cloud nor a hub") {
		t.Error(f, err)
	}
	if f, err := c.AddCloud(t.Context(), "alice", true); err != nil || !f.AddCloud || f.Warning != "" {
		t.Error(f, err)
	}
	if f, err := c.AddCloud(t.Context(), "alice", false); err != nil || f.AddCloud || f.Warning == "" {
		t.Error(f, err)
	}
	if f, err := c.MoveFeed(t.Context(), "alice", "rss", "https://there.example/"); err != nil || f.MovedTo != "https://there.example/" {
		t.Error(f, err)
	}
	if f, err := c.MoveFeedTemporarily(t.Context(), "alice", "rss", "https://elsewhere.example/"); err != nil || f.MovedTo != "https://elsewhere.example/" || !f.Temporary {
		t.Error(f, err)
	}
	if f, err := c.EndFeed(t.Context(), "alice", "rss"); err != nil || !f.Gone {
		t.Error(f, err)
	}
	if f, err := c.RestoreFeed(t.Context(), "alice", "rss"); err != nil || f.Gone || f.MovedTo != "" {
		t.Error(f, err)
	}
	if f, err := c.Feed(t.Context(), "alice", "private"); err != nil || f.Items != 2 {
		t.Error(f, err)
	}
	if _, err := c.Feed(t.Context(), "bob", "rss"); !client.IsNotFound(err) {
		t.Error(err)
	}
	n := 0
	for f, err := range c.Feeds(t.Context(), 0) {
		if err != nil || f.User != "alice" {
			t.Fatal(f, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d feeds are listed", n)
	}
}
