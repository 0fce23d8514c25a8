package feed_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// plainFeed contains the members of JSON Feed that the tests compare with the result of
// encoding/json.
type plainFeed struct {
	Version string      `json:"version"`
	Title   string      `json:"title"`
	Items   []plainItem `json:"items"`
}

type plainItem struct {
	ID   string `json:"id"`
	HTML string `json:"content_html,omitempty"`
	Text string `json:"content_text,omitempty"`
}

func plainOf(f *feed.Feed) plainFeed {
	p := plainFeed{Title: f.Title.Value, Version: "https://jsonfeed.org/version/" + f.Version, Items: []plainItem{}}
	for _, it := range f.Items {
		i := plainItem{ID: it.ID}
		for _, c := range it.Content {
			if c.Type == "text/html" {
				i.HTML = c.Value
			} else {
				i.Text = c.Value
			}
		}
		p.Items = append(p.Items, i)
	}
	return p
}

// TestJSONStringsMatchEncodingJSON parses random texts, escaped in two ways. Some texts are longer
// than jsonChunk.
func TestJSONStringsMatchEncodingJSON(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "word ", `"`, `\`, "/", "\n", "\t", "\r", "é", "漢", "😀", "<p class=\"x\">", "</p>", strings.Repeat("long ", 9), "\u2028", "&amp;", "'"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	want := plainFeed{Version: "https://jsonfeed.org/version/1.1", Title: "T", Items: []plainItem{}}
	for i := range 400 {
		want.Items = append(want.Items, plainItem{ID: fmt.Sprint(i), HTML: "h" + text(random.IntN(60)), Text: "t" + text(i%40)})
	}
	for i := range 4 {
		want.Items = append(want.Items, plainItem{ID: fmt.Sprint("long", i), HTML: text(1 << (14 + i))})
	}
	plain, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	indented, err := json.MarshalIndent(want, "\t", "      ")
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string][]byte{"plain": plain, "indented": indented, "ASCII": []byte(ascii(string(plain)))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := feed.ParseBytes(doc, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, plainOf(f)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(f.Problems) > 0 {
				t.Errorf("problems: %v", f.Problems)
			}
		})
	}
}

// ascii escapes non-ASCII characters and slashes, as some JSON encoders do.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r < 0x80:
			b.WriteRune(r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// TestTruncatedJSONFeedKeepsCompleteItems truncates a feed after every byte. The rest is a
// feed if it has the version. It has all complete items and reports the truncation.
func TestTruncatedJSONFeedKeepsCompleteItems(t *testing.T) {
	t.Parallel()
	const start = `{"version":"https://jsonfeed.org/version/1.1","feed_url":"https://a.example/f",`
	doc := start + `"title":"T\u00e9\\","_x":[{"a":[1,true,"b"]}],"items":[{"id":"1","content_text":"o\"ne"},{"id":"2","tags":["a"],"content_html":"<p>\ud83d\ude00<\/p>"}]}`
	for n := len(start); n < len(doc); n++ {
		f, err := feed.ParseBytes([]byte(doc[:n]), nil)
		if err != nil {
			t.Fatalf("truncated after %d bytes: %v", n, err)
		}
		whole := strings.Count(doc[:n], `"},`) + strings.Count(doc[:n], `>"}]`)
		if len(f.Items) < whole {
			t.Errorf("truncated after %d bytes: %d items, want %d: %s", n, len(f.Items), whole, doc[:n])
		}
		cut := 0
		for _, p := range f.Problems {
			if p.Kind == feed.ProblemTruncated {
				cut++
			}
		}
		if cut != 1 {
			t.Errorf("truncated after %d bytes: reported %d times: %v", n, cut, f.Problems)
		}
	}
}

// TestItemCallbackReceivesFeedMembersThatFollowTheItems parses a feed whose own members follow the
// items.
func TestItemCallbackReceivesFeedMembersThatFollowTheItems(t *testing.T) {
	t.Parallel()
	const doc = `{"items":[{"id":"1","url":"x","title":"A","content_text":"a"},{"id":"2","content_text":"b"}],"language":"nl","feed_url":"https://a.example/d/f","version":"https://jsonfeed.org/version/1"}`
	var got []string
	f, err := feed.ParseBytes([]byte(doc), &feed.Options{Item: func(it *feed.Item) bool {
		got = append(got, it.ID, it.Link, it.Title.Language)
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "https://a.example/d/x", "nl"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(f.Items) != 1 {
		t.Errorf("%d items, although Item stopped after the first", len(f.Items))
	}
}

func FuzzParseJSONFeed(f *testing.F) {
	docs, err := filepath.Glob("testdata/json/*.json")
	if err != nil || len(docs) == 0 {
		f.Fatal("no documents found", err)
	}
	for _, name := range docs {
		doc, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(doc))
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !strings.HasPrefix(doc, "{") {
			doc = "{" + doc // other beginnings can be any format
		}
		doc = strings.ToValidUTF8(strings.ReplaceAll(doc, "\x00", ""), "?") // invalid characters are removed before JSON is parsed
		got, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: "https://a.example/b/c", Limits: feed.Limits{Problems: 1 << 20}})
		if err != nil {
			return
		}
		sameAfterJSON(t, got)
		valid := json.Valid([]byte(doc))
		if !valid && len(got.Problems) == 0 {
			t.Error("invalid JSON is not reported")
		}
		for _, p := range got.Problems {
			reported := p.Kind == feed.ProblemJunk || p.Kind == feed.ProblemTruncated ||
				p.Kind == feed.ProblemSyntax && !strings.Contains(p.Message, "twice")
			if valid && reported {
				t.Errorf("valid JSON is reported: %v", p)
			}
		}
		var want struct{ Title *string }
		if valid && json.Unmarshal([]byte(doc), &want) == nil && want.Title != nil && strings.Count(doc, "itle") == 1 {
			if w := printable(*want.Title); w != got.Title.Value {
				t.Errorf("title %q, want %q", got.Title.Value, w)
			}
		}
	})
}

// printable returns s without the characters that a text of a feed cannot contain.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, s))
}
