package audience_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cloudburst/internal/audience"
)

func TestUserAgentsAreParsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ua   string
		want audience.Agent
	}{
		{"kb.Rmail (http://www.r-mail.org; 500 subscribers)", audience.Agent{Name: "kb.Rmail", Kind: audience.Service, Subscribers: 500}},
		{"Feedfetcher-Google; (+http://www.google.com/feedfetcher.html; 24 subscribers; feed-id=1794595805790851116)",
			audience.Agent{Name: "Feedfetcher-Google", Kind: audience.Service, Subscribers: 24, FeedID: "1794595805790851116"}},
		{"Feedly/1.0 (+http://www.feedly.com/fetcher.html; 16 subscribers; like FeedFetcher-Google)",
			audience.Agent{Name: "Feedly", Kind: audience.Service, Subscribers: 16}},
		{"Feedbin feed-id:1373711 - 142 subscribers", audience.Agent{Name: "Feedbin", Kind: audience.Service, Subscribers: 142, FeedID: "1373711"}},
		{"NewsBlur Feed Fetcher - 12 subscribers - https://www.newsblur.com/site/1234567/a-feed (Mozilla/5.0 (Macintosh; Intel Mac OS X 10_12_3) AppleWebKit/537.36 Chrome/56 Safari/537.36)",
			audience.Agent{Name: "NewsBlur Feed Fetcher", Kind: audience.Service, Subscribers: 12}},
		{"Mozilla/5.0 (compatible; theoldreader.com; 17 subscribers; feed-id=5b9d0f)",
			audience.Agent{Name: "theoldreader.com", Kind: audience.Service, Subscribers: 17, FeedID: "5b9d0f"}},
		{"Mozilla/5.0 (compatible; inoreader.com; 1 subscriber)", audience.Agent{Name: "inoreader.com", Kind: audience.Service, Subscribers: 1}},
		{"Bloglines/3.1 (http://www.bloglines.com; 1,204 subscribers)", audience.Agent{Name: "Bloglines", Kind: audience.Service, Subscribers: 1204}},
		{"Netvibes (http://www.netvibes.com/; 5 subscribers; feedID: 1234567)", audience.Agent{Name: "Netvibes", Kind: audience.Service, Subscribers: 5, FeedID: "1234567"}},
		{"YahooFeedSeeker/2.0 (compatible; Mozilla 4.0; MSIE 5.5; http://publisher.yahoo.com/rssguide; users 12; views 340)",
			audience.Agent{Name: "YahooFeedSeeker", Kind: audience.Service, Subscribers: 12}},
		{"BazQux/2.4 (+https://bazqux.com/fetcher; 3 subscribers)", audience.Agent{Name: "BazQux", Kind: audience.Service, Subscribers: 3}},
		{"Fetcher/2 (subscribers=7)", audience.Agent{Name: "Fetcher", Kind: audience.Service, Subscribers: 7}},
		{"Fetcher/2 (Subscribers: 7)", audience.Agent{Name: "Fetcher", Kind: audience.Service, Subscribers: 7}},
		{"Fetcher/2 (7 subscriber(s))", audience.Agent{Name: "Fetcher", Kind: audience.Service, Subscribers: 7}},
		{"Fetcher/2 (7 readers)", audience.Agent{Name: "Fetcher", Kind: audience.Service, Subscribers: 7}},
		{"Fetcher/2 (0 subscribers)", audience.Agent{Name: "Fetcher", Kind: audience.Service}},
		{"Fetcher/2.5 subscribers", audience.Agent{Name: "Fetcher", Kind: audience.Program}},
		{"Fetcher/2 (99999999999999999999 subscribers)", audience.Agent{Name: "Fetcher", Kind: audience.Program}},
		{"Fetcher/2 (many subscribers; 3 hosts)", audience.Agent{Name: "Fetcher", Kind: audience.Program}},
		{"Sage RSS Reader 1.3", audience.Agent{Name: "Sage RSS Reader", Kind: audience.Program}},
		{"NetNewsWire (RSS Reader; https://netnewswire.com/)", audience.Agent{Name: "NetNewsWire", Kind: audience.Program}},
		{"Miniflux/2.2.0", audience.Agent{Name: "Miniflux", Kind: audience.Program}},
		{"curl/8.14.1", audience.Agent{Name: "curl", Kind: audience.Program}},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.5.0", audience.Agent{Name: "Thunderbird", Kind: audience.Program}},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", audience.Agent{Name: "Firefox", Kind: audience.Browser}},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", audience.Agent{Name: "Googlebot", Kind: audience.Robot}},
		{"FeedValidator/1.3", audience.Agent{Name: "FeedValidator", Kind: audience.Robot}},
		{"Superfeedr bot/2.0 http://superfeedr.com - Make your feeds realtime: get in touch - feed-id:4711", audience.Agent{Name: "Superfeedr bot", Kind: audience.Program}},
		{"", audience.Agent{Kind: audience.Program}},
		{"\x01\xff(", audience.Agent{Kind: audience.Program}},
	} {
		if got := audience.ParseAgent(c.ua); got != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.ua, got, c.want)
		}
	}
}

func FuzzParseAgent(f *testing.F) {
	f.Add("Feedbin feed-id:1373711 - 142 subscribers")
	f.Add("Mozilla/5.0 (compatible; x; 1,2 subscribers=; feedid")
	f.Fuzz(func(t *testing.T, ua string) {
		a := audience.ParseAgent(ua)
		if a.Subscribers < 0 || a.Subscribers > 50_000_000 || len(a.Name) > 60 || len(a.FeedID) > 60 || !utf8.ValidString(a.Name+a.FeedID) {
			t.Fatalf("%q: %+v", ua, a)
		}
		if strings.ContainsAny(a.Name, "\x00\n\r") {
			t.Fatalf("%q: the name is %q", ua, a.Name)
		}
	})
}
