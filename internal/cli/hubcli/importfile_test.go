package hubcli

import (
	"bytes"
	"io"
	"testing"
)

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"http://a/":{"subscribers":[{"url":"http://b/","protocol":"http-post","notifyProcedure":false,"whenExpires":"2099-06-11T13:55:28+00:00"}]}}`))
	f.Add([]byte(`{"version":2,"feeds":{"http://a/":{"resource":null,"subscriptions":[{"url":"x","whenLastUpdate":null}]}}}`))
	f.Add([]byte(`{"http://a/":[{"url":1}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		src, err := readImport(bytes.NewReader(file))
		if err != nil {
			return
		}
		out, err := io.ReadAll(src)
		if err != nil {
			t.Fatal(err)
		}
		if src.from != nil && bytes.Count(out, []byte("\n")) != len(src.from) {
			t.Errorf("%d names for %q", len(src.from), out)
		}
		if src.from == nil && !bytes.Equal(out, file) {
			t.Errorf("%q became %q", file, out)
		}
	})
}
