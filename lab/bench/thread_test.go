package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/fulltest"
)

// Thread measures the pages of a post with many replies. Defaults are in brackets.
type Thread struct {
	Common
	Replies int // number of replies [2,000]
	Pages   int // number of requests for each page [200]
}

// threadPageP50 is the limit for the median time of a page in milliseconds.
const threadPageP50 = 20

// TestLongThreadPageIsMeasured prints the time of each page, and the ratio of the time to its
// limit.
func TestLongThreadPageIsMeasured(t *testing.T) {
	report, err := Thread{Common: Common{Hosts: 1, Rounds: 1}, Replies: fulltest.Size(2000, 20), Pages: fulltest.Size(100, 3)}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Write(t.Output(), false); err != nil {
		t.Fatal(err)
	}
}

func (b Thread) Run(ctx context.Context) (*Report, error) {
	b.Replies, b.Pages = orElse(b.Replies, 2000), orElse(b.Pages, 200)
	if b.Replies < 1 || b.Pages < 1 {
		return nil, errors.New("thread needs a reply and a page")
	}
	s, err := openStage("thread", b.Common, Plan{Feeds: 1})
	if err != nil {
		return nil, err
	}
	s.option("replies", b.Replies)
	return s.end(b.run(ctx, s))
}

func (b Thread) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	if _, err := s.server.api.AddUser(ctx, "ann", writePassword); err != nil {
		return err
	}
	text := "The heron is back on the weir."
	top, err := s.server.api.CreatePost(ctx, "ann", client.PostChange{Source: &text}, "")
	if err != nil {
		return err
	}
	if err := b.write(ctx, s, top.URL); err != nil {
		return err
	}
	u, err := url.Parse(top.URL)
	if err != nil {
		return err
	}
	visitor := &riverUser{base: "http://" + s.server.listen, web: &http.Client{Timeout: time.Minute, Transport: &http.Transport{Protocols: onlyHTTP1()}}}
	if err := s.server.rest(ctx); err != nil {
		return err
	}
	for _, page := range []struct{ name, path string }{{"thread", u.Path}, {"feed of replies", u.Path + "/comments.rss"}} {
		var all []float64
		for i := range b.Pages + 5 { // skip the first requests, which fill caches
			_, took, err := visitor.do(ctx, page.path, nil)
			if err != nil {
				return err
			}
			if s.progress.Step(page.name, i, b.Pages); i >= 5 {
				all = append(all, took.Seconds()*1e3)
			}
		}
		s.limited(fmt.Sprintf("%s of %d replies, p50", page.name, b.Replies), Median(all), threadPageP50)
	}
	return nil
}

// write writes the replies to a post concurrently. Every second reply answers the previous reply,
// the others answer the post.
func (b Thread) write(ctx context.Context, s *stage, top string) error {
	const writers = 16
	failed := make(chan error, writers)
	for w := range writers {
		go func() {
			at := top
			for i := w; i < b.Replies; i += writers {
				reply := fmt.Sprintf("Reply %d: it does not mind the rain.", i)
				p, err := s.server.api.CreatePost(ctx, "ann", client.PostChange{Source: &reply, Reply: &client.PostReply{URL: at}}, "")
				if err != nil {
					failed <- err
					return
				}
				if at == top {
					at = p.URL
				} else {
					at = top
				}
			}
			failed <- nil
		}()
	}
	var err error
	for range writers {
		err = errors.Join(err, <-failed)
	}
	return err
}
