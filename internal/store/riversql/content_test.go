package riversql

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/river"
)

func TestItemContentIsDecodedWithoutReflection(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for _, one := range []struct {
		content river.Content
		plain   bool
	}{
		{river.Content{}, true},
		{river.Content{HTML: "<p>a \"b\" \\ c\n\td & é 日本 \u2028</p>", Text: "x", Published: at, Updated: at.In(time.FixedZone("", 3600)), More: true}, true},
		{river.Content{Authors: []string{"Ann", "Bob & \"C\""}, Categories: []string{"a"}, Language: "en", Image: "http://i.example/?a=1&b=<2>", Comments: "c", InReplyTo: "d", Via: "e"}, true},
		{river.Content{HTML: "smile \U0001F600"}, true},
		{river.Content{HTML: "x", Enclosures: []river.Enclosure{{URL: "u", Length: 5}}}, false},
		{river.Content{Nested: []river.Content{{HTML: "y"}}}, false},
	} {
		text, err := packContent(one.content, one.content.Text != "")
		if err != nil {
			t.Fatal(err)
		}
		var want keptContent
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got, err := decodeContent(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
		if _, plain := plainContent(text); plain != one.plain {
			t.Errorf("%s is plain: %v, want %v", text, plain, one.plain)
		}
	}
}

func FuzzItemContent(f *testing.F) {
	for _, text := range []string{`{}`, `{"html":"a\u003cb\"\\","words":true}`, `{"authors":["a","b"],"published":"2026-01-02T03:04:05Z"}`, `{"html":"\ud83d\ude00"}`,
		`{"html":"a",}`, `{"more":false}`, `{"enclosures":[{"url":"u"}]}`, `{"html":"a"}}`, `{"text":"\b"}`, `{"html":"x\`, "{\"html\":\"\x01\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := plainContent(text)
		if !ok || strings.ToValidUTF8(text, "?") != text || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\uFFFD' }) {
			return // the database holds what packContent wrote
		}
		var want keptContent
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q was read, but encoding/json says %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	})
}
