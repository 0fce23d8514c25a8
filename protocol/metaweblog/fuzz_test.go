package metaweblog_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sent returns a value after XML-RPC encoding and decoding. ok is false if it cannot be
// encoded.
func sent(v any) (any, bool) {
	b, err := xmlrpc.MarshalResponse(v)
	if err != nil {
		return nil, false
	}
	v, err = xmlrpc.Decoder{MaxBytes: 1 << 30}.Response(bytes.NewReader(b))
	return v, err == nil
}

// A value that parses can be written, and the written value parses to the same. Any call
// gets a response.
func FuzzCall(f *testing.F) {
	calls, err := filepath.Glob("testdata/calls/*.call.xml")
	if err != nil || len(calls) == 0 {
		f.Fatalf("%d calls: %v", len(calls), err)
	}
	for _, name := range calls {
		call, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(call)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := xmlrpc.ParseCall(bytes.NewReader(body))
		if err != nil {
			return
		}
		s := newSite()
		s.posts[1] = metaweblog.Post{ID: "1", Title: "x"}
		v, err := handler(s).Call(t.Context(), c)
		if _, ok := sent(v); err == nil && !ok {
			t.Fatalf("a response that cannot be encoded: %v", v)
		}
		for _, p := range c.Params {
			again(t, p, metaweblog.ParseEdit, metaweblog.Edit.Value)
			again(t, p, metaweblog.ParseMedia, metaweblog.Media.Value)
			again(t, p, metaweblog.ParsePost, metaweblog.Post.Value)
			if _, err := metaweblog.ParseCategories(p); err != nil && !errors.Is(err, metaweblog.ErrInvalidResponse) {
				t.Fatal(err)
			}
			if ids, err := metaweblog.ParseCategoryIDs(p); err != nil && ids != nil {
				t.Fatal(ids, err)
			}
		}
	})
}

func again[T any](t *testing.T, v any, parse func(any) (T, error), value func(T) map[string]any) {
	t.Helper()
	one, err := parse(v)
	if err != nil {
		return
	}
	back, ok := sent(value(one))
	if !ok {
		t.Fatalf("%+v cannot be sent", one)
	}
	two, err := parse(back)
	if d := cmp.Diff(one, two, cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Fatalf("%v\n%s", err, d)
	}
}

func FuzzParseRSD(f *testing.F) {
	f.Add(rsd().Append(nil), "https://w.example/", "application/rsd+xml")
	f.Add([]byte("<rsd><service><apis><api name=x apilink=/y><docs>z"), "http://a.example/b", "")
	f.Fuzz(func(t *testing.T, doc []byte, base, contentType string) {
		d, ok := metaweblog.ParseRSD(doc, base, contentType)
		if !ok {
			return
		}
		out := d.Append(nil)
		if len(out) > metaweblog.MaxRSD {
			return
		}
		two, ok := metaweblog.ParseRSD(out, "", "")
		if diff := cmp.Diff(d, two); !ok || diff != "" {
			t.Fatalf("%s\n%s", out, diff)
		}
	})
}
