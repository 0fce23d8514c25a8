package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzConditionalHeaders sends arbitrary headers. The response must have an expected status, be
// complete, and be consistent with the headers.
func FuzzConditionalHeaders(f *testing.F) {
	d := New(feedOf(3000), Options{Type: "text/xml", Modified: noon(), Brotli: true, Feed: true, Now: func() time.Time { return noon().Add(time.Hour) }})
	f.Add("gzip, br;q=0.5", `"a", W/"b"`, noonText, "")
	f.Add("identity;q=0", "*", "", "")
	f.Fuzz(func(t *testing.T, accept, none, since, match string) {
		r := httptest.NewRequest("GET", "/", nil)
		for name, value := range map[string]string{"Accept-Encoding": accept, "If-None-Match": none, "If-Modified-Since": since, "If-Match": match} {
			if value != "" {
				r.Header[name] = []string{value}
			}
		}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		switch w.Code {
		case 200:
			if unpacked(t, w) != string(d.Bytes()) {
				t.Error("not the document")
			}
			if none == "" && r.Header.Get("If-Modified-Since") == noonText {
				t.Error("sent to a client that has it")
			}
		case 304:
			if w.Body.Len() != 0 {
				t.Error("304 with a body")
			}
			// A request with If-None-Match gets 304 only if the header contains the tag of d or a
			// star. Dates are then ignored.
			if none != "" && !strings.Contains(none, d.Tag()) && !strings.Contains(none, "*") {
				t.Errorf("304 for %q", none)
			}
		case 406:
			if !strings.Contains(accept, "0") && !strings.Contains(accept, ";") {
				t.Errorf("406 for %q", accept)
			}
		case 412:
			if match == "" {
				t.Error("412 without a condition")
			}
		default:
			t.Errorf("%d", w.Code)
		}
	})
}

// FuzzETagList parses lists of tags. Parsing must end, and each tag must be part of the list.
func FuzzETagList(f *testing.F) {
	f.Add(`"a", W/"b,c" ,*, d`)
	f.Add(`W/,,"`)
	f.Fuzz(func(t *testing.T, list string) {
		n := 0
		for tag, _, rest := NextTag(list); tag != ""; tag, _, rest = NextTag(rest) {
			if n++; n > len(list)+1 {
				t.Fatal("parsing does not end")
			}
			if tag != "*" && (len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"') {
				t.Errorf("%q has no quotes", tag)
			}
			if !strings.Contains(list, strings.Trim(tag, `"`)) {
				t.Errorf("%q is not in %q", tag, list)
			}
		}
		// Tags of a well-formed list are returned unchanged.
		if strings.ContainsAny(list, "\"") {
			return
		}
		tag, weak, rest := NextTag(`W/"` + list + `", "z"`)
		if next, _, _ := NextTag(rest); tag != `"`+list+`"` || !weak || next != `"z"` {
			t.Errorf("%q, %v, %q", tag, weak, rest)
		}
	})
}

// FuzzAcceptWeight parses lists of names with weights.
func FuzzAcceptWeight(f *testing.F) {
	f.Add("feed, vcdiff;q=0.5", "feed")
	f.Add("a;q=0.1234;x=y,b;q=;", "b")
	f.Fuzz(func(t *testing.T, list, name string) {
		if q := Weight([]string{list}, name); q < 0 || q > 1000 || q > 0 && !strings.Contains(strings.ToLower(list), strings.ToLower(name)) && http.CanonicalHeaderKey(name) == name {
			t.Errorf("%q in %q: %d", name, list, q)
		}
		a := readAccept([]string{list})
		if a.gzip < 0 || a.gzip > 1000 || a.br < 0 || a.br > 1000 || a.identity < 0 || a.identity > 1000 {
			t.Errorf("%q: %+v", list, a)
		}
	})
}
