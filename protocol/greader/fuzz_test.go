package greader_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/protocol/greader"
)

// FuzzRequest checks that any request gets a complete response, and that JSON is valid.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "stream/items/ids?s=user/-/state/com.google/reading-list&n=10&xt=user/-/state/com.google/read", "")
	f.Add("POST", "edit-tag", "i=1&a=user/-/state/com.google/read&T=x")
	f.Add("POST", "subscription/edit", "ac=edit&s=feed/1&t=100%&a=user/-/label/a;b")
	f.Add("GET", "stream/contents/feed/http:/x?ot=1.5&r=o", "")
	f.Add("POST", "stream/items/contents?output=json", "i=60eba36e4f4e1&i=%zz&i")
	f.Add("POST", "mark-all-as-read", "s=user/-/label/x&ts=1371645508123456")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		r, err := http.NewRequest(method, "http://x.example/reader/api/0/"+target, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "GoogleLogin auth=alice/secret")
		w := httptest.NewRecorder()
		(&greader.Handler{Backend: newFake(150)}).ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s %q: %d", method, target, body, w.Code)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s %q: not JSON: %s", method, target, body, w.Body)
		}
	})
}
