package readerui

import (
	"cmp"
	"net/http"

	"cloudburst/internal/conversation"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// repliesTo describes the post that an item replies to, by its URL, for its line on the river.
func (s *base) repliesTo(url string) conversation.Brief {
	if !shell.IsSafeURL(url) {
		return conversation.Brief{}
	}
	b := conversation.Brief{Href: url}
	if s.Known != nil {
		if known, ok := s.Known(url); ok {
			b = known
		}
	}
	b.Name, b.Line = shell.CleanText(cmp.Or(b.Name, shell.ShortURL(url)), conversation.MaxName), shell.CleanText(b.Line, 200)
	return b
}

// repliesOf returns the known replies to an item for its own page, and requests a check of the
// item's feed of comments.
func (s *base) repliesOf(r *http.Request, e *river.Entry, write bool) ([]*content.Reply, error) {
	if s.Threads == nil || e.Source.Private {
		return nil, nil
	}
	if e.CommentsFeed != "" {
		if err := s.Threads.Open(r.Context(), cmp.Or(e.GUID, e.Link)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{e.Link, e.GUID} {
		if name == "" {
			continue
		}
		t, err := s.Threads.Thread(r.Context(), conversation.ThreadQuery{ID: conversation.KeyOf(name), Levels: content.ReplyLevels, Limit: conversation.MaxNodes, All: true})
		if err != nil || len(t.Nodes) > 0 {
			return content.NestReplies(s.Renderer, t, s.BaseURL(r), "", write), err
		}
	}
	return nil, nil
}
