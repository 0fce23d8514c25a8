package docsui

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/feed/discover"
)

func place1() Place {
	p := Place{Host: "hub.example:5337", Base: "http://hub.example:5337", Site: "http://a.example/?a=1&b=<2>", Secret: "between us", Updated: "u", Count: "7", Changed: "c", Any: "…", Feed: "http://a.example/x?a=1&b=<2>", Domain: "reader.example", Port: 80, Path: "/up?x=y&z", Challenge: "c0ffee", Caller: "192.0.2.1", Expires: "soon",
		User: "alice", Password: "a & b", Reader: "sel", Key: "plain", WSSE: "UsernameToken x", Tag: `"t"`}
	p.Content = p.SampleFeed(3)
	return p
}

func TestEveryExampleParsesWithoutPlaceholders(t *testing.T) {
	t.Parallel()
	all, err := Examples()
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, e := range all {
		wire := string(place1().Wire(e.Request))
		if _, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire))); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
		if strings.ContainsAny(wire+place1().Fill(e.Answer), "{}") && e.ID != "ping-json" {
			t.Errorf("%s holds a placeholder that nothing fills:\n%s\n%s", e.ID, wire, place1().Fill(e.Answer))
		}
	}
}

func TestCompareFindsEachKindOfDifference(t *testing.T) {
	t.Parallel()
	e := Example{ID: "x", Request: "POST {PATH} HTTP/1.1\nHost: {DOMAIN}\n\nurl={FEED_FORM}", Answer: "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n<a ends=\"{EXPIRES}\" of=\"{FEED_XML}\"/>\n"}
	p := place1()
	good := `<a ends="at noon" of="http://a.example/x?a=1&amp;b=&lt;2&gt;"/>`
	head := http.Header{"Content-Type": {"text/xml"}}
	if err := e.Compare(p, 200, head, []byte(good+"\n")); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"status": e.Compare(p, 20, head, []byte(good)),
		"field":  e.Compare(p, 200, http.Header{"Content-Type": {"text/html"}}, []byte(good)),
		"body":   e.Compare(p, 200, head, []byte(strings.Replace(good, "http", "ftp", 1))),
		"short":  e.Compare(p, 200, head, []byte(`<a ends="`)),
	} {
		if err == nil {
			t.Errorf("another %s is not seen", name)
		}
	}
	r := httptest.NewRequest("POST", p.Path, nil)
	r.Host = p.Domain
	if err := e.CompareRequest(p, r, []byte("url=http%3A%2F%2Fa.example%2Fx%3Fa%3D1%26b%3D%3C2%3E")); err != nil {
		t.Error(err)
	}
	if err := e.CompareRequest(p, r, []byte("url=")); err == nil {
		t.Error("another request is not seen")
	}
}

func TestAnyPlaceholderMatchesAnyText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, got string
		ok        bool
	}{
		{"abc", "abc", true}, {"abc", "abcd", false},
		{"a\x00c", "abbc", true}, {"a\x00c", "ac", true}, {"a\x00a", "a", false}, {"a\x00c", "acd", false},
		{"\x00b\x00", "abc", true}, {"\x00b\x00", "b", true}, {"\x00b\x00", "ac", false},
		{"a\x00b\x00b", "ab", false}, {"a\x00b\x00b", "a-b-b", true}, {"\x00", "", true},
	} {
		if alike(tt.got, tt.want) != tt.ok {
			t.Errorf("%q and %q: not %v", tt.want, tt.got, tt.ok)
		}
	}
}

func TestVersionsOfSampleFeedDifferInBytesOnly(t *testing.T) {
	t.Parallel()
	one, two := place1().SampleFeed(1), place1().SampleFeed(2)
	if one == two || discover.Sniff([]byte(one), "") != discover.RSS {
		t.Errorf("%s\n%s", one, two)
	}
}

func TestErrorNamesTheBrokenExample(t *testing.T) {
	t.Parallel()
	if _, err := parseExample("odd", "Title\n=== request\nGET / HTTP/1.1"); err == nil || !strings.Contains(err.Error(), "odd") {
		t.Error(err)
	}
}
