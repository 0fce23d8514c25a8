package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
)

// Thread measures the pages of a post with many replies.
type Thread struct {
	Common
	Replies int // [2,000]
	Pages   int // requests for each page [200]
}

// threadPageP50 is a limit in milliseconds.
const threadPageP50 = 20

func threadCommand() *cobra.Command {
	var o Thread
	c := &cobra.Command{
		Use:   "thread",
		Short: "A post has many replies: how fast are its page and the feed of its replies?",
		Long: `Starts a server, writes a post and replies to it, half of them replies to replies, and requests the
page of the post and the feed of its replies. Each figure has its limit, and its
ratio to the limit.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1, 1)
	c.Flags().IntVar(&o.Replies, "replies", 2000, "replies of the thread")
	c.Flags().IntVar(&o.Pages, "pages", 200, "requests of each page")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

// Run measures.
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
	at := top.URL
	for i := range b.Replies {
		reply := fmt.Sprintf("Reply %d: it does not mind the rain.", i)
		p, err := s.server.api.CreatePost(ctx, "ann", client.PostChange{Source: &reply, Reply: &client.PostReply{URL: at}}, "")
		if err != nil {
			return err
		}
		if at = top.URL; i%2 == 0 {
			at = p.URL
		}
		s.progress.step("write", i, b.Replies)
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
		for i := range b.Pages + 5 { // excludes the cost of the first requests
			_, took, err := visitor.do(ctx, page.path, nil)
			if err != nil {
				return err
			}
			if s.progress.step(page.name, i, b.Pages); i >= 5 {
				all = append(all, took.Seconds()*1e3)
			}
		}
		s.limited(fmt.Sprintf("%s of %d replies, p50", page.name, b.Replies), median(all), threadPageP50)
	}
	return nil
}
