package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"cloudburst/feed"
)

// jsonJudge checks documents against the rules of JSON Feed 1.1.
type jsonJudge struct {
	book   ruleTables
	own    bool   // allow unknown members, because the feed came from a JSON Feed
	based  string // base URL of relative URLs; "": unknown
	errors []string
}

// jsonMembers returns the members of a JSON Feed object with the kinds of their values. Required
// members have an exclamation mark.
//
// spec:jsonfeed11-2020#members
func jsonMembers(object string) string {
	return map[string]string{
		"feed": "version=version! title=text! home_page_url=url feed_url=url description=text user_comment=text next_url=url icon=url favicon=url " +
			"authors=list:author language=language expired=flag hubs=list:hub items=list:item!",
		"item": "id=filled! url=url external_url=url title=text content_html=text content_text=text summary=text image=url banner_image=url " +
			"date_published=date date_modified=date authors=list:author tags=list:filled language=language attachments=list:attachment",
		"author":     "name=text url=url avatar=url",
		"hub":        "type=filled! url=url!",
		"attachment": "url=url! mime_type=filled! title=text size_in_bytes=number duration_in_seconds=number",
	}[object]
}

func (j *jsonJudge) err(rule, path string, value any) {
	j.errors = append(j.errors, fmt.Sprintf("%s: %s: %.100v", rule, path, value))
}

// judgeJSON returns the errors in a document.
func (r ruleTables) judgeJSON(doc []byte, own bool, base string) []string {
	j := &jsonJudge{book: r, own: own, based: base}
	var root any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber() // use json.Number, because float64 cannot represent some numbers
	if err := d.Decode(&root); err != nil || !json.Valid(doc) {
		return []string{"json: " + fmt.Sprint(err)}
	}
	j.value("feed", root, "feed")
	if feed, ok := root.(map[string]any); ok {
		j.feed(feed)
	}
	return j.errors
}

// feed checks the rules that concern several members.
func (j *jsonJudge) feed(f map[string]any) {
	if next := f["next_url"]; next != nil && next == f["feed_url"] {
		j.err("next-other", "next_url", next)
	}
	items, _ := f["items"].([]any)
	seen := map[any]bool{}
	for i, it := range items {
		it, _ := it.(map[string]any)
		path := fmt.Sprintf("items[%d]", i)
		if id := it["id"]; seen[id] {
			j.err("id-unique", path, id)
		} else {
			seen[id] = true
		}
		if it["content_html"] == nil && it["content_text"] == nil {
			j.err("content-required", path, "")
		}
	}
}

// value checks a value by its kind.
func (j *jsonJudge) value(kind string, v any, path string) {
	if of, ok := strings.CutPrefix(kind, "list:"); ok {
		list, ok := v.([]any)
		if !ok {
			j.err("list", path, v)
		}
		for i, v := range list {
			j.value(of, v, fmt.Sprintf("%s[%d]", path, i))
		}
		return
	}
	s, text := v.(string)
	switch kind {
	case "text", "filled", "version", "language", "url", "date":
		if !text {
			j.err("text", path, v)
			return
		}
	}
	switch kind {
	case "text":
	case "filled":
		if strings.TrimSpace(s) == "" {
			j.err("filled", path, s)
		}
	case "version":
		if s != "https://jsonfeed.org/version/1.1" {
			j.err("version", path, s)
		}
	case "language":
		if !j.book.forms["language"].MatchString(s) {
			j.err("language", path, s)
		}
	case "url":
		j.url(s, path)
	case "date":
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			j.err("date", path, s)
		}
	case "flag":
		if _, ok := v.(bool); !ok {
			j.err("flag", path, v)
		}
	case "number":
		if n, ok := v.(json.Number); !ok || strings.HasPrefix(n.String(), "-") {
			j.err("number", path, v)
		}
	default:
		j.object(kind, v, path)
	}
}

// object checks the members of an object.
func (j *jsonJudge) object(kind string, v any, path string) {
	o, ok := v.(map[string]any)
	if !ok || len(o) == 0 { // for example, an author needs a name, a URL or an avatar
		j.err("object", path, v)
		return
	}
	kinds := map[string]string{}
	for member := range strings.FieldsSeq(jsonMembers(kind)) {
		name, of, _ := strings.Cut(member, "=")
		of, required := strings.CutSuffix(of, "!")
		if _, has := o[name]; required && !has {
			j.err("required", path+"."+name, "")
		}
		kinds[name] = of
	}
	for name, v := range o {
		if of := kinds[name]; of != "" {
			j.value(of, v, path+"."+name)
		} else if !j.own && (len(name) < 2 || name[0] != '_' || !unicode.IsLetter([]rune(name)[1])) {
			j.err("extension-name", path+"."+name, v)
		}
	}
}

// url checks URLs, which may contain letters of any script.
func (j *jsonJudge) url(s, path string) {
	judge, kind := judge{ruleTables: j.book}, "id"
	if j.based == "" {
		kind = "iri"
	}
	judge.address(kind, s, path)
	j.errors = append(j.errors, judge.errors...)
}

func TestJSONFeedsAreValid(t *testing.T) {
	t.Parallel()
	book := newRulebook()
	for name, f := range judgedFeeds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, o := range []*Options{nil, {Self: "https://self.example/feed", Hubs: []string{"https://hub.example/"}}} {
				doc, _, err := Append(nil, f, "jsonfeed", o)
				if err != nil {
					t.Fatal(err)
				}
				w := writer{f: f}
				if o != nil {
					w.o = *o
				}
				if found := book.judgeJSON(doc, f.Format == feed.JSONFeed, w.base()); len(found) > 0 {
					t.Errorf("%s\n%s", strings.Join(found, "\n"), doc)
				}
			}
		})
	}
}

// Each of these documents violates one rule, which must be found.
func TestJSONFeedValidatorFindsErrors(t *testing.T) {
	t.Parallel()
	const begin = `{"version":"https://jsonfeed.org/version/1.1","title":"T","feed_url":"https://a.example/",`
	book := newRulebook()
	if found := book.judgeJSON([]byte(begin+`"items":[{"id":"1","content_text":"","_x":{}}]}`), false, "https://a.example/"); len(found) > 0 {
		t.Error(found)
	}
	for part, rule := range map[string]string{
		`"items":{}`:                                                 "list",
		`"icon":"i.png","items":[]`:                                  "address",
		`"home_page_url":"https://a b","items":[]`:                   "address",
		`"next_url":"https://a.example/","items":[]`:                 "next-other",
		`"language":"english!","items":[]`:                           "language",
		`"expired":"true","items":[]`:                                "flag",
		`"authors":[{}],"items":[]`:                                  "object",
		`"hubs":[{"type":"","url":"https://a.example/"}],"items":[]`: "filled",
		`"slug":"x","items":[]`:                                      "extension-name",
		`"_":"x","items":[]`:                                         "extension-name",
		`"_1":"x","items":[]`:                                        "extension-name",
		`"hubs":[]`:                                                  "required",
		`"items":[{"id":1,"content_text":""}]`:                       "text",
		`"items":[{"id":"","content_text":""}]`:                      "filled",
		`"items":[{"id":"1"}]`:                                       "content-required",
		`"items":[{"id":"1","content_text":""},{"id":"1","content_text":""}]`:                                                       "id-unique",
		`"items":[{"id":"1","content_text":"","tags":"x"}]`:                                                                         "list",
		`"items":[{"id":"1","content_text":"","tags":[" "]}]`:                                                                       "filled",
		`"items":[{"id":"1","content_text":"","date_published":"2026-11-20"}]`:                                                      "date",
		`"items":[{"id":"1","content_text":"","attachments":[{"url":"https://a.example/"}]}]`:                                       "required",
		`"items":[{"id":"1","content_text":"","attachments":[{"url":"https://a.example/","mime_type":"a/b","size_in_bytes":"1"}]}]`: "number",
	} {
		found := book.judgeJSON([]byte(begin+part+"}"), false, "https://a.example/")
		if !slices.ContainsFunc(found, func(e string) bool { return strings.HasPrefix(e, rule+": ") }) {
			t.Errorf("%s: want %s, got %q", part, rule, found)
		}
	}
}
