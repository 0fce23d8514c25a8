package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
)

func TestTheNewestItemIsFoundInEveryFormat(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, feed, want, link string
		changed                time.Time
	}{
		{"RSS, newest first", `<rss><channel><title>Feed</title><item><title>A &amp; B</title><link>x</link></item><item><title>C</title></item></channel></rss>`, "A & B", "", time.Time{}},
		{"RSS, newest last", `<rss><channel><item><title>Old</title><pubDate>Sun, 03 May 2026 00:00:00 GMT</pubDate></item><item><title>New</title><pubDate>Mon, 04 May 2026 00:00:00 +0000</pubDate></item></channel></rss>`, "New", "", day},
		{"without a title", `<rss><channel><item><description>&lt;p&gt;Just &lt;b&gt;text&lt;/b&gt; &amp;amp; more&lt;/p&gt;</description></item></channel></rss>`, "Just text & more", "", time.Time{}},
		{"only a guid", `<rss><channel><item><guid>http://a.example/1</guid></item></channel></rss>`, "http://a.example/1", "http://a.example/1", time.Time{}},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><updated>2026-05-04T00:00:00Z</updated><entry><title type="html">One</title><link rel="self" href="s"/><link href="http://a.example/1"/><content type="xhtml"><div>Hi</div></content></entry></feed>`, "One", "http://a.example/1", day},
		{"RDF", `<rdf:RDF xmlns:rdf="r" xmlns:dc="d"><channel><title>F</title></channel><item><title>R</title><dc:date>2026-05-04T00:00:00Z</dc:date></item></rdf:RDF>`, "R", "", day},
		{"broken behind", `<rss><channel><item><title>Whole</title></item><item><title>Half`, "Whole", "", time.Time{}},
		{"named entities", `<rss><channel><item><title>caf&eacute;</title></item></channel></rss>`, "café", "", time.Time{}},
		{"Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss><channel><item><title>caf\xe9</title></item></channel></rss>", "café", "", time.Time{}},
		{"terminal tricks", "<rss><channel><item><title>a\u202eb&#x9b;c</title></item></channel></rss>", "ab›c", "", time.Time{}},
		{"no feed", `hello`, "", "", time.Time{}},
	} {
		newest, changed := document{Body: []byte(tt.feed)}.newestItem()
		if got := newest.String(); got != tt.want || tt.link != "" && newest.Link != tt.link || !changed.Equal(tt.changed) {
			t.Errorf("%s: %q %q %s", tt.name, got, newest.Link, changed)
		}
	}
}

func FuzzNewestItem(f *testing.F) {
	f.Add([]byte(`<rss><channel><item><title>A</title><pubDate>Mon, 04 May 2026 00:00:00 GMT</pubDate></item></channel></rss>`))
	f.Add([]byte(`<feed><entry><link href="x"/><content><a><b/></a></content></entry></feed>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		newest, _ := document{Body: body}.newestItem()
		if s := newest.String(); s != clean(s) || len([]rune(s)) > 100 {
			t.Errorf("%q is not fit for a terminal", s)
		}
	})
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"http://a/":{"subscribers":[{"url":"http://b/","protocol":"http-post","notifyProcedure":false,"whenExpires":"2099-06-11T13:55:28+00:00"}]}}`))
	f.Add([]byte(`{"version":2,"feeds":{"http://a/":{"resource":null,"subscriptions":[{"url":"x","whenLastUpdate":null}]}}}`))
	f.Add([]byte(`{"http://a/":[{"url":1}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		src, err := readImport(bytes.NewReader(file))
		if err != nil {
			return
		}
		out, err := io.ReadAll(src)
		if err != nil {
			t.Fatal(err)
		}
		if src.from != nil && bytes.Count(out, []byte("\n")) != len(src.from) {
			t.Errorf("%d names for %q", len(src.from), out)
		}
		if src.from == nil && !bytes.Equal(out, file) {
			t.Errorf("%q became %q", file, out)
		}
	})
}

func TestSpansAreShortAndExact(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		3200 * time.Microsecond: "3.2 ms", 0: "0.0 ms", 999 * time.Millisecond: "999.0 ms", 1500 * time.Millisecond: "1.5 s",
		42 * time.Second: "42 s", 125 * time.Second: "2 m 5 s", 25 * time.Hour: "25 h 0 m", 72 * time.Hour: "3 days", -time.Second: "-1.0 s",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestProgressIsALineASecondWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := newProgress(&out, "imported")
	p.now, p.last = func() time.Time { return now }, now
	for n := range 25 {
		p.at(n, 25)
		now = now.Add(100 * time.Millisecond)
	}
	p.at(25, 0)
	p.end()
	if got, want := out.String(), "imported 10 of 25\nimported 20 of 25\n"; got != want {
		t.Errorf("%q", got)
	}
	out.Reset()
	p.human = true
	now = now.Add(time.Second)
	p.at(5, 10)
	p.end()
	if !strings.HasPrefix(out.String(), "\rimported [███") || !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("%q", out.String())
	}
}

func TestACallInProcessIsLikeOneOverTheNetwork(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Complete")
		w.WriteHeader(http.StatusTeapot)
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Complete", "true")
	})
	mux.HandleFunc("GET /abort", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "half")
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	h := inProcess{mux}
	do := func(method, path, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return h.Do(req)
	}
	res, err := do("POST", "/echo", "hello")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil || string(b) != "hello" || res.StatusCode != http.StatusTeapot || res.Trailer.Get("X-Complete") != "true" {
		t.Errorf("%q %v %+v", b, err, res)
	}
	if res, err = do("GET", "/abort", ""); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); !errors.Is(err, errAborted) || string(b) != "half" {
		t.Errorf("%q %v", b, err)
	}
	c := client.Client{Base: "http://localhost", HTTP: h}
	if _, err := c.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "is this the right address?") {
		t.Error(err)
	}
}
