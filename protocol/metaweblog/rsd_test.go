package metaweblog_test

import (
	"os"
	"strings"
	"testing"

	"cloudburst/protocol/metaweblog"

	"github.com/google/go-cmp/cmp"
)

func rsd() *metaweblog.RSD {
	return &metaweblog.RSD{
		Engine: "Cloudburst", EngineLink: "https://w.example/", Home: "https://w.example/alice/",
		APIs: []metaweblog.API{
			{Name: "MetaWeblog", Preferred: true, Link: "https://w.example/RPC2", BlogID: "alice", Docs: "https://w.example/docs?a=1&b=2"},
			{Name: "Blogger", Link: "https://w.example/RPC2", BlogID: `a"<&>'b`},
		},
	}
}

func TestRSDRoundTrip(t *testing.T) {
	t.Parallel()
	doc := rsd().Append(nil)
	if *update {
		if err := os.WriteFile("testdata/rsd/written.xml", doc, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/rsd/written.xml")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(doc)); d != "" {
		t.Error(d)
	}
	got, ok := metaweblog.ParseRSD(doc, "", metaweblog.TypeRSD)
	if d := cmp.Diff(rsd(), got); !ok || d != "" {
		t.Error(d)
	}
	if a, ok := got.API("metaweblog"); !ok || !a.Preferred || a.BlogID != "alice" {
		t.Errorf("%+v", a)
	}
	if _, ok := got.API("Atom"); ok {
		t.Error("found an unknown API")
	}
}

func TestRSDOfOtherServersIsParsed(t *testing.T) {
	t.Parallel()
	// The document has another namespace, relative links and custom elements of one server,
	// and is not well-formed.
	doc := `<?xml version="1.0"?><RSD version="1.0" xmlns="http://archipelago.phrasewise.com/rsd"><service>
<engineName>Old & Good</engineName><engineLink>http://old.example</engineLink><homePageLink>/blog</homePageLink>
<apis><api name="MetaWeblog" preferred="TRUE" apiLink="/xmlrpc.php" blogID="1"><settings><docs>http://old.example/docs</docs><setting name="x">y</setting></settings></api>
<api name="Bad" apiLink="javascript:x"/><api apiLink="/y"/></apis></service>`
	got, ok := metaweblog.ParseRSD([]byte(doc), "https://old.example/rsd.xml", "text/xml")
	want := &metaweblog.RSD{Engine: "Old & Good", EngineLink: "http://old.example", Home: "https://old.example/blog",
		APIs: []metaweblog.API{{Name: "MetaWeblog", Preferred: true, Link: "https://old.example/xmlrpc.php", BlogID: "1", Docs: "http://old.example/docs"}}}
	if d := cmp.Diff(want, got); !ok || d != "" {
		t.Error(d)
	}
	for _, doc := range []string{"", "<html><rsd/></html>", "x", "<rsd>" + strings.Repeat(" ", metaweblog.MaxRSD)} {
		if _, ok := metaweblog.ParseRSD([]byte(doc), "", ""); ok {
			t.Errorf("%.40q was read", doc)
		}
	}
}
