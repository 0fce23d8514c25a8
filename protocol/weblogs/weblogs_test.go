package weblogs_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

const (
	site = "http://site.example/"
	page = "http://site.example/2007/01/13.html"
	rss  = "http://site.example/rss.xml"
)

// backend records its pings and returns the error of answer. If answer is nil, it accepts
// every ping.
type backend struct {
	answer func(weblogs.Ping) error

	mu    sync.Mutex
	pings []weblogs.Ping
	via   []weblogs.Interface
	from  []string
}

func (b *backend) Ping(ctx context.Context, via weblogs.Interface, p weblogs.Ping) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pings, b.via = append(b.pings, p), append(b.via, via)
	if r := weblogs.RequestFrom(ctx); r != nil {
		b.from = append(b.from, r.RemoteAddr)
	}
	if b.answer == nil {
		return nil
	}
	return b.answer(p)
}

func TestExtendedPingIsParsedByItsParameterCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		parse  func([]any) (weblogs.Ping, error)
		params []any
		want   weblogs.Ping
		wrong  string // expected part of the error message; "": no error is expected
	}{
		{"none", weblogs.ParsePing, nil, weblogs.Ping{}, "takes 2 to 4 parameters"},
		{"one", weblogs.ParsePing, []any{"Site"}, weblogs.Ping{}, "not 1"},
		{"simple", weblogs.ParsePing, []any{"Site", site}, weblogs.Ping{Name: "Site", URL: site}, ""},
		{"page", weblogs.ParsePing, []any{"Site", site, page}, weblogs.Ping{Name: "Site", URL: site, ChangesURL: page}, ""},
		{"category", weblogs.ParsePing, []any{"Site", site, page, "a| b |a||"}, weblogs.Ping{Name: "Site", URL: site, ChangesURL: page, Tags: []string{"a", "b"}}, ""},
		{"no port", weblogs.ParsePing, []any{"Site", "http://site.example:99999/"}, weblogs.Ping{}, "65535"},
		{"a port", weblogs.ParsePing, []any{"Site", "http://site.example:65535/"}, weblogs.Ping{Name: "Site", URL: "http://site.example:65535/"}, ""},
		{"too many", weblogs.ParsePing, []any{"Site", site, page, "a", "b"}, weblogs.Ping{}, "not 5"},
		{"extended, one", weblogs.ParseExtended, []any{"Site"}, weblogs.Ping{}, "takes 2 to 5 parameters"},
		{"extended, simple", weblogs.ParseExtended, []any{"Site", site}, weblogs.Ping{Name: "Site", URL: site}, ""},
		{"extended, feed third", weblogs.ParseExtended, []any{"Site", site, rss}, weblogs.Ping{Name: "Site", URL: site, FeedURL: rss}, ""},
		{"extended", weblogs.ParseExtended, []any{"Site", site, page, rss}, weblogs.Ping{Name: "Site", URL: site, ChangesURL: page, FeedURL: rss}, ""},
		{"extended with tags", weblogs.ParseExtended, []any{"Site", site, page, rss, "rss|opml"}, weblogs.Ping{Name: "Site", URL: site, ChangesURL: page, FeedURL: rss, Tags: []string{"rss", "opml"}}, ""},
		{"extended, too many", weblogs.ParseExtended, []any{"Site", site, page, rss, "a", "b"}, weblogs.Ping{}, "not 6"},
		{"space around", weblogs.ParsePing, []any{"  A\r\n\tsite ", " " + site + "\n"}, weblogs.Ping{Name: "A site", URL: site}, ""},
		{"a number for a name", weblogs.ParsePing, []any{int64(1984), site}, weblogs.Ping{Name: "1984", URL: site}, ""},
		{"no name", weblogs.ParsePing, []any{"", site}, weblogs.Ping{URL: site}, ""},
		{"empty ones are absent", weblogs.ParseExtended, []any{"Site", site, "", nil, ""}, weblogs.Ping{Name: "Site", URL: site}, ""},
		{"longest name", weblogs.ParsePing, []any{strings.Repeat("ü", 1024), site}, weblogs.Ping{Name: strings.Repeat("ü", 1024), URL: site}, ""},
		{"name too long", weblogs.ParsePing, []any{strings.Repeat("ü", 1025), site}, weblogs.Ping{}, "1025 characters"},
		{"longest url", weblogs.ParsePing, []any{"", site + strings.Repeat("a", 255-len(site))}, weblogs.Ping{URL: site + strings.Repeat("a", 255-len(site))}, ""},
		{"url too long", weblogs.ParsePing, []any{"", site + strings.Repeat("a", 256-len(site))}, weblogs.Ping{}, "more than 255 characters"},
		{"no url", weblogs.ParsePing, []any{"Site", " "}, weblogs.Ping{}, "url is missing"},
		{"script", weblogs.ParsePing, []any{"Site", "javascript:alert(1)"}, weblogs.Ping{}, "must begin with http"},
		{"script for a feed", weblogs.ParseExtended, []any{"Site", site, "javascript:alert(1)"}, weblogs.Ping{}, "must begin with http"},
		{"script for a page", weblogs.ParseExtended, []any{"Site", site, "data:text/html,x", rss}, weblogs.Ping{}, "must begin with http"},
		{"no host", weblogs.ParsePing, []any{"Site", "http:///x"}, weblogs.Ping{}, "no host"},
		{"a user name", weblogs.ParsePing, []any{"Site", "http://me:secret@site.example/"}, weblogs.Ping{}, "user name"},
		{"a space", weblogs.ParsePing, []any{"Site", "http://site.example/a b"}, weblogs.Ping{}, "space"},
		{"a control character", weblogs.ParsePing, []any{"Si\x01te", site}, weblogs.Ping{}, "invalid characters"},
		{"one in a url", weblogs.ParsePing, []any{"Site", site + "\x7f"}, weblogs.Ping{}, "control character"},
		{"not UTF-8", weblogs.ParsePing, []any{"Site", site + "\xff"}, weblogs.Ping{}, "not UTF-8"},
		{"a list for a url", weblogs.ParsePing, []any{"Site", []any{site}}, weblogs.Ping{}, "not a string"},
		{"a struct for a name", weblogs.ParsePing, []any{map[string]any{}, site}, weblogs.Ping{}, "not a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := c.parse(c.params)
			if c.wrong != "" {
				if f, ok := errors.AsType[*weblogs.FieldError](err); !ok || !strings.Contains(f.Msg, c.wrong) || strings.Contains(f.Msg, "secret") {
					t.Errorf("%v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(c.want, p); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNumberOfPingTagsIsLimited(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, strings.Repeat("x", i+1))
	}
	if got := weblogs.ParseTags(strings.Join(many, "|")); len(got) != weblogs.MaxTags {
		t.Errorf("%d tags", len(got))
	}
	if got := weblogs.ParseTags(strings.Repeat("x", 101) + "|short"); !cmp.Equal(got, []string{"short"}) {
		t.Errorf("%q", got)
	}
}

func TestMissingTitleIsReplacedByTheHost(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]weblogs.Ping{
		"Site":              {Name: "Site", URL: site},
		"site.example":      {URL: site},
		"site.example:8080": {URL: "http://site.example:8080/x"},
	} {
		if got := p.Title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRefusedPingIsAnsweredWithResultInsteadOfFault(t *testing.T) {
	t.Parallel()
	b := &backend{answer: func(p weblogs.Ping) error {
		switch p.Name {
		case "limit":
			return &weblogs.Error{Status: 429, Msg: "Too many pings."}
		case "away":
			return &weblogs.Error{Status: 503, Msg: "The store is away."}
		case "bug":
			return errors.New("secret detail")
		}
		return nil
	}}
	srv := httptest.NewServer(&xmlrpc.Handler{Methods: weblogs.Methods(b)})
	defer srv.Close()
	c := weblogs.Client{}
	for name, want := range map[string]weblogs.Result{
		"Site":  {Message: "Thanks for the ping."},
		"limit": {Err: true, Message: "Too many pings."},
		"away":  {Err: true, Message: "The store is away."},
		"bug":   {Err: true, Message: "Something went wrong on this server. Please try again later."},
	} {
		p := weblogs.Ping{Name: name, URL: site, FeedURL: rss, Tags: []string{"a", "b"}}
		for method, call := range map[string]func(context.Context, string, weblogs.Ping) (weblogs.Result, error){"ping": c.Ping, "extended": c.ExtendedPing} {
			got, err := call(t.Context(), srv.URL, p)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%s %s: %v\n%s", method, name, err, d)
			}
		}
	}
	// Invalid parameters do not cause a fault either.
	rpc := &xmlrpc.Client{URL: srv.URL}
	for _, method := range []string{weblogs.MethodPing, weblogs.MethodExtendedPing} {
		v, err := rpc.Call(t.Context(), method, "only one")
		r, perr := weblogs.ParseResult(v)
		if err != nil || perr != nil || !r.Err {
			t.Errorf("%v, %v: %+v", err, perr, r)
		}
	}
	if len(b.from) != 8 || len(b.from) != len(b.pings) {
		t.Errorf("%d of %d pings have their request", len(b.from), len(b.pings))
	}
}

func TestServerReceivesPingOfClient(t *testing.T) {
	t.Parallel()
	b := &backend{}
	srv := httptest.NewServer(&xmlrpc.Handler{Methods: weblogs.Methods(b)})
	defer srv.Close()
	c := weblogs.Client{UserAgent: "test/1"}
	full := weblogs.Ping{Name: "Grün & <Co>", URL: site, ChangesURL: page, FeedURL: rss, Tags: []string{"rss", "opml & more"}}
	for _, p := range []weblogs.Ping{{Name: "Site", URL: site}, {URL: site, ChangesURL: page}, full} {
		if _, err := c.Ping(t.Context(), srv.URL, p); err != nil {
			t.Fatal(err)
		}
		want := p
		want.FeedURL = "" // a simple ping cannot contain the feed
		if got := b.pings[len(b.pings)-1]; !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
	}
	if _, err := c.ExtendedPing(t.Context(), srv.URL, full); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(full, b.pings[len(b.pings)-1]); d != "" {
		t.Error(d)
	}
	if _, err := c.ExtendedPing(t.Context(), srv.URL, weblogs.Ping{URL: site}); err == nil {
		t.Error("an extended ping without a feed was sent")
	}
	if _, err := c.Ping(t.Context(), srv.URL, weblogs.Ping{URL: "mailto:x"}); err == nil {
		t.Error("an invalid ping was sent")
	}
	if d := cmp.Diff([]weblogs.Interface{weblogs.InterfacePing, weblogs.InterfacePing, weblogs.InterfacePing, weblogs.InterfaceExtended}, b.via); d != "" {
		t.Error(d)
	}
}
