package announce

import (
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/fault"
)

func TestPingTargetListIsParsed(t *testing.T) {
	t.Parallel()
	got, err := ParseTargets(" rsscloud http://a.example/rsscloud/ping ,,weblogs  https://b.example/RPC2, get http://c.example/?n={0}&u={1}, weblogs https://b.example/RPC2")
	want := []Target{{RSSCloud, "http://a.example/rsscloud/ping"}, {Weblogs, "https://b.example/RPC2"}, {Get, "http://c.example/?n={0}&u={1}"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseTargets(" "); err != nil || got != nil {
		t.Errorf("empty list: %v, %v", got, err)
	}
}

func TestInvalidPingTargetIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://a.example/":                         "is not a ping target",
		"smoke http://a.example/":                   "rsscloud-xmlrpc",
		"rsscloud":                                  "no URL",
		"websub ftp://a.example/":                   "http://",
		"websub http:///x":                          "host",
		"websub http://a.example/a b":               "space",
		"websub http://me:secret@a.example/":        "user name",
		"websub http://a.example/#x":                "#",
		"get http://{0}.example/":                   "http://",
		"get http://a/" + strings.Repeat("x", 2000): "at most 1024",
	} {
		_, err := ParseTargets(text)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	if _, err := ParseOwn(slices.Repeat([]string{"websub http://a.example/"}, MaxOwn+1)); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("too many targets of an author: %v", err)
	}
}

func FuzzParseTargets(f *testing.F) {
	f.Add("rsscloud http://a.example/rsscloud/ping, get http://b.example/?{0}{1}")
	f.Add("weblogs https://[::1]:80/RPC2,websub http://a.example:99999/%zz")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseTargets(text)
		if err != nil {
			return
		}
		var texts []string
		for _, s := range list {
			if s.Host() == "" {
				t.Errorf("%q has no host", s)
			}
			texts = append(texts, s.String())
		}
		if got, err := parseAll(texts); err != nil || !slices.Equal(got, list) {
			t.Errorf("%q is parsed again as %q, %v", list, got, err)
		}
	})
}
