package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/doctor"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

func TestValidFeedHasNoFindings(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	r := s.examine(t, nil, "/rss.xml")
	if diff := cmp.Diff([]string{}, found(r)); diff != "" {
		t.Errorf("findings (-want +got):\n%s%v", diff, r.Checks)
	}
	var ids []string
	for _, c := range r.Checks {
		ids = append(ids, c.ID)
		if c.Fix != "" || c.Text == "" || c.Subject == "" {
			t.Errorf("an ok has a text and nothing to do: %+v", c)
		}
	}
	want := strings.Fields(`feed-read feed-time feed-format feed-type feed-compression feed-valid same-bytes item-id
		cache-age validators conditional-etag conditional-modified conditional-both
		cloud cloud-door websub-hub websub-self websub-door page-alternate ping-rsscloud ping-websub`)
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if r.URL != s.url+"/rss.xml" || r.Problems != 0 || r.Warnings != 0 {
		t.Errorf("%+v", r)
	}
	if n := len(s.requests()); n > 15 {
		t.Errorf("%d requests: %v", n, s.requests())
	}
	if diff := cmp.Diff([]string{s.url + "/rss.xml"}, s.cloud.pings); diff != "" {
		t.Errorf("pings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{s.url + "/rss.xml"}, s.hub.news); diff != "" {
		t.Errorf("news (-want +got):\n%s", diff)
	}
	if s.cloud.registered != 0 || s.hub.registered != 0 {
		t.Error("looking registered somebody")
	}
}

// header serves the good feed with a changed header.
func header(change func(http.Header)) func(*site) {
	return func(s *site) {
		s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
			s.good(late{w, change}, r)
		}
	}
}

// late changes the header just before the response is sent.
type late struct {
	http.ResponseWriter
	change func(http.Header)
}

func (l late) WriteHeader(status int) {
	l.change(l.Header())
	l.ResponseWriter.WriteHeader(status)
}

// bare serves the body with only the given header fields.
func bare(fields ...string) func(*site) {
	return func(s *site) {
		s.serve = func(s *site, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/rss+xml")
			for i := 0; i+1 < len(fields); i += 2 {
				w.Header().Set(fields[i], fields[i+1])
			}
			fmt.Fprint(w, s.text(s.body))
		}
	}
}

func body(text string) func(*site) { return func(s *site) { s.body = text } }

func answer(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}
}

func moved(path string, status int, to string) func(*site) {
	return func(s *site) {
		s.paths[path] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.text(to), status) }
	}
}

func all(changes ...func(*site)) func(*site) {
	return func(s *site) {
		for _, c := range changes {
			c(s)
		}
	}
}

// wrong is a site with a mistake of its publisher, and the expected findings.
type wrong struct {
	site func(*site)
	path string // path of the document; "": /rss.xml
	want []string
	says string // part of the text or fix of the first finding in want
}

func check(t *testing.T, table map[string]wrong) {
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.site)
			path := c.path
			if path == "" {
				path = "/rss.xml"
			}
			r := s.examine(t, nil, path)
			if diff := cmp.Diff(c.want, found(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\nof %+v", diff, r.Checks)
			}
			if len(c.want) > 0 {
				id, _, _ := strings.Cut(c.want[0], " ")
				if text := textOf(r, id); !strings.Contains(text, s.text(c.says)) {
					t.Errorf("%s says %q, want %q in it", id, text, s.text(c.says))
				}
			}
			for _, c := range r.Checks {
				if c.Level == doctor.Problem && c.Fix == "" {
					t.Errorf("nothing to do about %+v", c)
				}
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFetchProblemsAreReported(t *testing.T) {
	t.Parallel()
	check(t, map[string]wrong{
		"no feed":          {path: "/rss.xml", site: func(s *site) { s.paths["/rss.xml"] = answer(404, "") }, want: []string{"feed-read problem"}, says: "404 Not Found"},
		"forbidden":        {site: func(s *site) { s.paths["/rss.xml"] = answer(403, "") }, want: []string{"feed-read problem"}, says: "does not let programs in"},
		"empty":            {site: func(s *site) { s.paths["/rss.xml"] = answer(200, "\n") }, want: []string{"feed-read problem"}, says: "without a document"},
		"another document": {site: body(`<opml version="2.0"/>`), want: []string{"feed-format problem"}, says: "list of feeds"},
		"broken off": {site: func(s *site) {
			s.paths["/rss.xml"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				fmt.Fprint(w, "<rss>")
			}
		}, want: []string{"feed-read problem"}, says: "ended early"},
		"falsely compressed": {site: func(s *site) {
			s.paths["/rss.xml"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				fmt.Fprint(w, "<rss>this is not packed")
			}
		}, want: []string{"feed-read problem"}, says: "gzip"},
		"compressed in an unexpected way": {site: bare("Content-Encoding", "br"), want: []string{"feed-read problem"}, says: `"br"`},
		"redirected permanently":          {path: "/old", site: moved("/old", 301, "BASE/rss.xml"), want: []string{"redirect note"}, says: "permanently (301)"},
		"redirected temporarily":          {path: "/old", site: moved("/old", 302, "BASE/rss.xml"), want: []string{"redirect note"}, says: "two requests each time"},
		"redirected twice": {path: "/older", site: all(moved("/older", 301, "/old"), moved("/old", 301, "BASE/rss.xml")),
			want: []string{"redirect note", "redirect note", "redirect-chain warning"}, says: "BASE/older"},
		"redirected for ever": {path: "/old", site: moved("/old", 301, "/old"),
			want: []string{"redirect note", "redirect note", "redirect note", "redirect note", "redirect note", "redirect-chain warning", "feed-read problem"}, says: "BASE/old"},
		"redirected to nowhere": {path: "/old", site: moved("/old", 301, "ftp://a.example/"), want: []string{"feed-read problem"}, says: "not a URL to fetch"},
		"served as a page":      {site: header(func(h http.Header) { h.Set("Content-Type", "text/html; charset=utf-8") }), want: []string{"feed-type warning"}, says: "application/rss+xml"},
		"served as Atom":        {site: header(func(h http.Header) { h.Set("Content-Type", "application/atom+xml") }), want: []string{"feed-type note"}, says: "another kind of feed"},
		"not compressed": {site: all(body(rss(cloudElement+hubLink+selfLink, strings.ReplaceAll(goodItems, "</title>", strings.Repeat(" wave", 2000)+"</title>"))), bare("ETag", `"x"`)),
			want: []string{"feed-compression note", "conditional-etag warning"}, says: "gzip"},
		"too large for hubs": {site: body(rss(cloudElement+hubLink+selfLink, strings.ReplaceAll(goodItems, "</title>", strings.Repeat(" wave", 200000)+"</title>"))),
			want: []string{"feed-size warning"}, says: "1 MiB"},
		"too large for all": {site: body(rss(cloudElement+hubLink+selfLink, goodItems+strings.Repeat("<!-- tide -->\n", 400000))),
			want: []string{"feed-size problem", "feed-valid warning"}, says: "5 MiB"},
		"in need of repair": {site: body(strings.ReplaceAll(goodFeed(), "Harbour notes", "Harbour & notes")), want: []string{"feed-valid warning"}, says: "cloudburst validate 'BASE/rss.xml'"},
		"moved by a redirect document": {site: body(`<redirect><newLocation>http://a.example/rss.xml</newLocation></redirect>`),
			want: []string{"feed-moved warning", "items note", "websub-hub problem", "page note"}, says: "http://a.example/rss.xml"},
		"not the same twice": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				text := rss(fmt.Sprintf("<lastBuildDate>%s</lastBuildDate>", time.Unix(int64(s.read()), 0).UTC().Format(time.RFC1123))+cloudElement+hubLink+selfLink, goodItems)
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, s.text(text))
			}
		}, want: []string{"same-bytes warning", "validators warning"}, says: `rss/channel/lastBuildDate was "Thu, 01 Jan 1970 00:00:01 UTC" and is "Thu, 01 Jan 1970 00:00:02 UTC".`},
		"not the same comment twice": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprintf(w, "%s<!-- made in %d ms -->", s.text(s.body), s.read())
			}
		}, want: []string{"same-bytes warning", "validators warning"}, says: `They differ in line 8`},
		"changed meanwhile": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, s.text(strings.ReplaceAll(s.body, "BASE/2", fmt.Sprint("BASE/2/", min(s.read(), 2)))))
			}
		}, want: []string{"same-bytes note", "validators warning"}, says: "items changed"},
		"gone a moment later": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				if s.read() > 1 {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, s.text(s.body))
			}
		}, want: []string{"feed-again warning", "validators warning"}, says: "429 Too Many Requests"},
		"a page with a feed": {path: "/", want: []string{}},
		"a page without one": {path: "/", site: func(s *site) { s.page = "<html><title>T</title><a href=/feed>feed</a></html>" }, want: []string{"feed-found problem"}, says: `<link rel="alternate"`},
	})
}

func TestItemProblemsAreReported(t *testing.T) {
	t.Parallel()
	head := cloudElement + hubLink + selfLink
	check(t, map[string]wrong{
		"none":       {site: body(rss(head, "")), want: []string{"items note"}},
		"without id": {site: body(rss(head, strings.ReplaceAll(goodItems, "<guid>BASE/1</guid>", ""))), want: []string{"item-id warning"}, says: "1 of 2 items has no <guid>"},
		"the same id twice": {site: body(rss(head, strings.ReplaceAll(goodItems, "<guid>BASE/1</guid>", "<guid>BASE/2</guid>"))),
			want: []string{"feed-valid warning", "item-id-unique warning"}, says: "duplicate"},
		"no link": {site: body(rss(head, `<item><title>x</title><guid isPermaLink="false">x</guid><pubDate>Mon, 04 May 2026 10:00:00 GMT</pubDate></item>`)), want: []string{"item-link note"}, says: "The only item has no URL"},
	})
}

func TestCachingProblemsAreReported(t *testing.T) {
	t.Parallel()
	check(t, map[string]wrong{
		"no validator":                    {site: bare(), want: []string{"validators warning"}, says: "neither ETag nor Last-Modified"},
		"an ETag that does nothing":       {site: bare("ETag", `"x"`), want: []string{"conditional-etag warning"}, says: "same feed again"},
		"an ETag of Apache":               {site: bare("ETag", `"x-gzip"`), want: []string{"conditional-etag warning"}, says: "RequestHeader edit"},
		"an ETag without quotes":          {site: bare("ETag", `x`), want: []string{"etag-form warning", "conditional-etag warning"}, says: `ETag: "x"`},
		"a Last-Modified of no use":       {site: bare("Last-Modified", "Mon, 04 May 2026 12:00:00 GMT"), want: []string{"conditional-modified warning"}},
		"an invalid Last-Modified":        {site: bare("Last-Modified", "yesterday"), want: []string{"modified-form warning", "conditional-modified warning"}, says: "yesterday"},
		"a Last-Modified in the future":   {site: bare("Last-Modified", "Mon, 04 May 2099 12:00:00 GMT"), want: []string{"modified-form warning", "conditional-modified warning"}, says: "in the future"},
		"half an answer to the condition": {site: header(func(h http.Header) {}), want: []string{}},
		"another ETag each time": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", fmt.Sprintf(`"%d"`, s.read()))
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, s.text(s.body))
			}
		}, want: []string{"etag-stable warning", "conditional-etag warning"}, says: `("\"1\"", then "\"2\"")`},
		"another Last-Modified each time": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Last-Modified", time.Unix(int64(s.read()), 0).UTC().Format(http.TimeFormat))
				w.Header().Set("Content-Type", "application/rss+xml")
				fmt.Fprint(w, s.text(s.body))
			}
		}, want: []string{"modified-stable warning", "conditional-modified warning"}, says: "time of the request"},
		"another ETag compressed": {site: header(func(h http.Header) {
			if h.Get("Content-Encoding") != "" {
				h.Set("ETag", `"gz"`)
			}
		}), want: []string{"etag-coding note", "conditional-etag warning", "conditional-both warning"}, says: "That is allowed"},
		"refusing conditions": {site: func(s *site) {
			s.serve = func(s *site, w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusPreconditionFailed)
					return
				}
				s.good(w, r)
			}
		}, want: []string{"conditional-etag warning", "conditional-both warning"}, says: "412"},
		"cached for an hour": {site: header(func(h http.Header) { h.Set("Cache-Control", "max-age=3600") }), want: []string{"cache-age note"}, says: "60 minutes (max-age)"},
		"cached by Expires":  {site: header(func(h http.Header) { h.Set("Expires", "Mon, 04 May 2099 12:00:00 GMT") }), want: []string{"cache-age note"}, says: "(expires)"},
		"kept for a minute":  {site: header(func(h http.Header) { h.Set("Cache-Control", "max-age=60") }), want: []string{}},
		"from a cache":       {site: header(func(h http.Header) { h.Set("Age", "42") }), want: []string{"cache-age note"}, says: "42 seconds"},
		"never cached":       {site: header(func(h http.Header) { h.Set("Cache-Control", "no-store") }), want: []string{"cache-age note"}, says: "no-cache"},
		"an invalid max-age": {site: header(func(h http.Header) { h.Set("Cache-Control", "max-age=soon") }), want: []string{"cache-form warning"}, says: `"soon"`},
		"one for each agent": {site: header(func(h http.Header) { h.Set("Vary", "User-Agent") }), want: []string{"vary note"}, says: "depends on the client"},
		"no Vary":            {site: header(func(h http.Header) { h.Del("Vary") }), want: []string{"vary note"}, says: "Vary: Accept-Encoding"},
		"Vary for all":       {site: header(func(h http.Header) { h.Set("Vary", "*") }), want: []string{"vary note"}, says: "no cache helps"},
	})
}

func TestCloudProblemsAreReported(t *testing.T) {
	t.Parallel()
	with := func(element string) func(*site) { return body(rss(element+hubLink+selfLink, goodItems)) }
	check(t, map[string]wrong{
		"none, but a WebSub hub": {site: with(""), want: []string{"cloud note"}, says: `<cloud domain="hub.example.org" port="5337" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post" />`},
		"none at all":            {site: body(rss(selfLink, goodItems)), want: []string{"cloud problem", "websub-hub note"}, says: "nobody can subscribe"},
		"source:cloud alone":     {site: body(rss(selfLink+"<source:cloud>BASE/rsscloud/pleaseNotify</source:cloud>", goodItems)), want: []string{"cloud note", "websub-hub note"}},
		"a bad source:cloud":     {site: with(cloudElement + "<source:cloud>ftp://hub</source:cloud>"), want: []string{"source-cloud warning"}, says: "ftp://hub"},
		"an unknown protocol":    {site: with(strings.ReplaceAll(cloudElement, "http-post", "HTTP-POST")), want: []string{"cloud problem"}, says: `protocol="http-post"`},
		"no path":                {site: with(`<cloud domain="HOST" port="PORT" registerProcedure="" protocol="http-post"/>`), want: []string{"cloud-attributes warning", "cloud-door problem", "ping-rsscloud note"}, says: "path is missing"},
		"an invalid port":        {site: with(strings.ReplaceAll(cloudElement, "PORT", "http")), want: []string{"cloud problem"}, says: "port"},
		"no domain":              {site: with(strings.ReplaceAll(cloudElement, "HOST", "")), want: []string{"cloud-attributes warning"}, says: "feed's own host"},
		"a URL for a domain":     {site: with(strings.ReplaceAll(cloudElement, "HOST", "http://HOST")), want: []string{"cloud-attributes warning"}, says: "must be a host name"},
		"no slash":               {site: with(strings.ReplaceAll(cloudElement, "/rsscloud", "rsscloud")), want: []string{"cloud-attributes warning"}, says: "slash"},
		"several":                {site: with(cloudElement + strings.ReplaceAll(cloudElement, "/rsscloud/", "/")), want: []string{"cloud-several note"}, says: "2 <cloud>"},
		"nobody there": {site: with(strings.ReplaceAll(cloudElement, "PORT", closedPort(t))),
			want: []string{"cloud-door problem", "ping-rsscloud problem"}, says: "refused"},
		"no hub there":       {site: with(strings.ReplaceAll(cloudElement, "/rsscloud/", "/elsewhere/")), want: []string{"cloud-door problem", "ping-rsscloud problem"}, says: "404 Not Found"},
		"a page there":       {site: func(s *site) { s.paths["/rsscloud/pleaseNotify"] = answer(200, "<html>Hello</html>") }, want: []string{"cloud-door problem"}, says: "returns a page"},
		"some text there":    {site: func(s *site) { s.paths["/rsscloud/pleaseNotify"] = answer(200, "hello") }, want: []string{"cloud-door warning"}, says: "does not respond like an rssCloud hub"},
		"a hub that fails":   {site: func(s *site) { s.paths["/rsscloud/pleaseNotify"] = answer(500, "") }, want: []string{"cloud-door problem"}, says: "500"},
		"a hub that moved":   {site: moved("/rsscloud/pleaseNotify", 301, "/pleaseNotify"), want: []string{"cloud-door problem"}, says: "redirects"},
		"a hub that is busy": {site: func(s *site) { s.paths["/rsscloud/pleaseNotify"] = answer(429, "") }, want: []string{"cloud-door note"}, says: "too many requests"},
		"by xml-rpc": {site: all(with(`<cloud domain="HOST" port="PORT" path="/RPC2" registerProcedure="rssCloud.pleaseNotify" protocol="xml-rpc"/>`),
			func(s *site) {
				s.paths["/RPC2"] = answer(200, `<?xml version="1.0"?><methodResponse><params><param><value><boolean>1</boolean></value></param></params></methodResponse>`)
			}), want: []string{}},
		"by xml-rpc, without a procedure": {site: all(with(`<cloud domain="HOST" port="PORT" path="/RPC2" protocol="xml-rpc"/>`),
			func(s *site) {
				s.paths["/RPC2"] = answer(200, `<?xml version="1.0"?><methodResponse><params><param><value><boolean>1</boolean></value></param></params></methodResponse>`)
			}), want: []string{"cloud-attributes warning"}, says: `registerProcedure="rssCloud.pleaseNotify"`},
		"by xml-rpc, nobody there": {site: with(`<cloud domain="HOST" port="PORT" path="/RPC2" registerProcedure="x" protocol="xml-rpc"/>`),
			want: []string{"cloud-door problem", "ping-rsscloud problem"}, says: "404"},
		"a ping refused": {site: func(s *site) { s.cloud.answer = &rsscloud.Result{Msg: "Who are you?"} }, want: []string{"ping-rsscloud problem"}, says: `"Who are you?"`},
		"a ping too early": {site: func(s *site) {
			s.cloud.refuse = &rsscloud.Error{Status: 429, Msg: "Wait.", RetryAfter: time.Minute}
		}, want: []string{"ping-rsscloud warning"}, says: "60 seconds"},
	})
}

func TestWebSubProblemsAreReported(t *testing.T) {
	t.Parallel()
	with := func(links string) func(*site) { return body(rss(cloudElement+links, goodItems)) }
	accented := func(self string) func(*site) {
		return func(s *site) {
			s.body = rss(cloudElement+hubLink+`<atom:link rel="self" href="BASE`+self+`"/>`, goodItems)
			s.paths["/café.xml"] = func(w http.ResponseWriter, r *http.Request) { s.good(w, r) }
			s.page = strings.ReplaceAll(s.page, "/rss.xml", "/café.xml")
		}
	}
	check(t, map[string]wrong{
		"a letter that URLs escape": {path: "/café.xml", site: accented("/café.xml"), want: []string{}},
		"a self with the escape":    {path: "/café.xml", site: accented("/caf%C3%A9.xml"), want: []string{}},
		"a self without the escape": {path: "/caf%c3%a9.xml", site: accented("/café.xml"), want: []string{}},
		"none":                      {site: with(selfLink), want: []string{"websub-hub note"}, says: `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub"`},
		"in the header only": {site: all(with(""), func(s *site) {
			s.links = []string{`<BASE/websub>; rel="hub"`, `<BASE/rss.xml>; rel="self"`}
		}), want: []string{}},
		"another in the header": {site: func(s *site) {
			s.links = []string{`<BASE/other>; rel="hub"`, `<BASE/rss.xml>; rel="self"`}
			s.paths["/other"] = answer(400, "")
		}, want: []string{"websub-hub warning", "ping-websub problem"}, says: "BASE/other"},
		"another self in the header": {site: func(s *site) { s.links = []string{`<BASE/rss.xml?1>; rel="self"`} },
			want: []string{"websub-self-agree warning", "websub-self note"}, says: "in the header and"},
		"no self":                    {site: with(hubLink), want: []string{"websub-self problem"}, says: `rel="self" type="application/rss+xml" href="BASE/rss.xml"/>`},
		"a relative self":            {site: with(hubLink + `<atom:link rel="self" href="rss.xml"/>`), want: []string{"websub-self-form warning"}, says: "BASE/rss.xml"},
		"a self of another scheme":   {site: with(hubLink + `<atom:link rel="self" href="mailto:a@b.example"/>`), want: []string{"websub-self problem"}, says: "not a URL to fetch"},
		"two selves":                 {site: with(hubLink + selfLink + `<atom:link rel="self" href="BASE/rss.xml?2"/>`), want: []string{"websub-self-agree warning", "websub-self note"}, says: "2 self URLs"},
		"another self":               {site: with(hubLink + `<atom:link rel="self" href="BASE/rss.xml?2"/>`), want: []string{"websub-self note"}, says: "ping the hub with it"},
		"a self elsewhere":           {site: all(with(hubLink+`<atom:link rel="self" href="BASE/x"/>`), func(s *site) { s.paths["/x"] = answer(200, "else") }), want: []string{"websub-self warning"}, says: "a different document"},
		"a missing self":             {site: with(hubLink + `<atom:link rel="self" href="BASE/x"/>`), want: []string{"websub-self problem"}, says: "404"},
		"a self nowhere, and no hub": {site: with(`<atom:link rel="self" href="BASE/x"/>`), want: []string{"websub-hub note", "websub-self warning"}},
		"no hub there":               {site: with(`<atom:link rel="hub" href="BASE/x"/>` + selfLink), want: []string{"websub-door problem", "ping-websub problem"}, says: "404"},
		"a hub of no URL":            {site: with(`<atom:link rel="hub" href="mailto:hub@b.example"/>` + selfLink), want: []string{"websub-door problem"}, says: "not a URL for requests"},
		"a page there":               {site: func(s *site) { s.paths["/websub"] = answer(200, "hello") }, want: []string{"websub-door warning"}, says: "empty request"},
		"a real page there":          {site: func(s *site) { s.paths["/websub"] = answer(200, "<!doctype html><title>Hello</title>") }, want: []string{"websub-door problem"}, says: "returns a page"},
		"a hub that fails":           {site: func(s *site) { s.paths["/websub"] = answer(503, "") }, want: []string{"websub-door problem", "ping-websub problem"}, says: "503"},
		"a hub that moved":           {site: moved("/websub", 307, "/other"), want: []string{"websub-door warning", "ping-websub problem"}, says: "redirects"},
		"a hub that refuses": {site: func(s *site) {
			s.hub.refuse = &websub.Error{Status: 403, Msg: "Not your feed."}
		}, want: []string{"ping-websub problem"}, says: "Not your feed."},
	})
}

func TestHomePageProblemsAreReported(t *testing.T) {
	t.Parallel()
	page := func(text string) func(*site) { return func(s *site) { s.page = text } }
	check(t, map[string]wrong{
		"no link":         {site: page("<html><title>T</title></html>"), want: []string{"page-alternate warning"}, says: `<link rel="alternate" type="application/rss+xml" href="BASE/rss.xml">`},
		"another feed":    {site: page(strings.ReplaceAll(goodPage, "/rss.xml", "/atom.xml")), want: []string{"page-alternate warning"}, says: "BASE/atom.xml"},
		"nearly the feed": {site: page(strings.ReplaceAll(goodPage, "/rss.xml", "/rss.xml/")), want: []string{"page-alternate note"}, says: "by another URL"},
		"no such page":    {site: func(s *site) { s.paths["/"] = answer(404, "") }, want: []string{"page warning"}, says: "404"},
		"no page":         {site: body(strings.ReplaceAll(goodFeed(), "<link>BASE/</link>", "")), want: []string{"page note"}, says: "does not name its home page"},
		"the feed itself": {site: body(strings.ReplaceAll(goodFeed(), "<link>BASE/</link>", "<link>BASE/rss.xml</link>")), want: []string{"page warning"}, says: "names itself"},
		"another feed as the page": {site: all(body(strings.ReplaceAll(goodFeed(), "<link>BASE/</link>", "<link>BASE/two.xml</link>")),
			func(s *site) { s.paths["/two.xml"] = func(w http.ResponseWriter, r *http.Request) { s.good(w, r) } }), want: []string{"page note"}, says: "a feed too"},
	})
}

// closedPort returns a port without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestSuggestionsUseTheFormatOfTheFeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, body, want string }{
		"Atom": {"application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><id>BASE/</id><title>T</title><updated>2026-05-04T12:00:00Z</updated><author><name>A</name></author><link href="BASE/"/>
<entry><id>BASE/1</id><title>One</title><updated>2026-05-04T12:00:00Z</updated><link href="BASE/1"/><summary>s</summary></entry></feed>`, `<link rel="hub" href="http://hub.example.org:5337/websub"/>`},
		"JSON Feed": {"application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","title":"T","home_page_url":"BASE/","items":[{"id":"1","url":"BASE/1","content_text":"One"}]}`,
			`"hubs": [{"type": "WebSub", "url": "http://hub.example.org:5337/websub"}],`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, all(body(c.body), bare("Content-Type", c.kind)))
			s.page = strings.ReplaceAll(goodPage, "application/rss+xml", c.kind)
			r := s.examine(t, nil, "/rss.xml")
			if diff := cmp.Diff([]string{"validators warning", "websub-hub problem"}, found(r)); diff != "" {
				t.Errorf("(-want +got):\n%s%+v", diff, r.Checks)
			}
			if text := textOf(r, "websub-hub"); !strings.Contains(text, c.want) {
				t.Errorf("%q has no %q", text, c.want)
			}
		})
	}
}

func TestDoctorSendsNoPingWithOptionNoPing(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	r := s.examine(t, &doctor.Doctor{NoPing: true}, "/rss.xml")
	if diff := cmp.Diff([]string{"ping note"}, found(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(s.cloud.pings) > 0 || len(s.hub.news) > 0 {
		t.Errorf("pings %v, news %v", s.cloud.pings, s.hub.news)
	}
}

func TestDoctorPingsTheGivenHubInsteadOfTheHubsOfTheFeed(t *testing.T) {
	t.Parallel()
	other, s := newSite(t, nil), newSite(t, nil)
	r := s.examine(t, &doctor.Doctor{Hub: other.url}, "/rss.xml")
	if diff := cmp.Diff([]string{"cloud-hub problem", "websub-named problem"}, found(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := textOf(r, "websub-named"); !strings.Contains(text, other.text(`rel="hub" href="BASE/websub"`)) {
		t.Error(text)
	}
	if text := textOf(r, "cloud-hub"); !strings.Contains(text, other.text(`<cloud domain="HOST" port="PORT" path="/rsscloud/pleaseNotify"`)) {
		t.Error(text)
	}
	if len(s.cloud.pings) > 0 || len(s.hub.news) > 0 || len(other.cloud.pings) != 1 {
		t.Errorf("own %v %v, other %v", s.cloud.pings, s.hub.news, other.cloud.pings)
	}
	r = s.examine(t, &doctor.Doctor{Hub: s.url}, "/rss.xml")
	if diff := cmp.Diff([]string{}, found(r)); diff != "" {
		t.Errorf("the hub it names (-want +got):\n%s", diff)
	}
	body(rss(strings.NewReplacer("HOST", hostIn(other.url), "PORT", portIn(other.url)).Replace(cloudElement)+hubLink+selfLink, goodItems))(s)
	r = s.examine(t, &doctor.Doctor{Hub: other.url}, "/rss.xml")
	if diff := cmp.Diff([]string{"websub-named warning"}, found(r)); diff != "" {
		t.Errorf("the cloud alone names it (-want +got):\n%s", diff)
	}
}

func hostIn(raw string) string { u, _ := url.Parse(raw); return u.Hostname() }
func portIn(raw string) string { u, _ := url.Parse(raw); return u.Port() }

func TestDoctorRejectsInvalidURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "rss.xml", "ftp://a.example/", "http://"} {
		if _, err := (&doctor.Doctor{}).Examine(t.Context(), u, nil); !errors.Is(err, doctor.ErrURL) {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestCancelledContextEndsTheDiagnosis(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSite(t, func(s *site) {
		s.paths["/rss.xml"] = func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }
	})
	if _, err := (&doctor.Doctor{}).Examine(ctx, s.url+"/rss.xml", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDoctorSendsLimitedNumberOfRequests(t *testing.T) {
	t.Parallel()
	var hubs strings.Builder
	for i := range 50 {
		fmt.Fprintf(&hubs, `<atom:link rel="hub" href="BASE/hub/%d"/>%s`, i, strings.ReplaceAll(cloudElement, "/rsscloud/", fmt.Sprintf("/%d/", i)))
	}
	s := newSite(t, body(rss(hubs.String()+`<atom:link rel="self" href="BASE/x"/>`, goodItems)))
	s.examine(t, nil, "/rss.xml")
	if n := len(s.requests()); n > 24 {
		t.Errorf("%d requests", n)
	}
}
