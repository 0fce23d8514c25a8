package readerui

import (
	"context"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

// replyTo describes an item of the signed-in user's river for a reply to it.
func (s *riverPages) replyTo(ctx context.Context, user string, id int64) (author.Reply, error) {
	list, err := s.River.Items(ctx, river.ItemQuery{Reader: s.readerOf(user), IDs: []int64{id}, Limit: 1})
	if err != nil {
		return author.Reply{}, err
	}
	if len(list) == 0 {
		return author.Reply{}, fault.New(fault.NotFound, "The item to reply to is not in your river any more.")
	}
	e := list[0]
	p := s.post(&e, showing{now: s.CurrentTime(), zone: time.UTC, root: "/river", own: true})
	to := author.Reply{URL: p.Href, GUID: shell.CleanText(e.GUID, 2000), Feed: shell.CleanText(e.Source.URL, 2048), Title: p.Title}
	if e.Source.Private { // the URL of a private feed may contain a secret
		to.Feed = ""
	}
	if to.URL == "" {
		to.URL = to.GUID
	}
	if to.Title == "" {
		to.Title = shell.CleanText(e.Text, 100)
	}
	to.Title = shell.CleanText(strings.TrimPrefix(to.Title+" · "+p.Feed, " · "), 250)
	return to, nil
}
