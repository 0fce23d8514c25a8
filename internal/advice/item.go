package advice

import (
	"strings"
	"time"

	"cloudburst/feed"
)

// itemLevel looks at one item.
func (a *adviser) itemLevel(i int, it *feed.Item) {
	a.says(i, it)
	a.identity(i, it)
	a.dates(i, it)
	a.person(i)
	a.links(i, it)
	a.enclosures(i, it)
	a.markup(i, a.called("description", "summary", "summary"), it.Summary)
	for _, t := range it.Content {
		a.markup(i, a.called("content:encoded", "content", "content_html"), t)
	}
	a.unknown(it.Unknown, func(name string) Place { return a.item(i, name, "") })
}

// says looks for what there is to show.
func (a *adviser) says(i int, it *feed.Item) {
	empty := it.Title.Value == "" && it.Summary.Value == "" && len(it.Content) == 0 && len(it.Items) == 0 && it.More == nil
	switch {
	case empty && len(it.Enclosures) == 0:
		a.add(LevelError, "item-empty", a.item(i, "", it.Link), "Items have neither a title nor a text.", "Readers show an empty line, or leave the item out.", "Give each item a title, a text, or both.")
	case it.Title.Value == "" && a.f.Format == feed.Atom:
		a.add(LevelWarning, "item-title-missing", a.item(i, "", ""), "Entries have no title, which Atom requires.", "Readers show the beginning of the text, the date, or “untitled”.", "Add <title>, even an empty one for notes without a title.")
	case it.Title.Value == "" && a.f.Format == feed.RSS && a.f.Version != "2.0" && a.f.Version != "" && a.f.Version != "0.92" && a.f.Version != "0.93" && a.f.Version != "0.94":
		a.add(LevelWarning, "item-title-missing", a.item(i, "", ""), "Items have no title, which RSS "+a.f.Version+" requires.", "Readers show the beginning of the text.", "Add <title>, or write RSS 2.0, where a description is enough.")
	}
	if a.f.Format == feed.Atom && it.Link == "" && len(it.Content) == 0 {
		a.add(LevelWarning, "entry-content-missing", a.item(i, "", ""), "Entries have neither content nor a link to a page.", "Readers have nothing to open.", `Add <content> or <link rel="alternate" href="…"/>.`)
	}
	if a.f.Format == feed.RSS && it.Link == "" && (a.isRDF() || a.f.Version == "0.91") {
		a.add(LevelWarning, "item-link-missing", a.item(i, "", ""), "Items have no link, which RSS "+a.f.Version+" requires.", "Readers have nothing to open.", "Add <link>.")
	}
}

// identity looks at how readers tell the item from others.
func (a *adviser) identity(i int, it *feed.Item) {
	if it.IDFrom != feed.FromID {
		a.noID(i, it)
		return
	}
	if a.f.Format == feed.Atom && !hasScheme(it.ID) {
		a.add(LevelWarning, "id-not-uri", a.item(i, "id", it.ID), "The <id> is no URI.", "Readers that go by the rules make one of it, each another.", "Write a whole URI: https://…, tag:… or urn:uuid:….")
	}
	// spec:rss20-2003#guid-permalink
	if a.f.Format == feed.RSS && a.index.linkGUID[i] && !isWeb(it.ID) {
		a.add(LevelWarning, "guid-no-address", a.item(i, "guid", it.ID), "A guid is no address, and does not say that it is none.", "Readers that take a guid for the item's address open something that is not there.", `Write <guid isPermaLink="false">.`)
	}
}

func (a *adviser) noID(i int, it *feed.Item) {
	name := a.called("<guid>", "<id>", "id")
	weak := it.IDFrom != feed.FromLink && it.IDFrom != feed.FromEnclosure
	switch {
	case a.f.Format == feed.Atom:
		a.add(LevelError, "entry-id-missing", a.item(i, "", it.Title.Value), "Entries have no <id>.", "Some readers refuse them; others show them again after each change.", "Add <id>, a URI that never changes.")
	case a.f.Format == feed.JSONFeed:
		// Reading has told it.
	case a.f.Version == "1.0":
		a.add(LevelAdvice, "about-missing", a.item(i, "", it.Link), "Items have no rdf:about.", "Readers tell them apart by their link.", "Add rdf:about with the link.")
	case weak && !a.old():
		a.add(LevelError, "item-unidentified", a.item(i, "", it.Title.Value), "Items have neither "+name+" nor a link.", "Readers tell them apart by what they say: after each correction they are new again.", "Add "+name+", a text that no other item has and that never changes.")
	case weak:
		a.add(LevelAdvice, "item-unidentified", a.item(i, "", it.Title.Value), "Items have no link.", "Readers tell them apart by what they say: after each correction they are new again.", "Write RSS 2.0, and add <guid>.")
	case !a.old():
		a.add(LevelWarning, "id-missing", a.item(i, "", it.Link), "Items have no "+name+".", "Readers tell them apart by their links: when those change, all items are new again, and two with one link are one.", "Add "+name+", which never changes.")
	}
}

// dates looks at when.
func (a *adviser) dates(i int, it *feed.Item) {
	none := it.Published.Raw == "" && it.Updated.Raw == ""
	switch {
	case a.f.Format == feed.Atom && it.Updated.Raw == "":
		a.add(LevelError, "entry-updated-missing", a.item(i, "", it.Title.Value), "Entries do not say when they were updated.", "Some readers refuse them; others give them the time at which they were fetched.", "Add <updated>.")
	case none && !a.old():
		a.add(LevelWarning, "date-missing", a.item(i, "", it.Title.Value), "Items have no date.", "Readers give them the time at which they were fetched: on the first reading all are of today.", "Add "+a.called("<pubDate>", "<published>", "date_published")+".")
	}
	if a.d.Now.IsZero() {
		return
	}
	for _, d := range []struct {
		date    feed.Date
		element string
	}{{it.Published, a.called("pubdate", "published", "date_published")}, {it.Updated, a.called("dc:date", "updated", "date_modified")}} {
		// A day's grace: zones are often wrong.
		if !d.date.UTC.IsZero() && d.date.UTC.After(a.d.Now.Add(24*time.Hour)) {
			a.add(LevelWarning, "date-future", a.item(i, d.element, d.date.Raw), "Dates are in the future.", "Readers hide the item until then, or show it above all others for as long.", "Write the date when the item was published, and publish it then.")
		}
	}
}

// person looks at RSS's author, who is an e-mail address.
//
// spec:rss20-2003#author
func (a *adviser) person(i int) {
	if !a.isRSS() {
		return
	}
	if who, ok := a.index.authors[i]; ok && !strings.Contains(who, "@") {
		a.add(LevelWarning, "author-email", a.item(i, "author", who), "An author of RSS is an e-mail address.", "Most readers show the name all the same; some take it for an address to write to.", "Write <author>jo@example.org (Jo Smith)</author>, or <dc:creator>Jo Smith</dc:creator>.")
	}
	if i > 0 {
		return
	}
	for _, name := range []string{"managingeditor", "webmaster"} {
		if who, ok := a.index.editors[name]; ok && !strings.Contains(who, "@") {
			a.add(LevelWarning, "author-email", a.top(name, who), "An author of RSS is an e-mail address.", "Most readers show the name all the same; some take it for an address to write to.", "Write <author>jo@example.org (Jo Smith)</author>, or <dc:creator>Jo Smith</dc:creator>.")
		}
	}
}

// links looks at addresses.
func (a *adviser) links(i int, it *feed.Item) {
	if a.f.Format != feed.Atom && it.Link != "" && !hasScheme(it.Link) {
		a.relative(a.item(i, a.called("link", "link", "url"), it.Link))
	}
	if a.secure() && strings.HasPrefix(it.Link, "http://") {
		a.add(LevelAdvice, "link-insecure", a.item(i, a.called("link", "link", "url"), it.Link), "The feed comes over https, and links to pages over http.", "Readers warn, or open the page without protection.", "Link to https.")
	}
}

func (a *adviser) secure() bool { return strings.HasPrefix(a.d.URL, "https://") }

// enclosures looks at files.
//
// spec:rss20-2003#enclosure
func (a *adviser) enclosures(i int, it *feed.Item) {
	for _, e := range it.Enclosures {
		at := a.item(i, a.called("enclosure", "link", "attachments"), e.URL)
		if e.Type == "" {
			a.add(LevelWarning, "enclosure-type", at, "Enclosures have no type.", "Podcast readers pass over them, or guess by the ending of the address.", "Add the media type: audio/mpeg, video/mp4, image/jpeg.")
		}
		if e.Length == 0 && a.isRSS() {
			a.add(LevelWarning, "enclosure-length", at, "Enclosures have no length, or 0.", "Readers cannot show how long a download takes; some podcast directories refuse the feed.", "Add the length in bytes.")
		}
		if !hasScheme(e.URL) && a.f.Format != feed.Atom {
			a.relative(at)
		}
		if a.secure() && strings.HasPrefix(e.URL, "http://") {
			a.add(LevelAdvice, "enclosure-insecure", at, "The feed comes over https, and has files over http.", "Readers in browsers do not load them.", "Serve the files over https.")
		}
	}
	if len(it.Enclosures) > 1 && a.isRSS() {
		a.add(LevelAdvice, "enclosures-several", a.item(i, "enclosure", ""), "Items have several enclosures.", "Many readers take one of them, the first or the last.", "Keep the one that matters, and link to the others from the text; or use media:content.")
	}
}

// markup looks at HTML that readers take out or cannot show.
func (a *adviser) markup(i int, element string, t feed.Text) {
	if t.Value == "" || t.Type == "text/plain" || strings.IndexByte(t.Value, '<') < 0 {
		return
	}
	at := a.item(i, element, "")
	active, relative, insecure := scanHTML(t.Value)
	if at.Text = active; active != "" {
		a.add(LevelWarning, "html-active", at, "Texts have scripts, frames or forms in them.", "Readers take them out; what they would show is missing.", "Leave them out of the feed, and put a link or an image in their place.")
	}
	if at.Text = relative; relative != "" && a.f.Format != feed.Atom {
		a.add(LevelWarning, "html-relative", at, "Texts have relative addresses in them.", "Readers do not agree on what they stand on: images and links are missing in some.", "Give whole addresses, from https:// on.")
	}
	if at.Text = insecure; insecure != "" && a.secure() {
		a.add(LevelAdvice, "html-insecure", at, "Texts of a feed over https have images over http in them.", "Readers in browsers do not load them.", "Serve images over https.")
	}
}

// scanHTML finds the first script, frame or form, the first relative address, and the
// first image over plain http in a text.
func scanHTML(s string) (active, relative, insecure string) {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return active, relative, insecure
		}
		s = s[i+1:]
		end := strings.IndexByte(s, '>')
		if end < 0 {
			end = len(s)
		}
		tag := s[:end]
		s = s[end:]
		name, rest, _ := strings.Cut(tag, " ")
		switch strings.ToLower(strings.TrimRight(name, "/\t\r\n")) {
		case "script", "iframe", "object", "embed", "form", "applet", "frameset":
			if active == "" {
				active = "<" + tag + ">"
			}
		case "a", "area":
			if v := attrOf(rest, "href"); relative == "" && isRelative(v) {
				relative = v
			}
		case "img", "audio", "video", "source":
			v := attrOf(rest, "src")
			if relative == "" && isRelative(v) {
				relative = v
			}
			if insecure == "" && strings.HasPrefix(v, "http://") {
				insecure = v
			}
		}
	}
}

// attrOf finds the value of an attribute in what stands behind a tag's name.
func attrOf(s, name string) string {
	for {
		i := strings.Index(s, name)
		if i < 0 {
			return ""
		}
		before := i == 0 || s[i-1] == ' ' || s[i-1] == '\n' || s[i-1] == '\t' || s[i-1] == '"' || s[i-1] == '\''
		s = strings.TrimLeft(s[i+len(name):], " \t\r\n")
		if !before || s == "" || s[0] != '=' {
			continue
		}
		s = strings.TrimLeft(s[1:], " \t\r\n")
		if s == "" {
			return ""
		}
		if q := s[0]; q == '"' || q == '\'' {
			v, _, _ := strings.Cut(s[1:], string(q))
			return v
		}
		v, _, _ := strings.Cut(s, " ")
		return v
	}
}

// isRelative reports an address that needs a base. One within the page itself needs
// none that a feed could give.
func isRelative(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && s[0] != '#' && !hasScheme(s)
}

func isWeb(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}
