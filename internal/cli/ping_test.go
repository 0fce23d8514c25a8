package cli

import (
	"strings"
	"testing"
)

func TestAFeedWithoutACloudIsPingedAtItsWebSubHubs(t *testing.T) {
	t.Parallel()
	w := &hubsWorld{}
	run := func(args ...string) (int, string, string) {
		out, errs := &locked{}, &locked{}
		p := &Program{Out: out, Err: errs, HTTP: w, Version: "test"}
		return p.Run(t.Context(), append([]string{"ping"}, args...)), out.String(), errs.String()
	}
	code, out, errs := run("http://feed.example/two")
	if code != 0 || strings.Count(out, "The hub took it.") != 2 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	for _, hub := range []string{"http://one.example/", "http://two.example/"} {
		if q := w.asked[hub]; len(q) != 1 || len(q[0].URLs) != 1 || q[0].URLs[0] != "http://feed.example/self" {
			t.Errorf("%s was told %+v", hub, q)
		}
	}
	// Who names a protocol is taken at his word, and a feed that names nobody is said to.
	for _, args := range [][]string{{"--via", "rest", "http://feed.example/two"}, {"http://feed.example/none"}} {
		if code, _, errs := run(args...); code != 1 || !strings.Contains(errs, "no <cloud>") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}
