package bench

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloudburst/client"
)

// Write measures the time from a saved post to its subscribers. Defaults are in brackets.
type Write struct {
	Common
	Subscribers int // number of rssCloud subscribers of the feed [1,000]
	Saves       int // number of measured saves of each kind [50]
	Posts       int // number of posts of the author with many posts [100,000]
}

// The password may be public, because only local processes can connect to the server.
const (
	writePassword = "correct horse battery"
	pageSaves     = 20   // maximum number of saves for the open page; its feed is read only once per second
	few           = 10   // number of posts of the author with few posts
	importFile    = 5000 // number of posts in one imported file
	writeTimeout  = 30 * time.Second
)

func (b Write) Run(ctx context.Context) (*Report, error) {
	b.Subscribers, b.Saves, b.Posts = orElse(b.Subscribers, 1000), orElse(b.Saves, 50), orElse(b.Posts, 100_000)
	if b.Subscribers < 1 || b.Saves < 1 || b.Posts < few {
		return nil, fmt.Errorf("write needs a subscriber, a save, and an author with %d posts", few)
	}
	b.Hosts = min(orElse(b.Hosts, 1000), b.Subscribers)
	s, err := openStage("write", b.Common, Plan{})
	if err != nil {
		return nil, err
	}
	s.option("subscribers", b.Subscribers)
	s.option("saves", b.Saves)
	s.option("posts", b.Posts)
	return s.end(b.run(ctx, s))
}

func (b Write) run(ctx context.Context, s *stage) error {
	s.ServerFlags = append([]string{"--river.host-interval", "0"}, s.ServerFlags...)
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	for _, name := range []string{"cloud", "watched", "few", "many", "bob"} {
		if _, err := s.server.api.AddUser(ctx, name, writePassword); err != nil {
			return err
		}
	}
	if err := b.notified(ctx, s); err != nil {
		return fmt.Errorf("save to the last subscriber: %w", err)
	}
	if err := b.watched(ctx, s); err != nil {
		return fmt.Errorf("save to an open page: %w", err)
	}
	if err := b.many(ctx, s); err != nil {
		return fmt.Errorf("an author with many posts: %w", err)
	}
	return nil
}

// save publishes a post for user. It returns the start and the duration of the request.
func (s *stage) save(ctx context.Context, user, text string) (begun time.Time, took time.Duration, err error) {
	begun = time.Now()
	_, err = s.server.api.CreatePost(ctx, user, client.PostChange{Source: &text}, "")
	return begun, time.Since(begun), err
}

func (s *stage) feedOf(user string) string {
	return "http://" + s.server.listen + "/" + user + "/rss.xml"
}

// notified measures the time from a save until the last of many subscribers is notified.
func (b Write) notified(ctx context.Context, s *stage) error {
	if _, _, err := s.save(ctx, "cloud", "The first."); err != nil {
		return err
	}
	of := func(i int) registration {
		return registration{feed: s.feedOf("cloud"), callback: s.receiver.callback(i, false)}
	}
	if err := s.register(ctx, ByImport, b.Subscribers, of); err != nil {
		return err
	}
	var first, last, answered []float64
	for i := range b.Saves + 1 { // the first save opens the connections and is not counted
		if _, err := s.server.settle(ctx); err != nil {
			return err
		}
		if err := s.receiver.reset(b.Subscribers); err != nil {
			return err
		}
		begun, took, err := s.save(ctx, "cloud", fmt.Sprintf("Post number %d, with notification.", i))
		if err != nil {
			return err
		}
		if err := s.receiver.wait(ctx, b.Subscribers, notifyTimeout, func(int) {}); err != nil {
			return err
		}
		a, err := s.receiver.arrivals(0, b.Subscribers, begun)
		if err != nil {
			return err
		}
		s.progress.Step("saves with notification", i, b.Saves)
		if i > 0 {
			first, last, answered = append(first, a.First*1e3), append(last, a.Last*1e3), append(answered, took.Seconds()*1e3)
		}
	}
	r := &s.report
	r.add("save → its answer, p50", Median(answered), "ms")
	r.add("save → first subscriber notified, p50", Median(first), "ms")
	r.add("save → last subscriber notified, p50", Median(last), "ms").target("≤", 150)
	r.add("save → last subscriber notified, p99", quantile(last, 0.99), "ms")
	return nil
}

// watched measures the time from a save until the open page of a user displays the post.
func (b Write) watched(ctx context.Context, s *stage) error {
	if _, _, err := s.save(ctx, "watched", "The first."); err != nil {
		return err
	}
	if _, err := s.server.api.River("bob").AddSource(ctx, client.SourceRequest{URL: s.feedOf("watched")}); err != nil {
		return err
	}
	cookie, err := signIn(ctx, s.server.listen, "bob", writePassword)
	if err != nil {
		return err
	}
	page, err := openLive(ctx, s.server.listen, cookie, 0)
	if err != nil {
		return err
	}
	defer page.Close()
	var took []float64
	for i := range min(b.Saves, pageSaves) + 1 {
		if err := pause(ctx, 1200*time.Millisecond); err != nil { // the aggregator reads a feed at most once per second
			return err
		}
		word := fmt.Sprintf("watched-post-%d.", i)
		begun, _, err := s.save(ctx, "watched", word)
		if err != nil {
			return err
		}
		at, err := page.until(word, writeTimeout)
		if err != nil {
			return err
		}
		s.progress.Step("saves that are watched", i, min(b.Saves, pageSaves))
		if i > 0 {
			took = append(took, at.Sub(begun).Seconds()*1e3)
		}
	}
	s.report.add("save → item on an open page, p50", Median(took), "ms").target("≤", 15)
	s.report.add("save → item on an open page, p99", quantile(took, 0.99), "ms")
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// many measures the import of posts, and the time of a save for an author with many posts.
func (b Write) many(ctx context.Context, s *stage) error {
	begun := time.Now()
	for from := 0; from < b.Posts; from += importFile {
		if err := s.takeIn(ctx, "many", from, min(from+importFile, b.Posts)); err != nil {
			return err
		}
		s.progress.Step("imported posts", min(from+importFile, b.Posts), b.Posts)
	}
	s.report.add("imported posts", float64(b.Posts)/time.Since(begun).Seconds(), "/s").note("files of %d posts", importFile)
	if err := s.takeIn(ctx, "few", 0, few); err != nil {
		return err
	}
	cost := map[string][]float64{}
	for i := range b.Saves + 1 {
		for _, user := range []string{"few", "many"} {
			_, took, err := s.save(ctx, user, fmt.Sprintf("Another one, number %d.", i))
			if err != nil {
				return err
			}
			if i > 0 {
				cost[user] = append(cost[user], took.Seconds()*1e3)
			}
		}
		s.progress.Step("saves of both", i, b.Saves)
	}
	r := &s.report
	r.add(fmt.Sprintf("a save, the author has %d posts, p50", few), Median(cost["few"]), "ms")
	r.add(fmt.Sprintf("a save, the author has %d posts, p50", b.Posts), Median(cost["many"]), "ms")
	r.add("a save with many posts ÷ with few", Median(cost["many"])/Median(cost["few"]), "").target("≤", 1.5)
	return nil
}

// takeIn imports a feed with the posts from ≤ i < to.
func (s *stage) takeIn(ctx context.Context, user string, from, to int) error {
	var doc strings.Builder
	doc.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Old posts</title><link>http://127.0.0.1/</link><description>x</description>`)
	first := time.Date(2001, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := to - 1; i >= from; i-- {
		fmt.Fprintf(&doc, `<item><description>Post number %d of %s, with the few words that a short post has.</description><guid isPermaLink="false">%s-%d</guid><category>Old</category><pubDate>%s</pubDate></item>`,
			i, user, user, i, first.Add(time.Duration(i)*time.Hour).Format(http.TimeFormat))
	}
	doc.WriteString("</channel></rss>")
	res, err := s.server.api.ImportUser(ctx, user, strings.NewReader(doc.String()), client.ImportUserOptions{})
	if err == nil && res.Added != to-from {
		err = fmt.Errorf("%d of %d posts were taken in: %q", res.Added, to-from, res.Problems)
	}
	return err
}
