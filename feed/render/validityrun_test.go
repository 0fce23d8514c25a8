package render

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
)

// oddTexts returns values that are invalid in some elements.
func oddTexts() []string {
	return []string{"x", " ", "a b", "<b>", "<b>x</b>", "javascript:x", "//", "http://", "\x00", "urn:", "tag:x", "%", "-", "é", "x@y", "2026", "-1", "0", "1.5", "true",
		"http://bücher.example/é?a[]=b c", "en_US", "http://u:p@a.example:80/x", "http://localhost/x", "http://a[b.example/x", "http://[::1]x/", "ftp://a.example/x", "magnet:?xt=1", "a@b.example", "(x", "a)b\\",
		"1:02", "http://a.example?x", "urn:ebu", "tag:A.example,2026:1", "urn:a:b/c", "mailto:a@b.example", "25", "iw", "../x",
		"Point", "LineString", "Box", "Circle", "Polygon", "country", "sharing", "urn:icra", "allow", "Monday", "WebSub", "rssCloud", "html", "text/html", "xhtml", "text/xml", "image/png",
		"self", "replies", "alternate", "Arts", "yes", "daily", "full", "<p>x</p>", "(a", "Jane <jane@a.example>", "a@b.example (Jane (J.))", "\x7f", "\u0085", "]]>"}
}

// fill sets every text of a feed and its parts to s, and puts one element into every list.
func fill(v reflect.Value, s string, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), s, depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), s, depth-1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), s, depth)
			}
		}
	}
}

// isDoubt reports whether a finding is not an error, not even in strict documents.
func isDoubt(found string) bool {
	rule, _, _ := strings.Cut(found, ": ")
	return !strings.HasPrefix(rule, "element-newer") && slices.Contains([]string{"text-empty", "markup", "characters", "guid-short", "person-name", "date-plausible", "extension-namespace",
		"self-missing", "guid-missing", "meaning-once", "podcast-parts", "entry-id-unique", "element-once", "address-domain"}, rule)
}

// judgedFeeds returns feeds of every kind: real feeds, random feeds, and feeds with odd values in
// one field or in all fields.
func judgedFeeds(t *testing.T) map[string]*feed.Feed {
	t.Helper()
	feeds := corpus(t)
	for seed := range uint64(60) {
		feeds["random "+strconv.FormatUint(seed, 10)] = randomFeed(seed)
	}
	for _, s := range oddTexts() {
		feeds["everywhere "+s], feeds["filled "+s] = everywhere(s), filled(s)
		full := new(feed.Feed)
		fill(reflect.ValueOf(full).Elem(), s, 6)
		feeds["full of "+s] = full
	}
	return feeds
}

// judgedAs returns the format whose rules apply to a document: CDF elements stay unchanged in
// a feed from CDF.
func judgedAs(format string, f *feed.Feed) string {
	if format == "cdf" && f.Format == feed.CDF {
		return "cdf kept"
	}
	return format
}

func TestRenderedDocumentsAndModulesAreValid(t *testing.T) {
	t.Parallel()
	book := newRulebook()
	for name, f := range judgedFeeds(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []string{"rss090", "rss091", "rss092", "rss093", "rss094", "rss20", "rdf", "atom", "cdf", "scriptingnews", "opml"} {
				doc, _, err := Append(nil, f, format, &Options{Self: "https://self.example/feed"})
				if err != nil {
					t.Fatal(err)
				}
				if found := book.judge(judgedAs(format, f), doc).errors; len(found) > 0 {
					t.Errorf("%s: %s\n%s", format, strings.Join(found, "\n"), doc)
				}
				doc, _, _ = Append(nil, f, format, &Options{Self: "https://self.example/feed", Strict: true})
				j := book.judge(judgedAs(format, f), doc)
				for _, found := range append(j.errors, j.doubts...) {
					if !isDoubt(found) {
						t.Errorf("%s, strict: %s\n%s", format, found, doc)
					}
				}
			}
		})
	}
}

// Each of these documents violates one rule, which the judge must find.
func TestXMLValidatorFindsErrors(t *testing.T) {
	t.Parallel()
	const begin = `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" ` +
		`xmlns:atom="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss"><channel><title>T</title><link>https://a.example/</link><description/>`
	book := newRulebook()
	if j := book.judge("rss20", []byte(begin+"</channel></rss>")); len(j.errors) > 0 {
		t.Error(j.errors)
	}
	for part, rule := range map[string]string{
		`<ttl>0</ttl>`:                             "value-positive",
		`<title>U</title>`:                         "element-once",
		`<sy:updateMood>calm</sy:updateMood>`:      "element-known",
		`<sy:updatePeriod>often</sy:updatePeriod>`: "value-period",
		`<image><title>T</title><url>https://a.example/i</url></image>`: "parts",
		`<cloud domain="a" path="/" port="x" protocol="y"/>`:            "value-positive attribute-missing",
		`<skipHours><hour>1</hour><hour>01</hour></skipHours>`:          "skip-once",
		`<skipDays/>`:                                                         "skip-empty",
		`<language>english!</language>`:                                       "value-language",
		`<managingEditor>nobody</managingEditor>`:                             "mail",
		`<pubDate>2026-11-20</pubDate>`:                                       "date",
		`<item/>`:                                                             "item-parts",
		`<item><title>t</title><guid>x y</guid></item>`:                       "address",
		`<item><title>t</title><link>/x</link></item>`:                        "address",
		`<item><title>t</title><source>s</source></item>`:                     "attribute-missing",
		`<item><title>t</title><georss:point>1</georss:point></item>`:         "value-pos",
		`<item><title>t</title><media:group/></item>`:                         "media-group",
		`<item><title>t</title><media:content width="-1"/></item>`:            "value-positive",
		`<item><title>t</title><enclosure url="ftp://a/" length="" /></item>`: "address-web value-count attribute-missing",
		`<atom:link href="urn:x"/>`:                                           "address-urn",
		`<atom:link href="x" thr="1"/>`:                                       "attribute-known",
	} {
		j := book.judge("rss20", []byte(begin+part+"</channel></rss>"))
		for r := range strings.FieldsSeq(rule) {
			if !slices.ContainsFunc(j.errors, func(e string) bool { return strings.HasPrefix(e, r+": ") }) {
				t.Errorf("%s: want %s, got %q", part, r, j.errors)
			}
		}
	}
}
