package weblogs_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/protocol/weblogs"

	"github.com/google/go-cmp/cmp"
)

func updated() time.Time { return time.Date(2007, 1, 13, 19, 8, 0, 0, time.UTC) }

func row(name, url string, age time.Duration) weblogs.Weblog {
	return weblogs.Weblog{Name: name, URL: url, When: updated().Add(-age)}
}

func TestChangesDocumentHasTheSpecifiedFormat(t *testing.T) {
	t.Parallel()
	c := weblogs.Changes{Updated: updated(), Count: 2000001, List: []weblogs.Weblog{
		row("The \"Blog\" & <co>\n\x00\xff", "http://site.example/?a=1&b=2", 119*time.Second),
		{Name: "Feed", URL: site, RSSURL: rss, When: updated().Add(time.Second)},
	}}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<weblogUpdates version="2" updated="Sat, 13 Jan 2007 19:08:00 GMT" count="2000001">
 <weblog name="The &#34;Blog&#34; &amp; &lt;co&gt;&#xA;��" url="http://site.example/?a=1&amp;b=2" when="%d"/>
 <weblog name="Feed" url="http://site.example/" when="0" rssUrl="http://site.example/rss.xml"/>
</weblogUpdates>
`
	for unit, when := range map[time.Duration]int{0: 1, time.Minute: 1, time.Second: 119} {
		got := string(c.Append(nil, unit))
		got = strings.NewReplacer("&quot;", "&#34;", "&#10;", "&#xA;").Replace(got)
		if d := cmp.Diff(fmt.Sprintf(want, when), got); d != "" {
			t.Error(d)
		}
		if err := xml.Unmarshal([]byte(got), new(struct{ XMLName xml.Name })); err != nil {
			t.Error(err)
		}
	}
}

func TestChangesRoundTrip(t *testing.T) {
	t.Parallel()
	c := &weblogs.Changes{Version: "2", Updated: updated(), Count: 7, List: []weblogs.Weblog{
		row("Grün & <co>", site, 0), row("", rss, 3*time.Minute), {Name: "F", URL: site, RSSURL: rss, When: updated().Add(-time.Hour)},
	}}
	for _, unit := range []time.Duration{time.Minute, time.Second} {
		got, err := weblogs.ReadChanges(c.Append(nil, unit), weblogs.ReadOptions{Unit: unit})
		if d := cmp.Diff(c, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", unit, err, d)
		}
	}
}

func TestChangesOfOtherServersAreRead(t *testing.T) {
	t.Parallel()
	const head = `<weblogUpdates version="2" updated="Sat, 13 Jan 2007 19:08:00 GMT" count="9">`
	for _, c := range []struct {
		name, doc string
		want      []weblogs.Weblog
		cut       bool
	}{
		{"the text's own", head + `<weblog name="The RSS Blog" url="http://site.example/" when="1"/></weblogUpdates>`, []weblogs.Weblog{row("The RSS Blog", site, time.Minute)}, false},
		{"Latin-1", "<?xml version='1.0' encoding='iso-8859-1'?>" + head + "<weblog name='Caf\xe9' url='http://site.example/' when='1'></weblog></weblogUpdates>", []weblogs.Weblog{row("Café", site, time.Minute)}, false},
		{"a doctype and a comment", "<!DOCTYPE weblogUpdates SYSTEM 'x'><!-- x -->" + head + "<weblog name='a' url='http://site.example/' when='0'/></weblogUpdates>", []weblogs.Weblog{row("a", site, 0)}, false},
		{"a bare ampersand", head + `<weblog name="A & B" url="http://site.example/?a&b" when="1"/></weblogUpdates>`, []weblogs.Weblog{row("A & B", site+"?a&b", time.Minute)}, false},
		{"other cases", `<WeblogUpdates updated="Sat, 13 Jan 2007 19:08:00 GMT"><Weblog Name="a" URL="http://site.example/" When="2" RSSurl="http://site.example/rss.xml"/></WeblogUpdates>`,
			[]weblogs.Weblog{{Name: "a", URL: site, RSSURL: rss, When: updated().Add(-2 * time.Minute)}}, false},
		{"bad rows are left out", head + `<weblog name="x" url="javascript:x" when="1"/><weblog name="x" when="1"/><weblog url="http://site.example/" when="-1"/>` +
			`<weblog url="http://site.example/" when="soon"/><weblog url="http://site.example/" when="99999999999999999999"/><weblog url="http://site.example/" when="9999999999999"/>` +
			`<weblog url="http://me:x@site.example/" when="1"/><other url="http://site.example/"/><weblog url="http://site.example/"/></weblogUpdates>`, []weblogs.Weblog{row("", site, 0)}, false},
		{"an invalid feed is left out", head + `<weblog url="http://site.example/" when="0" rssUrl="feed:x"/></weblogUpdates>`, []weblogs.Weblog{row("", site, 0)}, false},
		{"truncated", head + `<weblog name="a" url="http://site.example/" when="0"/><weblog name="b" url="http://si`, []weblogs.Weblog{row("a", site, 0)}, true},
		{"empty", head + `</weblogUpdates>`, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := weblogs.ReadChanges([]byte(c.doc), weblogs.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.List); d != "" || got.Truncated != c.cut {
				t.Errorf("cut %t\n%s", got.Truncated, d)
			}
		})
	}
}

func TestChangesWithoutDateUseTheCurrentTime(t *testing.T) {
	t.Parallel()
	got, err := weblogs.ReadChanges([]byte(`<weblogUpdates updated="yesterday"><weblog url="http://site.example/" when="5"/></weblogUpdates>`), weblogs.ReadOptions{Now: updated()})
	if err != nil || !got.Updated.Equal(updated()) || !got.List[0].When.Equal(updated().Add(-5*time.Minute)) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadChangesRejectsOtherDocuments(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "x", "<html><body><weblogUpdates/></body></html>", "<rss/>", "{}", "<methodResponse/>"} {
		if c, err := weblogs.ReadChanges([]byte(doc), weblogs.ReadOptions{}); !errors.Is(err, weblogs.ErrNotChanges) || c != nil {
			t.Errorf("%q: %v", doc, err)
		}
	}
	if _, err := weblogs.ReadChanges(make([]byte, weblogs.MaxChanges+1), weblogs.ReadOptions{}); !errors.Is(err, weblogs.ErrTooLarge) {
		t.Error(err)
	}
	many := "<weblogUpdates>" + strings.Repeat("<weblog url='http://a.example/'/>", weblogs.MaxWeblogs+1)
	if c, err := weblogs.ReadChanges([]byte(many), weblogs.ReadOptions{}); err != nil || len(c.List) != weblogs.MaxWeblogs || !c.Truncated {
		t.Errorf("%d rows, %v", len(c.List), err)
	}
}
