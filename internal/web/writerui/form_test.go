package writerui

import (
	"fmt"
	"net/url"
	"testing"

	"cloudburst/internal/author"
)

func FuzzPostForm(f *testing.F) {
	f.Add("source=Hello&title=T&categories=a,b&when=2026-01-01T10:00&offset=60")
	f.Add("file=a&file=b&file-drop=a&file-length=x&reply=javascript:1&outline=[{}]")
	f.Add("id=-1&base=99999999999999999999&source=%ff%00\r\n")
	f.Fuzz(func(t *testing.T, query string) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		s := readPostForm(v, "alice")
		var c author.Content
		if s.apply(&c) != nil {
			return
		}
		_, _ = s.moment() // the call must not panic
		if s.ID < 0 || s.Base < 0 || len(c.Enclosures) > len(v["file"]) {
			t.Errorf("%+v", s)
		}
		var again postForm
		again.fill(c)
		var d author.Content
		if err := again.apply(&d); err != nil || fmt.Sprint(c.Categories) != fmt.Sprint(d.Categories) || len(c.Enclosures) != len(d.Enclosures) {
			t.Errorf("%+v became %+v: %v", c, d, err)
		}
	})
}
