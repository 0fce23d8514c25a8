package publishhttp

import (
	"bytes"
	"testing"

	"cloudburst/internal/author"
	"cloudburst/protocol/metaweblog"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

// FuzzPostSentBackByAnEditor checks for all texts and all kinds of editors: if an editor sends back
// a post as it received it, the post does not change.
func FuzzPostSentBackByAnEditor(f *testing.F) {
	f.Add("# Tea\r\n\r\n* one & <b>two</b>\n\n<!--more-->\n\nand *more*", byte(0), false)
	f.Add("<p>a</p>\n<!--more--><p>b</p><!--more-->", byte(1), true)
	f.Add(" 1 < 2 & 3\n\nhttps://a.example/ ", byte(2), false)
	f.Add("<!--more-->", byte(0), true)
	f.Add("<p>markup in Markdown</p>", byte(0), false)
	f.Fuzz(func(t *testing.T, source string, format byte, visual bool) {
		posts := &author.Posts{Origin: func() string { return public }}
		c, _, err := posts.Preview(author.Content{Source: source, Format: [...]author.Format{author.Markdown, author.HTML, author.Plain}[format%3]})
		if err != nil {
			return
		}
		s := &editorSession{api: &MetaWeblog{Posts: posts, Public: func() string { return public }}, user: "alice"}
		if visual {
			s.agent = "Open Live Writer"
		}
		docInfo, err := xmlrpc.MarshalResponse(s.editorPost(author.Post{ID: 1, User: "alice", Content: c}).Value())
		if err != nil {
			t.Fatal(err)
		}
		v, err := xmlrpc.Decoder{MaxBytes: 64 << 20}.Response(bytes.NewReader(docInfo))
		if err != nil {
			t.Fatal(err)
		}
		p, err := metaweblog.ParsePost(v)
		if err != nil {
			t.Fatal(err)
		}
		whole := p.Edit()
		for _, e := range []metaweblog.Edit{whole, {Title: whole.Title, Description: whole.Description}, {Description: whole.Description, More: whole.More}} {
			after := c
			if err := s.apply(&after, e, author.Post{}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.Source, after.Source); d != "" || c.Format != after.Format {
				t.Fatalf("%s became %s:\n%s", c.Format, after.Format, d)
			}
		}
	})
}
