package abusetest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// bomb is a document that grows when a program decompresses or parses it. coding is its
// Content-Encoding.
type bomb struct{ coding, body string }

func bombs(t *testing.T) map[string]bomb {
	t.Helper()
	pack := func(w io.WriteCloser, b *bytes.Buffer) string {
		zeros := make([]byte, 1<<20)
		_, err := io.WriteString(w, `<rss version="2.0"><channel><title>`)
		for range 200 {
			if err == nil {
				_, err = w.Write(zeros)
			}
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var g, z bytes.Buffer
	one := pack(gzip.NewWriter(&g), &g)
	laughs := `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("ha", 50) + `">`
	for c := 'b'; c < 'm'; c++ {
		laughs += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return map[string]bomb{
		"/gzip.xml":     {"gzip", one},
		"/deflate.xml":  {"deflate", pack(zlib.NewWriter(&z), &z)},
		"/twice.xml":    {"gzip, gzip", one},
		"/entities.xml": {"", laughs + `]><rss version="2.0"><channel><title>&l;</title></channel></rss>`},
		"/outside.xml":  {"", `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&a;</title></channel></rss>`},
		"/deep.xml":     {"", `<rss version="2.0"><channel>` + strings.Repeat("<a>", 1<<20)},
		"/attr.xml":     {"", `<rss version="2.0" x="` + strings.Repeat("y", 4<<20) + `"><channel/></rss>`},
		"/attrs.xml":    {"", `<rss version="2.0" ` + attributes(200_000) + `><channel/></rss>`},
		"/items.xml":    {"", `<rss version="2.0"><channel>` + strings.Repeat("<item><title>x</title></item>", 150_000) + `</channel></rss>`},
		"/opml.xml":     {"", `<opml version="2.0"><body>` + strings.Repeat(`<outline text="x">`, 1<<17)},
		"/json.json":    {"", strings.Repeat(`{"items":[`, 1<<19)},
	}
}

func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `a%d="x" `, i)
	}
	return b.String()
}

// hostileServer serves bombs and other harmful responses.
type hostileServer struct {
	bombs map[string]bomb
	inner string
	asked atomic.Int64
}

func (s *hostileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if b, ok := s.bombs[r.URL.Path]; ok {
		if b.coding != "" {
			w.Header().Set("Content-Encoding", b.coding)
		}
		w.Header().Set("Content-Type", "application/xml")
		_, _ = io.WriteString(w, b.body) // the program stops reading at its size limit
		return
	}
	flush := http.NewResponseController(w)
	switch r.URL.Path {
	case "/endless.xml":
		_, err := io.WriteString(w, `<rss version="2.0"><channel>`)
		for part := strings.Repeat("<item/>", 10_000); err == nil; {
			_, err = io.WriteString(w, part)
		}
	case "/drip.xml":
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "<")
			_ = flush.Flush() // after an error, the request's context ends, so the loop ends
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	case "/silent.xml":
		<-r.Context().Done()
	case "/loop.xml":
		http.Redirect(w, r, "/loop.xml?"+r.URL.RawQuery+"x", http.StatusFound)
	case "/inside.xml":
		http.Redirect(w, r, s.inner, http.StatusFound)
	case "/head.xml":
		for i := range 3000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
		}
	case "/liar.xml":
		w.Header().Set("Content-Length", "4000000000")
		_, _ = io.WriteString(w, "<rss")
	}
}

func (s *hostileServer) paths() (list []string) {
	for path := range s.bombs {
		list = append(list, path)
	}
	if *forFlag > 0 { // each of these responses lasts until the program's timeout for reading a feed
		list = append(list, "/drip.xml", "/silent.xml")
	}
	return append(list, "/endless.xml", "/loop.xml", "/inside.xml", "/head.xml", "/liar.xml")
}

func TestHostileDocumentsDelayNoOtherClient(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	if _, err := p.operator().AddUser(t.Context(), "writer", ownersPassword); err != nil {
		t.Fatal(err)
	}
	token, err := p.operator().NewToken(t.Context(), "writer", client.TokenRequest{Label: "x", Scopes: []string{"create", "update", "delete", "media", "read"}})
	if err != nil {
		t.Fatal(err)
	}
	var reached atomic.Int64
	s := &hostileServer{bombs: bombs(t), inner: serve(t, inside, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) })) + "/secret.xml"}
	at := serve(t, hostileHost, s)
	e := newCallbackServer(t, source(1))
	bearer := []string{"Authorization", "Bearer " + token.Token}
	sender := from(source(1), true)
	sender.Timeout = time.Minute
	var failed atomic.Int64
	callback := func(a outside.Answer) {
		if a.Err != nil {
			failed.Add(1)
			return
		}
		if a.Status >= 500 && a.Status != http.StatusServiceUnavailable && !strings.Contains(a.Body, "Fault>") { // SOAP sends every fault with status 500
			t.Errorf("answered %s", a)
		}
	}
	v.during(t, "harmful documents", func() {
		var group sync.WaitGroup
		until := time.Now().Add(lasts(0))
		for first := true; first || time.Now().Before(until); first = false {
			for _, path := range s.paths() {
				group.Go(func() {
					callback(outside.Post(t.Context(), sender, p.Base+"/pleaseNotify", e.registration("/x", at+path)))
				})
				group.Go(func() { callback(outside.Post(t.Context(), sender, p.Base+"/ping", url.Values{"url": {at + path}})) })
				group.Go(func() {
					callback(outside.Post(t.Context(), sender, p.Base+"/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {at + path}, "hub.callback": {at + path}}))
				})
				group.Go(func() {
					callback(outside.Send(t.Context(), sender, http.MethodPost, p.Base+"/v1/sources", "application/json", `{"url":"`+at+path+`"}`, bearer...))
				})
			}
			for _, b := range s.bombs {
				group.Go(func() { bodyBombs(t, p.Base, sender, b, bearer, callback) })
			}
			group.Wait()
		}
	})
	t.Logf("%d documents were read; %d requests had no answer", s.asked.Load(), failed.Load())
	if s.asked.Load() < int64(len(s.paths())) || reached.Load() > 0 {
		t.Errorf("%d documents were requested; an internal address: %d requests, want 0", s.asked.Load(), reached.Load())
	}
	v.served(t)
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 700e6, goroutines: 12_000})
}

// bodyBombs sends a bomb to every endpoint that accepts a document.
func bodyBombs(t *testing.T, base string, c *http.Client, b bomb, bearer []string, callback func(outside.Answer)) {
	var coded []string
	if b.coding != "" {
		coded = []string{"Content-Encoding", b.coding}
	}
	packed := func(headers ...string) []string { return append(headers, coded...) }
	for _, endpoint := range []string{"/RPC2", "/soap", "/cnws", "/ping", "/websub", "/weblogUpdates"} {
		callback(outside.Send(t.Context(), c, http.MethodPost, base+endpoint, "text/xml", b.body, packed()...))
	}
	callback(outside.Send(t.Context(), c, http.MethodPut, base+"/writer/rss.xml", "application/rss+xml", b.body, packed(bearer...)...))
	callback(outside.Send(t.Context(), c, http.MethodPost, base+"/v1/opml", "text/x-opml", b.body, packed(bearer...)...))
	text := base64.StdEncoding.EncodeToString([]byte(b.body))
	call := func(method, value string) string {
		return `<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params><param><value>writer</value></param><param><value>` + ownersPassword + `</value></param><param><value>` + value + `</value></param></params></methodCall>`
	}
	callback(outside.Send(t.Context(), c, http.MethodPost, base+"/RPC2", "text/xml", call("rssCloud.saveRss", "<base64>"+text+"</base64>")))
	callback(outside.Send(t.Context(), c, http.MethodPost, base+"/RPC2", "text/xml", strings.Replace(call("metaWeblog.newPost", "<struct><member><name>description</name><value><base64>"+text+"</base64></value></member></struct>"), "<params>", "<params><param><value>1</value></param>", 1)))
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	if w, err := m.CreateFormFile("file", "x.xml"); err == nil {
		_, _ = io.WriteString(w, b.body) // a write into memory does not fail
	}
	_ = m.Close() // a write into memory does not fail
	callback(outside.Send(t.Context(), c, http.MethodPost, base+"/micropub/media", m.FormDataContentType(), form.String(), bearer...))
	callback(outside.Send(t.Context(), c, http.MethodPost, base+"/micropub", "application/json", `{"type":["h-entry"],"properties":`+strings.Repeat(`{"a":[`, 1<<16), bearer...))
}
