package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// origin serves one feed, and knows conditional requests or not.
type origin struct {
	header http.Header
	body   string
	knows  bool
	asked  []http.Header
}

func (o *origin) Do(r *http.Request) (*http.Response, error) {
	o.asked = append(o.asked, r.Header)
	res := &http.Response{StatusCode: http.StatusOK, Header: o.header, Body: io.NopCloser(strings.NewReader(o.body)), Request: r}
	if o.knows && r.Header.Get("If-None-Match") == o.header.Get("ETag") && o.header.Get("ETag") != "" {
		res.StatusCode, res.Body = http.StatusNotModified, http.NoBody
	}
	return res, nil
}

func TestValidateAsksAgainAsAReaderWould(t *testing.T) {
	t.Parallel()
	tagged := http.Header{"Content-Type": {"application/rss+xml"}, "Etag": {`"1"`}, "Last-Modified": {"Mon, 04 May 2026 10:00:00 GMT"}}
	packed := tagged.Clone()
	packed.Set("Content-Encoding", "gzip")
	body := `<rss version="2.0"><channel><title>T</title>` + strings.Repeat("<item><title>Some words</title></item>\n", 200) + `</channel></rss>`
	for name, tt := range map[string]struct {
		o       *origin
		asked   int
		has     []string
		hasNone []string
	}{
		"a server that knows":        {&origin{header: tagged, body: body, knows: true}, 2, []string{"http-compression"}, []string{"http-conditional", "http-validators"}},
		"a server that does not":     {&origin{header: tagged, body: body}, 2, []string{"http-conditional"}, []string{"http-validators"}},
		"nothing to ask with":        {&origin{header: http.Header{"Content-Type": {"text/html"}}, body: body}, 1, []string{"http-validators", "http-type"}, []string{"http-conditional"}},
		"compression that was taken": {&origin{header: packed, body: gzipped(body), knows: true}, 2, nil, []string{"http-compression"}},
	} {
		var out, errs bytes.Buffer
		p := &Program{Out: &out, Err: &errs, HTTP: tt.o, Version: "0"}
		p.Run(t.Context(), []string{"validate", "--json", "https://a.example/rss.xml"})
		var got report
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v %s%s", name, err, out.String(), errs.String())
		}
		rules := map[string]bool{}
		for _, f := range got.Findings {
			rules[f.Rule] = true
		}
		for _, rule := range tt.has {
			if !rules[rule] {
				t.Errorf("%s: no %s in %v", name, rule, rules)
			}
		}
		for _, rule := range tt.hasNone {
			if rules[rule] {
				t.Errorf("%s: %s", name, rule)
			}
		}
		if len(tt.o.asked) != tt.asked || tt.asked == 2 && (tt.o.asked[1].Get("If-None-Match") != `"1"` || tt.o.asked[1].Get("If-Modified-Since") == "") {
			t.Errorf("%s: asked %v", name, tt.o.asked)
		}
	}
}
