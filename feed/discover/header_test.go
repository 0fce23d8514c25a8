package discover

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNextLinkParsesLinkHeaders(t *testing.T) {
	t.Parallel()
	type link struct{ Target, Rel, Type, Title, Lang, Anchor string }
	for _, tt := range []struct {
		name, header string
		want         []link
	}{
		{"one", `<https://a.example/>; rel="hub"`, []link{{Target: "https://a.example/", Rel: "hub"}}},
		{"a token", `<a>;rel=hub`, []link{{Target: "a", Rel: "hub"}}},
		{"several", `<a>; rel=hub, <b>; rel=self`, []link{{Target: "a", Rel: "hub"}, {Target: "b", Rel: "self"}}},
		{"commas and semicolons in URLs", `<a,b;c>; rel=self`, []link{{Target: "a,b;c", Rel: "self"}}},
		{"commas and semicolons in quotes", `<a>; title="x, y; z"; rel=self`, []link{{Target: "a", Rel: "self", Title: "x, y; z"}}},
		{"escaped quotes", `<a>; title="say \"hi\\\""`, []link{{Target: "a", Title: `say "hi\"`}}},
		{"several relations", `<a>; rel="alternate  home"`, []link{{Target: "a", Rel: "alternate  home"}}},
		{"the first rel counts", `<a>; rel=self; rel=hub`, []link{{Target: "a", Rel: "self"}}},
		{"an empty rel counts too", `<a>; rel=""; rel=hub`, []link{{Target: "a"}}},
		{"names in any case", `<a>; REL=self; Type="text/xml"`, []link{{Target: "a", Rel: "self", Type: "text/xml"}}},
		{"space around the equals sign", `<a> ; rel = "self" ; type = x`, []link{{Target: "a", Rel: "self", Type: "x"}}},
		{"a title with its encoding", `<a>; title=plain; title*=UTF-8'en'caf%C3%A9`, []link{{Target: "a", Title: "café"}}},
		{"title* before title", `<a>; title*=iso-8859-1''caf%E9; title=plain`, []link{{Target: "a", Title: "café"}}},
		{"invalid title*", `<a>; title=plain; title*=UTF-8''%FF`, []link{{Target: "a", Title: "plain"}}},
		{"title* without charset and language", `<a>; title*=plain; title=second`, []link{{Target: "a", Title: "second"}}},
		{"an unknown encoding", `<a>; title*=koi8-r''%C1; title=second`, []link{{Target: "a", Title: "second"}}},
		{"rel with its encoding", `<a>; rel*=UTF-8''hub`, []link{{Target: "a", Rel: "hub"}}},
		{"an anchor", `<a>; anchor="#x"; rel=hub`, []link{{Target: "a", Rel: "hub", Anchor: "#x"}}},
		{"a language", `<a>; hreflang=de; hreflang=en`, []link{{Target: "a", Lang: "de"}}},
		{"parameters without values", `<a>; crossorigin; rel=hub; x`, []link{{Target: "a", Rel: "hub"}}},
		{"empty elements", `, ,<a>; rel=hub,,`, []link{{Target: "a", Rel: "hub"}}},
		{"empty URL", `<>; rel=self`, []link{{Rel: "self"}}},
		{"link without brackets is skipped", `https://a.example/; rel=hub, <b>; rel=self`, []link{{Target: "b", Rel: "self"}}},
		{"unclosed bracket", `<a; rel=hub, b`, nil},
		{"unclosed quote", `<a>; rel=hub; title="x, <b>; rel=self`, []link{{Target: "a", Rel: "hub", Title: "x, <b>; rel=self"}}},
		{"text after a closing quote", `<a>; rel="hub"x; type=t, <b>`, []link{{Target: "a", Rel: "hub", Type: "t"}, {Target: "b"}}},
		{"a backslash at the end", `<a>; title="x\`, []link{{Target: "a", Title: "x"}}},
		{"empty header", ``, nil},
		{"space", "  \t", nil},
	} {
		var got []link
		for rest := tt.header; rest != ""; {
			var l headerLink
			var ok bool
			if l, rest, ok = nextLink(rest); ok {
				got = append(got, link{l.target, l.rel, l.typ, l.title, l.lang, l.anchor})
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s\n%s", tt.name, tt.header, d)
		}
	}
}

func TestHeaderReturnsHubAndSelfLinks(t *testing.T) {
	t.Parallel()
	h := http.Header{"Link": {`</hub>; rel="hub", <https://two.example/>; rel=HUB`, `</feed>; rel="self"`, `</again>; rel="self"`}}
	got := Header(h, "https://a.example/x")
	want := Result{URL: "https://a.example/x", Links: []Link{}, Hubs: []string{"https://a.example/hub", "https://two.example/"}, Self: "https://a.example/feed"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRelatedReturnsLinksWithTheGivenRel(t *testing.T) {
	t.Parallel()
	h := http.Header{"Link": {
		`<https://a.example/cb?a=1,2;3>; rel="redirect_uri", <app.example:/back>; title="x, y"; rel="me Redirect_URI"`,
		`</cb>; rel=redirect_uri; anchor="", </style>; rel=stylesheet, </other>; rel=redirect_uri; anchor="https://b.example/"`,
		`</own>; anchor="https://a.example/x"; rel=redirect_uri`,
	}}
	got := Related(h, "https://a.example/x", "redirect_uri")
	if d := cmp.Diff([]string{"https://a.example/cb?a=1,2;3", "app.example:/back", "/cb", "/own"}, got); d != "" {
		t.Error(d)
	}
}

func FuzzLinkHeader(f *testing.F) {
	f.Add(`<a>; rel="alternate"; type="application/rss+xml"; title*=UTF-8'en'x, <b>; rel=hub`)
	f.Add(`<a>; rel="x\", <b>; rel=self; anchor="#y"`)
	f.Fuzz(func(t *testing.T, line string) {
		n := 0
		for rest := line; rest != ""; n++ {
			before := len(rest)
			if _, rest, _ = nextLink(rest); len(rest) >= before {
				t.Fatalf("parsing %q does not advance", line)
			}
		}
		r := Header(http.Header{"Link": {line}}, "https://a.example/x")
		if len(r.Hubs) > maxHubs || len(r.Links) > maxValues {
			t.Errorf("%d hubs, %d links", len(r.Hubs), len(r.Links))
		}
		checkLinks(t, r)
	})
}
