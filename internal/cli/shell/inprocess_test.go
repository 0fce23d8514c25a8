package shell

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloudburst/client"
)

func TestInProcessCallBehavesLikeNetworkCall(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Complete")
		w.WriteHeader(http.StatusTeapot)
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Complete", "true")
	})
	mux.HandleFunc("GET /abort", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "half")
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	h := inProcess{mux}
	do := func(method, path, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return h.Do(req)
	}
	res, err := do("POST", "/echo", "hello")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil || string(b) != "hello" || res.StatusCode != http.StatusTeapot || res.Trailer.Get("X-Complete") != "true" {
		t.Errorf("%q %v %+v", b, err, res)
	}
	if res, err = do("GET", "/abort", ""); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(res.Body); !errors.Is(err, errAborted) || string(b) != "half" {
		t.Errorf("%q %v", b, err)
	}
	c := client.Client{Base: "http://localhost", HTTP: h}
	if _, err := c.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "is this the right address?") {
		t.Error(err)
	}
}
