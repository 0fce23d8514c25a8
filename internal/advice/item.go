package advice

import (
	"cmp"
	"strings"
	"time"

	"cloudburst/feed"
)

// itemLevel checks one item.
func (a *adviser) itemLevel(i int, it *feed.Item) {
	a.content(i, it)
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

// content checks title, text and link of an item.
func (a *adviser) content(i int, it *feed.Item) {
	empty := it.Title.Value == "" && it.Summary.Value == "" && len(it.Content) == 0 && len(it.Items) == 0 && it.More == nil
	switch {
	case empty && len(it.Enclosures) == 0:
		a.add(LevelError, "item-empty", a.item(i, "", it.Link), "Items have neither title nor text.", "Readers show an empty line or skip the item.", "Add a title, a text, or both to each item.")
	case it.Title.Value == "" && a.f.Format == feed.Atom:
		a.add(LevelWarning, "item-title-missing", a.item(i, "", ""), "Entries have no title, which Atom requires.", "Readers show the beginning of the text, the date, or “untitled”.", "Add <title>, even an empty one for notes without a title.")
	case it.Title.Value == "" && a.f.Format == feed.RSS && a.f.Version != "2.0" && a.f.Version != "" && a.f.Version != "0.92" && a.f.Version != "0.93" && a.f.Version != "0.94":
		a.add(LevelWarning, "item-title-missing", a.item(i, "", ""), "Items have no title, which RSS "+a.f.Version+" requires.", "Readers show the beginning of the text.", "Add <title>, or use RSS 2.0, where a description is enough.")
	}
	if a.f.Format == feed.Atom && it.Link == "" && len(it.Content) == 0 {
		a.add(LevelWarning, "entry-content-missing", a.item(i, "", ""), "Entries have neither content nor a link to a page.", "Readers cannot open a page.", `Add <content> or <link rel="alternate" href="…"/>.`)
	}
	if a.f.Format == feed.RSS && it.Link == "" && (a.isRDF() || a.f.Version == "0.91") {
		a.add(LevelWarning, "item-link-missing", a.item(i, "", ""), "Items have no link, which RSS "+a.f.Version+" requires.", "Readers cannot open a page.", "Add <link>.")
	}
}

// identity checks the id of an item.
func (a *adviser) identity(i int, it *feed.Item) {
	if it.IDFrom != feed.FromID {
		a.noID(i, it)
		return
	}
	if a.f.Format == feed.Atom && !hasScheme(it.ID) {
		a.add(LevelWarning, "id-not-uri", a.item(i, "id", it.ID), "The <id> is not a URI.", "Strict readers convert it to a URI, each in a different way.", "Use an absolute URI: https://…, tag:… or urn:uuid:….")
	}
	// spec:rss20-2003#guid-permalink
	if a.f.Format == feed.RSS && a.index.linkGUID[i] && !isWeb(it.ID) {
		a.add(LevelWarning, "guid-no-address", a.item(i, "guid", it.ID), "A guid is not a URL but lacks isPermaLink=\"false\".", "Readers that use the guid as the item's URL open a page that does not exist.", `Write <guid isPermaLink="false">.`)
	}
}

func (a *adviser) noID(i int, it *feed.Item) {
	name := a.called("<guid>", "<id>", "id")
	weak := it.IDFrom != feed.FromLink && it.IDFrom != feed.FromEnclosure
	switch {
	case a.f.Format == feed.Atom:
		a.add(LevelError, "entry-id-missing", a.item(i, "", it.Title.Value), "Entries have no <id>.", "Some readers refuse the entries; others show them again after each change.", "Add <id>, a URI that never changes.")
	case a.f.Format == feed.JSONFeed:
		// The parser has already reported a missing id in JSON Feed.
	case a.f.Version == "1.0":
		a.add(LevelAdvice, "about-missing", a.item(i, "", it.Link), "Items have no rdf:about.", "Readers identify items by their link.", "Add rdf:about with the link.")
	case weak && !a.old():
		a.add(LevelError, "item-unidentified", a.item(i, "", it.Title.Value), "Items have neither "+name+" nor a link.", "Readers identify items by their text, so a corrected item appears as new.", "Add "+name+" with a unique text that never changes.")
	case weak:
		a.add(LevelAdvice, "item-unidentified", a.item(i, "", it.Title.Value), "Items have no link.", "Readers identify items by their text, so a corrected item appears as new.", "Use RSS 2.0 and add <guid>.")
	case !a.old():
		a.add(LevelWarning, "id-missing", a.item(i, "", it.Link), "Items have no "+name+".", "Readers identify items by their links. If links change, all items appear as new; items with the same link are merged.", "Add "+name+", which never changes.")
	}
}

// dates checks the dates of an item.
func (a *adviser) dates(i int, it *feed.Item) {
	none := it.Published.Raw == "" && it.Updated.Raw == ""
	switch {
	case a.f.Format == feed.Atom && it.Updated.Raw == "":
		a.add(LevelError, "entry-updated-missing", a.item(i, "", it.Title.Value), "Entries have no update time.", "Some readers refuse the entries; others use the time of the download.", "Add <updated>.")
	case none && !a.old():
		a.add(LevelWarning, "date-missing", a.item(i, "", it.Title.Value), "Items have no date.", "Readers use the time of the download, so a new subscriber sees all items dated today.", "Add "+a.called("<pubDate>", "<published>", "date_published")+".")
	}
	if a.d.Now.IsZero() {
		return
	}
	for _, d := range []struct {
		date    feed.Date
		element string
	}{{it.Published, a.called("pubdate", "published", "date_published")}, {it.Updated, a.called("dc:date", "updated", "date_modified")}} {
		// Dates up to one day in the future are accepted, because time zones are often wrong.
		if !d.date.UTC.IsZero() && d.date.UTC.After(a.d.Now.Add(24*time.Hour)) {
			a.add(LevelWarning, "date-future", a.item(i, d.element, d.date.Raw), "Dates are in the future.", "Readers hide the item until that date, or show it above all others.", "Use the date of publication, and publish scheduled items on their date.")
		}
	}
}

// person checks that authors in RSS contain an e-mail address.
//
// spec:rss20-2003#author
func (a *adviser) person(i int) {
	if !a.isRSS() {
		return
	}
	if who, ok := a.index.authors[i]; ok && !strings.Contains(who, "@") {
		a.add(LevelWarning, "author-email", a.item(i, "author", who), "An author in RSS must contain an e-mail address.", "Most readers show the name anyway; some treat it as an e-mail address.", "Use <author>jo@example.org (Jo Smith)</author> or <dc:creator>Jo Smith</dc:creator>.")
	}
	if i > 0 {
		return
	}
	for _, name := range []string{"managingeditor", "webmaster"} {
		if who, ok := a.index.editors[name]; ok && !strings.Contains(who, "@") {
			a.add(LevelWarning, "author-email", a.top(name, who), "An author in RSS must contain an e-mail address.", "Most readers show the name anyway; some treat it as an e-mail address.", "Use <author>jo@example.org (Jo Smith)</author> or <dc:creator>Jo Smith</dc:creator>.")
		}
	}
}

// links checks the URL of an item.
func (a *adviser) links(i int, it *feed.Item) {
	if a.f.Format != feed.Atom && it.Link != "" && !hasScheme(it.Link) {
		a.relative(a.item(i, a.called("link", "link", "url"), it.Link))
	}
	if a.secure() && strings.HasPrefix(it.Link, "http://") {
		a.add(LevelAdvice, "link-insecure", a.item(i, a.called("link", "link", "url"), it.Link), "The feed is served over https but links to http pages.", "Readers warn, or open the page unencrypted.", "Use https links.")
	}
}

func (a *adviser) secure() bool { return strings.HasPrefix(a.d.URL, "https://") }

// enclosures checks attached files.
//
// spec:rss20-2003#enclosure
func (a *adviser) enclosures(i int, it *feed.Item) {
	for _, e := range it.Enclosures {
		at := a.item(i, a.called("enclosure", "link", "attachments"), e.URL)
		if e.Type == "" {
			a.add(LevelWarning, "enclosure-type", at, "Enclosures have no type.", "Podcast readers ignore them, or guess the type from the file extension.", "Add the media type, such as audio/mpeg, video/mp4 or image/jpeg.")
		}
		if e.Length == 0 && a.isRSS() {
			a.add(LevelWarning, "enclosure-length", at, "Enclosures have no length, or 0.", "Readers cannot show download progress; some podcast directories refuse the feed.", "Add the length in bytes.")
		}
		if !hasScheme(e.URL) && a.f.Format != feed.Atom {
			a.relative(at)
		}
		if a.secure() && strings.HasPrefix(e.URL, "http://") {
			a.add(LevelAdvice, "enclosure-insecure", at, "The feed is served over https but contains http files.", "Readers in browsers do not load them.", "Serve the files over https.")
		}
	}
	if len(it.Enclosures) > 1 && a.isRSS() {
		a.add(LevelAdvice, "enclosures-several", a.item(i, "enclosure", ""), "Items have several enclosures.", "Many readers use only the first or the last one.", "Use one enclosure and link to the others in the text, or use media:content.")
	}
}

// markup checks HTML for content that readers remove or cannot show.
func (a *adviser) markup(i int, element string, t feed.Text) {
	if t.Value == "" || t.Type == "text/plain" || strings.IndexByte(t.Value, '<') < 0 {
		return
	}
	at := a.item(i, element, "")
	active, relative, insecure := scanHTML(t.Value)
	if at.Text = active; active != "" {
		a.add(LevelWarning, "html-active", at, "Texts contain scripts, frames or forms.", "Readers remove them, so their content is missing.", "Replace them in the feed by a link or an image.")
	}
	if at.Text = relative; relative != "" && a.f.Format != feed.Atom {
		a.add(LevelWarning, "html-relative", at, "Texts contain relative URLs.", "Readers resolve them differently: images and links are broken in some readers.", "Use absolute URLs that begin with https://.")
	}
	if at.Text = insecure; insecure != "" && a.secure() {
		a.add(LevelAdvice, "html-insecure", at, "Texts of an https feed contain http images.", "Readers in browsers do not load them.", "Serve images over https.")
	}
}

// scanHTML returns the first script, frame or form, the first relative URL, and the first image with
// an http URL in a text.
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
			active = cmp.Or(active, "<"+tag+">")
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

// attrOf returns the value of an attribute. s is the part of a tag after the tag's name.
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

// isRelative reports whether a URL needs a base URL. Fragment-only links point into the same page
// and do not count.
func isRelative(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && s[0] != '#' && !hasScheme(s)
}

func isWeb(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}
