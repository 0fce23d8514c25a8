package formatcli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"cloudburst/internal/cli/clitest"
	"cloudburst/internal/cli/shell"
)

func TestValidateSendsConditionalRequest(t *testing.T) {
	t.Parallel()
	tagged := http.Header{"Content-Type": {"application/rss+xml"}, "Etag": {`"1"`}, "Last-Modified": {"Mon, 04 May 2026 10:00:00 GMT"}}
	packed := tagged.Clone()
	packed.Set("Content-Encoding", "gzip")
	body := `<rss version="2.0"><channel><title>T</title>` + strings.Repeat("<item><title>Some words</title></item>\n", 200) + `</channel></rss>`
	for name, tt := range map[string]struct {
		o       *clitest.Origin
		asked   int
		has     []string
		hasNone []string
	}{
		"conditional requests supported": {&clitest.Origin{Header: tagged, Body: body, Knows: true}, 2, []string{"http-compression"}, []string{"http-conditional", "http-validators"}},
		"conditional requests ignored":   {&clitest.Origin{Header: tagged, Body: body}, 2, []string{"http-conditional"}, []string{"http-validators"}},
		"no validators":                  {&clitest.Origin{Header: http.Header{"Content-Type": {"text/html"}}, Body: body}, 1, []string{"http-validators", "http-type"}, []string{"http-conditional"}},
		"compressed response":            {&clitest.Origin{Header: packed, Body: clitest.Gzipped(body), Knows: true}, 2, nil, []string{"http-compression"}},
	} {
		var out, errs bytes.Buffer
		p := inShell(shell.Shell{Out: &out, Err: &errs, HTTP: tt.o, Version: "0"})
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
		if len(tt.o.Asked) != tt.asked || tt.asked == 2 && (tt.o.Asked[1].Get("If-None-Match") != `"1"` || tt.o.Asked[1].Get("If-Modified-Since") == "") {
			t.Errorf("%s: requests %v", name, tt.o.Asked)
		}
	}
}
