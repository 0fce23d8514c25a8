package advice_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
	"cloudburst/internal/advice"
)

var updateAdvice = flag.Bool("update-advice", false, "write the advice into testdata")

// TestAdviceMatchesGoldenFiles compares the findings about each document, read from
// https://a.example/rss.xml at noon of 11 June 2026, with its golden file.
func TestAdviceMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"testdata/feeds/*.xml", "testdata/feeds/*.json"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(some), err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			const address = "https://a.example/rss.xml"
			f, err := feed.ParseBytes(doc, &feed.Options{URL: address, KeepRelative: true})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, a := range advice.On(f, &advice.Delivery{Document: doc, URL: address, Now: time.Date(2026, 6, 11, 12, 0, 0, 0, time.UTC)}) {
				fmt.Fprintf(&got, "%s %s ×%d\n", a.Level, a.Rule, a.Count)
				// The parser's tests cover the wording of repairs.
				repair := slices.ContainsFunc(f.Problems, func(p feed.Problem) bool { return p.Kind == a.Rule })
				for _, p := range a.Places {
					if repair {
						p.Text = "…"
					}
					fmt.Fprintf(&got, "\t%d\t%s\t%s\n", p.Line, p.Path, p.Text)
				}
				if a.Problem == "" || a.Effect == "" || a.Fix == "" {
					t.Errorf("%s lacks problem, effect or fix", a.Rule)
				}
			}
			golden := file + ".want"
			if *updateAdvice {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// rules returns the rules of findings about HTTP, size and self link.
func rules(list []advice.Finding) []string {
	got := []string{}
	for _, a := range list {
		if strings.HasPrefix(a.Rule, "http-") || a.Rule == "size" || a.Rule == "items-many" || a.Rule == "self-other" {
			got = append(got, string(a.Level)+" "+a.Rule)
		}
	}
	return got
}

func TestAdviceCoversHTTPDeliveryProblems(t *testing.T) {
	t.Parallel()
	rss := `<rss version="2.0"><channel><title>%s</title></channel></rss>`
	english, german := fmt.Sprintf(rss, "Cafe"), fmt.Sprintf(rss, "Café")
	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title></feed>`
	json := `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[]}`
	rdf := `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>T</title></channel></rdf:RDF>`
	good := func(typ string) http.Header {
		return http.Header{"Content-Type": {typ}, "Etag": {`"1"`}}
	}
	for _, tt := range []struct {
		name string
		doc  string
		d    advice.Delivery
		want []string
	}{
		{"all is well", english, advice.Delivery{Header: good("application/rss+xml"), Revalidated: 304, URL: "https://a.example/"}, nil},
		{"as XML", german, advice.Delivery{Header: good("application/xml")}, nil},
		{"Atom", atom, advice.Delivery{Header: good("application/atom+xml; charset=utf-8")}, nil},
		{"JSON", json, advice.Delivery{Header: good("application/feed+json")}, nil},
		{"RDF as RSS", rdf, advice.Delivery{Header: good("application/rss+xml")}, nil},
		{"RDF as RDF", rdf, advice.Delivery{Header: good("application/rdf+xml")}, nil},
		{"a file", english, advice.Delivery{}, nil},
		{"as a page", english, advice.Delivery{Header: good("text/html; charset=utf-8")}, []string{"warning http-type"}},
		{"as plain text", english, advice.Delivery{Header: good("text/plain")}, []string{"warning http-type"}},
		{"without a type", english, advice.Delivery{Header: http.Header{"Last-Modified": {"x"}}}, []string{"warning http-type"}},
		{"JSON as XML", json, advice.Delivery{Header: good("application/xml")}, []string{"warning http-type"}},
		{"XML as JSON", english, advice.Delivery{Header: good("application/json")}, []string{"warning http-type"}},
		{"RSS as Atom", english, advice.Delivery{Header: good("application/atom+xml")}, []string{"advice http-type"}},
		{"Atom as RSS", atom, advice.Delivery{Header: good("application/rss+xml")}, []string{"advice http-type"}},
		{"text/xml without charset and beyond ASCII", german, advice.Delivery{Header: good("text/xml")}, []string{"warning http-charset"}},
		{"text/xml with charset", german, advice.Delivery{Header: good("text/xml; charset=utf-8")}, nil},
		{"text/xml within ASCII", english, advice.Delivery{Header: good("text/xml")}, nil},
		{"no validators", english, advice.Delivery{Header: http.Header{"Content-Type": {"text/xml"}}}, []string{"warning http-validators"}},
		{"ignored validators", english, advice.Delivery{Header: good("text/xml"), Revalidated: 200}, []string{"warning http-conditional"}},
		{"no store", english, advice.Delivery{Header: http.Header{"Content-Type": {"text/xml"}, "Etag": {"x"}, "Cache-Control": {"No-Store"}}}, []string{"advice http-no-store"}},
		{"over http", english, advice.Delivery{Header: good("text/xml"), URL: "http://a.example/"}, []string{"advice http-insecure"}},
		{"not compressed", english + strings.Repeat(" ", 5<<10), advice.Delivery{Header: good("text/xml")}, []string{"advice http-compression"}},
		{"compressed", english + strings.Repeat(" ", 5<<10), advice.Delivery{Header: good("text/xml"), Compressed: true}, nil},
		{"large", english + strings.Repeat(" ", 600<<10), advice.Delivery{}, []string{"advice size"}},
		{"very large", english + strings.Repeat(" ", 3<<20), advice.Delivery{}, []string{"warning size"}},
		{"many items", `<rss version="2.0"><channel>` + strings.Repeat("<item><title>x</title></item>", 201) + "</channel></rss>", advice.Delivery{}, []string{"advice items-many"}},
	} {
		f, err := feed.ParseBytes([]byte(tt.doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		tt.d.Document = []byte(tt.doc)
		if d := cmp.Diff(append([]string{}, tt.want...), rules(advice.On(f, &tt.d))); d != "" {
			t.Errorf("%s\n%s", tt.name, d)
		}
	}
}

func TestSizesHaveTheLargestUnitThatFits(t *testing.T) {
	t.Parallel()
	doc := []byte(`<rss version="2.0"><channel><title>T</title></channel></rss>`)
	f, err := feed.ParseBytes(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := advice.On(f, &advice.Delivery{Document: make([]byte, 20<<20), Header: http.Header{"Content-Type": {"application/rss+xml"}}})
	for _, rule := range []string{"size", "http-compression"} {
		i := slices.IndexFunc(list, func(a advice.Finding) bool { return a.Rule == rule })
		if i < 0 || list[i].Places[0].Text != "20 MiB" {
			t.Errorf("%s: %+v", rule, list)
		}
	}
}

func TestAdviceIsGivenWithoutHTTPResponse(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Format: feed.RSS, Version: "2.0", Items: []feed.Item{{ID: "x", IDFrom: feed.FromContent}}}
	list := advice.On(f, nil)
	var got []string
	for _, a := range list {
		got = append(got, a.Rule)
	}
	for _, want := range []string{"title-missing", "item-empty", "item-unidentified", "date-missing"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if p := list[1].Places; len(p) != 1 || p[0].Path != "item[1]" {
		t.Errorf("%+v", list[1])
	}
}

func TestAdviceListsFiveElementsAndTheNumberOfOthers(t *testing.T) {
	t.Parallel()
	doc := []byte(`<rss version="2.0"><channel><title>T</title>` + strings.Repeat("\n<item><title>"+strings.Repeat("long ", 100)+"</title></item>", 30) + "</channel></rss>")
	f, err := feed.ParseBytes(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range advice.On(f, &advice.Delivery{Document: doc}) {
		if a.Rule != "item-unidentified" {
			continue
		}
		if a.Count != 30 || len(a.Places) != 5 || a.Places[4].Line != 6 || a.Places[4].Path != "rss/channel/item[5]" || len([]rune(a.Places[4].Text)) != 160 {
			t.Errorf("%+v", a)
		}
		return
	}
	t.Error("no item-unidentified")
}

func FuzzAdvice(f *testing.F) {
	files, err := filepath.Glob("testdata/feeds/*.xml")
	if err != nil || len(files) == 0 {
		f.Fatal(err, files)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		parsed, err := feed.ParseBytes(doc, &feed.Options{KeepRelative: true})
		if err != nil {
			return
		}
		last := 0
		for _, a := range advice.On(parsed, &advice.Delivery{Document: doc, URL: "https://a.example/", Header: http.Header{}}) {
			if len(a.Places) > a.Count || a.Count == 0 || len(a.Places) > 5 {
				t.Errorf("%+v", a)
			}
			level := slices.Index([]advice.Level{advice.LevelError, advice.LevelWarning, advice.LevelAdvice}, a.Level)
			if level < last {
				t.Errorf("%s follows a less severe finding", a.Rule)
			}
			last = level
		}
	})
}
