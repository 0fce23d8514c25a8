package polling_test

import (
	"fmt"
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func Example() {
	now := time.Date(2026, 5, 4, 2, 20, 0, 0, time.UTC)
	s := polling.New("https://example.org/rss.xml", now)

	// The first request has no validators. Package feed parses the response:
	a := polling.Answer{
		Status: 200,
		Header: http.Header{"Etag": {`"v1"`}, "Cache-Control": {"max-age=43200"}},
		Hash:   "9f86d0",
	}
	a.Read(&feed.Feed{Hints: feed.Hints{TTL: "60", SkipHours: []string{"3", "4"}}}, nil)
	s, d := polling.Next(s, a, now, polling.Options{})
	fmt.Println(d.Outcome, "-", d)

	// Twelve hours later.
	now = s.NextAt
	fmt.Println(polling.Request(s).Header())
	s, d = polling.Next(s, polling.Answer{Status: 304}, now, polling.Options{})
	fmt.Println(d.Outcome, "-", d.Sentence(now))

	now = s.NextAt
	_, d = polling.Next(s, polling.Answer{Status: 410}, now, polling.Options{})
	fmt.Println(d.Outcome, "-", d)
	// Output:
	// changed - next check 14:20: max-age 12 h seen 02:20; ttl 60 and skipHours considered
	// map[If-None-Match:["v1"]]
	// unchanged - next check Tue 02:20: max-age 12 h seen 14:20; ttl 60 and skipHours considered
	// gone - no further check: 410 Gone
}

func ExampleUndo() {
	now := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	s := polling.New("https://a.example/rss.xml", now)
	a := polling.Answer{Status: 200, Hints: &feed.Hints{}, URL: "https://b.example/rss.xml",
		Hops: []polling.Hop{{Status: 301, From: "https://a.example/rss.xml", To: "https://b.example/rss.xml"}}}
	for range 3 {
		s, _ = polling.Next(s, a, now, polling.Options{})
		now = now.Add(12 * time.Hour)
	}
	fmt.Println(s.URL)
	s, _ = polling.Undo(s, now)
	fmt.Println(s.URL)
	// Output:
	// https://b.example/rss.xml
	// https://a.example/rss.xml
}
