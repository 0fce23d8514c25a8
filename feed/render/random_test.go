package render

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
)

// maker generates feeds with many fields. The same seed yields the same feed. The feeds need no
// repair: URLs are absolute and texts have no surrounding white space.
type maker struct{ *rand.Rand }

// randomFeed returns the feed for a seed.
func randomFeed(seed uint64) *feed.Feed {
	m := maker{rand.New(rand.NewPCG(seed, 41))}
	f := &feed.Feed{
		Title: m.title(), Subtitle: m.text(), Link: m.url("page"),
		Language: m.pick("", "en", "de-at", "pt-br"), Items: []feed.Item{},
	}
	if m.maybe() {
		f.ID = m.url("feed")
	}
	if m.maybe() {
		f.Self = m.url("rss.xml")
		f.Links = append(f.Links, feed.Link{Rel: "self", Href: f.Self})
	}
	if m.maybe() {
		f.Hubs = append(f.Hubs, feed.Hub{Type: "WebSub", URL: m.url("hub")})
	}
	m.about(f)
	for range m.IntN(6) {
		f.Items = append(f.Items, m.item(0))
	}
	return f
}

// about sets the fields of the feed itself.
func (m maker) about(f *feed.Feed) {
	f.Rights = m.maybeTitle()
	f.Published, f.Updated = m.date(), m.date()
	f.Authors, f.Contributors = m.persons(), m.persons()
	if m.maybe() {
		who := m.person()
		f.Publisher = &who
	}
	f.Categories = m.categories()
	if m.maybe() {
		f.Generator = &feed.Generator{Name: m.words(2), URL: m.url("program"), Version: m.pick("", "1.2")}
	}
	if m.maybe() {
		f.Image = &feed.Image{URL: m.url("logo.png"), Title: m.words(2), Link: m.url("page"), Width: m.IntN(140), Height: m.IntN(300)}
	}
	if m.maybe() {
		f.TextInput = &feed.TextInput{Title: m.words(1), Description: m.words(3), Name: "q", Link: m.url("search")}
	}
	if m.maybe() {
		f.Clouds = []feed.Cloud{{Domain: "rpc.example", Port: "80", Path: "/RPC2", RegisterProcedure: m.pick("", "a.b"), Protocol: m.pick("xml-rpc", "http-post")}}
		f.Cloud = &f.Clouds[0]
	}
	if m.maybe() {
		f.Hints = feed.Hints{TTL: "60", SkipHours: []string{"0", "23"}, SkipDays: []string{"Monday"}}
	}
	f.Docs = m.pick("", m.url("docs"))
	f.Rating = m.pick("", `(PICS-1.1 "x" r (s 0))`)
}

func (m maker) item(depth int) feed.Item {
	it := feed.Item{Title: m.maybeTitle(), Summary: m.text(), Published: m.date(), Updated: m.date()}
	if m.maybe() {
		it.Link = m.url("item")
	}
	for range m.IntN(2) {
		it.Content = append(it.Content, m.text())
	}
	switch m.IntN(3) {
	case 0:
		it.ID, it.IDFrom = m.url("id"), feed.FromID
	case 1:
		it.ID, it.IDFrom, it.PermaLink = m.url("perma"), feed.FromID, true
	default:
		it.ID, it.IDFrom = "urn:x-test:"+strconv.Itoa(m.IntN(1e9)), feed.FromID
	}
	it.Authors, it.Contributors, it.Categories = m.persons(), m.persons(), m.categories()
	for range m.IntN(3) {
		it.Enclosures = append(it.Enclosures, feed.Enclosure{URL: m.url("file.mp3"), Type: "audio/mpeg", Length: m.Int64N(1e9)})
	}
	if m.maybe() {
		it.Source = &feed.Source{Title: feed.Text{Value: m.words(2), Type: plainText}, URL: m.url("source.xml")}
	}
	if m.maybe() {
		it.More = &feed.More{Comments: m.url("comments"), Expires: m.date()}
	}
	if m.maybe() {
		it.Links = append(it.Links, feed.Link{Rel: "related", Href: m.url("related"), Type: "text/html", Title: m.words(1)})
	}
	for depth < 3 && m.IntN(5) == 0 {
		it.Items = append(it.Items, m.item(depth+1))
	}
	return it
}

func (m maker) maybe() bool { return m.IntN(2) == 0 }

func (m maker) pick(of ...string) string { return of[m.IntN(len(of))] }

// words returns about n words. Some of the words contain characters that have a meaning in the
// formats.
func (m maker) words(n int) string {
	var b strings.Builder
	for range n + m.IntN(3) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(m.pick("river", "Größe", "AT&T", "a<b", "x > y", "日本語", `"quoted"`, "it's", "]]>", "🎈", "<?php", "?>", "--", "50%", "#{x}", "$var", "@list", "\\n", "end", "{}", "`ls`"))
	}
	return b.String()
}

func (m maker) markup() string {
	return "<p>" + m.pick("A <b>bold</b> word", "x &amp; y &lt; z", `<a href="https://a.example/?a=1&amp;b=2">here</a>`, "]]&gt; &quot;", "日本 <em>語</em>") + " " +
		m.pick("", "<!-- no -->", "<br>next", "<img src=\"https://a.example/i.png\">") + "</p>"
}

func (m maker) title() feed.Text {
	if m.IntN(4) == 0 {
		return feed.Text{Value: "A <b>bold</b> &amp; " + m.pick("new", "old") + " title", Type: htmlText}
	}
	return feed.Text{Value: m.words(2), Type: plainText}
}

func (m maker) maybeTitle() feed.Text {
	if m.maybe() {
		return feed.Text{}
	}
	return m.title()
}

func (m maker) text() feed.Text {
	switch m.IntN(4) {
	case 0:
		return feed.Text{Value: m.words(6), Type: plainText}
	case 1:
		return feed.Text{}
	}
	return feed.Text{Value: m.markup(), Type: htmlText}
}

func (m maker) url(what string) string {
	return "https://" + m.pick("a", "b", "c") + ".example/" + what + "/" + strconv.Itoa(m.IntN(1e9)) + m.pick("", "?x=1&y=2", "#part")
}

func (m maker) date() feed.Date {
	if m.IntN(3) == 0 {
		return feed.Date{}
	}
	t := time.Unix(946684800+m.Int64N(1e9), 0).UTC()
	return feed.Date{Raw: t.Format(time.RFC3339), UTC: t}
}

func (m maker) persons() []feed.Person {
	var list []feed.Person
	for range m.IntN(3) {
		list = append(list, m.person())
	}
	return list
}

func (m maker) person() feed.Person {
	who := feed.Person{Name: m.pick("Ann", "Zoë Ö. Ünal", "李 明", "O'Neil & Sons")}
	if m.maybe() {
		who.Email = m.pick("ann@mail.example", "z.unal+feeds@post.example")
	}
	if m.IntN(3) == 0 {
		who.URL = m.url("people")
	}
	return who
}

func (m maker) categories() []feed.Category {
	var list []feed.Category
	for i := range m.IntN(4) {
		list = append(list, feed.Category{Term: m.words(1) + strconv.Itoa(i), Scheme: m.pick("", "https://tags.example/")})
	}
	return list
}
