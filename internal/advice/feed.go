package advice

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/feed"
)

// feedLevel checks the elements of the feed itself.
func (a *adviser) feedLevel() {
	f := a.f
	if a.isEntry() { // the document has no feed that could need anything
		a.atomAuthors()
		a.encoding()
		return
	}
	if f.Title.Value == "" && f.Format != feed.JSONFeed { // for JSON Feed, the parser has already reported the missing title
		a.add(LevelError, "title-missing", a.top("", ""), "The feed has no title.", "Readers list the feed under its URL, or not at all.", "Add a title.")
	}
	if f.Link == "" {
		level := LevelWarning
		if f.Format == feed.Atom || f.Format == feed.JSONFeed {
			level = LevelAdvice
		}
		a.add(level, "link-missing", a.top("", ""), "The feed has no link to its web page.", "Readers cannot link to the site.",
			"Add "+a.called("<link>, the URL of the site", `<link rel="alternate" href="…">`, "home_page_url")+".")
	}
	if f.Format == feed.RSS && f.Subtitle.Value == "" {
		a.add(LevelWarning, "description-missing", a.top("", ""), "The channel has no description, which RSS requires.", "Readers show no description.", "Add <description>, one sentence about the site.")
	}
	if f.Format == feed.Atom {
		a.atomFeed()
	}
	if len(f.Items) == 0 && f.Moved == nil {
		a.add(LevelWarning, "items-none", a.top("", ""), "The feed has no items.", "Readers have no items to show.", "Add the newest items.")
	}
	a.language()
	a.addresses()
	a.image()
	a.unknown(f.Unknown, func(name string) Place { return a.top(name, "") })
	switch {
	case a.old() && f.Format != feed.RSS:
		name := map[feed.Format]string{feed.CDF: "CDF", feed.ScriptingNews: "scriptingNews", feed.MCF: "MCF"}[f.Format]
		a.add(LevelAdvice, "version-old", a.top("", ""), name+" is an outdated format.", "Few readers support it. Its items have no ids, so readers guess which items are new.", "Write RSS 2.0 or Atom 1.0.")
	case a.old():
		a.add(LevelAdvice, "version-old", a.top("", ""), "RSS "+f.Version+" is an outdated format.", "Readers support it. It has no ids and mostly no dates, so readers guess which items are new.", "Write RSS 2.0 or Atom 1.0.")
		a.earlyLimits()
	case f.Format == feed.Atom && f.Version == "0.3":
		a.add(LevelAdvice, "version-old", a.top("", ""), "Atom 0.3 was a draft.", "Some readers no longer support it.", "Write Atom 1.0.")
	}
	a.encoding()
	a.push()
}

// isEntry reports whether the document is an Atom Entry Document: its root is an entry, not a feed.
//
// spec:atom-rfc4287#entry-document
func (a *adviser) isEntry() bool {
	_, hasFeed := a.index.places[docKey{0, ""}]
	return a.f.Format == feed.Atom && a.index.known && !hasFeed
}

func (a *adviser) encoding() {
	if e := a.f.Encoding; e != "" && e != "utf-8" && e != "us-ascii" {
		a.add(LevelAdvice, "encoding-not-utf-8", Place{Text: e}, "The document is not in UTF-8.", "Readers that support few encodings show wrong characters.", "Write UTF-8.")
	}
}

// atomFeed checks the elements that Atom requires.
//
// spec:atom-rfc4287#feed-requires
func (a *adviser) atomFeed() {
	f := a.f
	if f.ID == "" && f.Version != "0.3" { // Atom 0.3 does not require the id of a feed
		a.add(LevelError, "id-missing", a.top("", ""), "The feed has no <id>.", "Strict readers refuse the feed, or treat it as a new feed when its URL changes.", "Add <id> with an https:, tag: or urn: URI that never changes.")
	} else if f.Version != "0.3" && !hasScheme(f.ID) {
		a.add(LevelWarning, "id-not-uri", a.top("id", f.ID), "The <id> is not a URI.", "Strict readers convert it to a URI, each in a different way.", "Use an absolute URI: https://…, tag:… or urn:uuid:….")
	}
	if f.Updated.Raw == "" {
		a.add(LevelError, "updated-missing", a.top("", ""), "The feed has no update time.", "Strict readers see no change, or refuse the feed.", "Add <updated>, such as <updated>2026-05-04T10:00:00Z</updated>.")
	}
	a.atomAuthors()
}

func (a *adviser) atomAuthors() {
	if f := a.f; len(f.Authors) == 0 {
		for i := range f.Items {
			if it := &f.Items[i]; len(it.Authors) == 0 && (it.Source == nil || len(it.Source.Authors) == 0) {
				a.add(LevelWarning, "author-missing", a.item(i, "", ""), "Neither the feed nor the entry has an author.", "Readers show no author.", "Add <author><name>…</name></author> to the feed.")
			}
		}
	}
}

func (a *adviser) language() {
	if a.f.Language != "" {
		return
	}
	level := LevelAdvice
	if a.f.Version == "0.91" {
		level = LevelWarning // RSS 0.91 requires the language
	}
	a.add(level, "language-missing", a.top("", ""), "The feed does not declare its language.", "Readers must guess the language for hyphenation, speech and translation.",
		"Add "+a.called("<language>", "xml:lang", "language")+", such as en or pt-BR.")
}

// addresses checks the self link and relative URLs.
func (a *adviser) addresses() {
	f := a.f
	add := a.called(`<atom:link rel="self" type="application/rss+xml" href="…"/>`, `<link rel="self" href="…"/>`, "feed_url")
	switch {
	case f.Self == "" && (f.Format == feed.RSS || f.Format == feed.Atom || f.Format == feed.JSONFeed):
		a.add(LevelAdvice, "self-missing", a.top("", ""), "The feed does not contain its own URL.", "Readers of a copy cannot find the original, and hubs cannot recognize its different URLs as one feed.", "Add "+add+".")
	case f.Self != "" && a.d.URL != "" && !sameAddress(f.Self, a.d.URL):
		a.add(LevelAdvice, "self-other", a.top(a.called("atom:link", "link", "feed_url"), f.Self), "The feed's self link differs from the URL it was read from, "+a.d.URL+".", "Readers may subscribe twice, and hubs know only one of the two URLs.", "Set the self link to the public URL, and redirect other URLs to it.")
	}
	if f.Format != feed.Atom && f.Link != "" && !hasScheme(f.Link) {
		a.relative(a.top(a.called("link", "link", "home_page_url"), f.Link))
	}
}

func (a *adviser) relative(at Place) {
	a.add(LevelWarning, "address-relative", at, "The feed contains relative URLs.", "Readers resolve them differently, and some links are broken.", "Use absolute URLs that begin with https://.")
}

// sameAddress compares two URLs. It ignores fragments and the case of the host, and treats an empty
// path as "/".
func sameAddress(x, y string) bool {
	norm := func(s string) string {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return s
		}
		u.Fragment, u.Host = "", strings.ToLower(u.Host)
		u.Path = cmp.Or(u.Path, "/")
		return u.String()
	}
	return norm(x) == norm(y)
}

// hasScheme reports whether s is an absolute URI.
func hasScheme(s string) bool {
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ':':
			return i > 0
		case c|0x20 >= 'a' && c|0x20 <= 'z', i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return false
}

// image checks the image and the text input of RSS.
//
// spec:rss20-2003#image
func (a *adviser) image() {
	f := a.f
	if a.f.Format != feed.RSS {
		return
	}
	at := a.top("image", "")
	if m := f.Image; m != nil && a.index.places[docKey{0, "image"}] != (Place{}) {
		if m.URL == "" || m.Title == "" || m.Link == "" {
			a.add(LevelWarning, "image-incomplete", at, "The image needs a url, a title and a link.", "Readers ignore it.", "Add the missing elements.")
		}
		if m.Width > 144 || m.Height > 400 {
			at.Text = strconv.Itoa(m.Width) + " × " + strconv.Itoa(m.Height)
			a.add(LevelAdvice, "image-large", at, "The declared image size exceeds 144 × 400 pixels.", "Readers scale it.", "Omit width and height, or use a smaller image.")
		}
	} else if f.Version == "0.91" && f.Variant == "netscape" && f.Image == nil {
		a.add(LevelAdvice, "image-missing", a.top("", ""), "The channel has no image, which Netscape's RSS 0.91 requires.", "Current readers do not require it.", "Add <image>, or write RSS 2.0.")
	}
	if t := f.TextInput; t != nil && (t.Title == "" || t.Description == "" || t.Name == "" || t.Link == "") {
		a.add(LevelWarning, "textinput-incomplete", a.top("textinput", ""), "textInput needs a title, a description, a name and a link.", "Readers ignore it; most ignore every textInput.", "Add the missing elements, or remove it.")
	}
}

// unknown adds a finding for each element without a namespace that no version of the format defines.
func (a *adviser) unknown(nodes []feed.Node, at func(name string) Place) {
	if a.f.Format != feed.RSS && a.f.Format != feed.Atom {
		return
	}
	for _, n := range nodes {
		if n.Name == "" || n.Prefix != "" || a.f.Format == feed.Atom && n.Space == "" || hasElement(n.Name) {
			continue
		}
		if n.Space != "" && !strings.Contains(n.Space, "purl.org/rss") && !strings.Contains(n.Space, "w3.org/2005/Atom") && !strings.Contains(n.Space, "netscape.com") {
			continue
		}
		p := at(strings.ToLower(n.Name))
		p.Text = "<" + n.Name + ">"
		a.add(LevelWarning, "element-unknown", p, "The feed contains elements that the format does not define.", "Readers ignore them.", "Check the spelling, or put your own elements into a namespace.")
	}
}

// hasElement reports whether any feed format defines an element. The parser also lists a defined
// element as unknown if another element replaced it or its content is empty.
func hasElement(name string) bool {
	switch strings.ToLower(name) {
	case "title", "link", "description", "language", "copyright", "managingeditor", "webmaster", "pubdate", "lastbuilddate",
		"category", "generator", "docs", "ttl", "image", "rating", "textinput", "author", "comments", "enclosure", "guid", "source",
		"id", "subtitle", "tagline", "summary", "rights", "updated", "modified", "published", "issued", "created", "logo", "icon", "info":
		return true
	}
	return false
}

// earlyLimits checks the length limits of RSS 0.90 and 0.91. Readers of that time enforced them.
//
// spec:rss091-1999#length-limits
// spec:rss090-1999#length-limits
func (a *adviser) earlyLimits() {
	f := a.f
	var title, itemTitle, description, items int
	switch f.Version {
	case "0.90":
		title, itemTitle, description, items = 40, 100, 500, 15
	case "0.91":
		title, itemTitle, description, items = 100, 100, 500, 15
	default:
		return
	}
	long := func(at Place, s, what string, limit int) {
		if len([]rune(s)) > limit {
			at.Text = s
			a.add(LevelAdvice, "early-limits-"+what, at, "RSS "+f.Version+" limits a "+what+" to "+strconv.Itoa(limit)+" characters.", "Old readers truncate it or refuse the feed; current readers accept it.", "Shorten it, or use RSS 2.0, which has no limit.")
		}
	}
	long(a.top("title", ""), f.Title.Value, "title", title)
	long(a.top("description", ""), f.Subtitle.Value, "description", description)
	long(a.top("link", ""), f.Link, "link", 500)
	for i := range f.Items {
		it := &f.Items[i]
		long(a.item(i, "title", ""), it.Title.Value, "title", itemTitle)
		long(a.item(i, "link", ""), it.Link, "link", 500)
		if f.Version == "0.91" {
			long(a.item(i, "description", ""), it.Summary.Value, "description", description)
		}
	}
	if len(f.Items) > items {
		a.add(LevelAdvice, "early-limits-items", a.item(items, "", strconv.Itoa(len(f.Items))+" items"), "RSS "+f.Version+" allows at most "+strconv.Itoa(items)+" items.", "Old readers ignore the rest; current readers accept them.", "Limit the feed to the newest "+strconv.Itoa(items)+" items, or use RSS 2.0.")
	}
}

// push checks the cloud and hub links of the feed.
//
// spec:rss20-2003#cloud
func (a *adviser) push() {
	f := a.f
	if len(f.Hubs) == 0 && len(f.Clouds) == 0 {
		a.add(LevelAdvice, "push-missing", a.top("", ""), "The feed names neither a cloud nor a hub.", "Readers see new items only at their next poll, at best within the hour.", "Link to a hub with <cloud> or rel=\"hub\", and ping it after each change. Readers then receive changes immediately.")
	}
	for _, c := range f.Clouds {
		at := a.top("cloud", "")
		if c.Domain == "" || c.Port == "" || c.Protocol == "" || c.Path == "" {
			a.add(LevelWarning, "cloud-incomplete", at, "The cloud lacks one of domain, port, path and protocol.", "Readers cannot register with it.", `Add the missing attributes: <cloud domain="hub.example.org" port="80" path="/pleaseNotify" registerProcedure="" protocol="http-post"/>.`)
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(c.Port)); err != nil || n < 1 || n > 65535 {
			at.Text = c.Port
			a.add(LevelWarning, "cloud-port", at, "The cloud's port is invalid.", "Readers cannot register with it.", "Use a number such as 80, 443 or 5337.")
		}
		switch p := strings.TrimSpace(c.Protocol); {
		case isCloudProtocol(p):
		case isCloudProtocol(strings.ToLower(p)):
			at.Text = c.Protocol
			a.add(LevelWarning, "cloud-protocol", at, "The cloud's protocol is not in lowercase, and the names are case-sensitive.", "Readers do not register with it.", "Write "+strings.ToLower(p)+".")
		default:
			at.Text = c.Protocol
			a.add(LevelWarning, "cloud-protocol", at, "The cloud's protocol is unknown.", "Readers do not register with it.", "Write http-post, xml-rpc or soap.")
		}
	}
}

// isCloudProtocol reports whether p is a protocol of cloud registrations.
func isCloudProtocol(p string) bool {
	switch p {
	case "http-post", "https-post", "xml-rpc", "soap":
		return true
	}
	return false
}

// hints checks the feed's hints about polling.
func (a *adviser) hints() {
	h := &a.f.Hints
	const effect, rule = "Readers ignore it.", "hint-value"
	if n, err := strconv.Atoi(h.TTL); h.TTL != "" && (err != nil || n < 0) {
		a.add(LevelWarning, rule, a.top("ttl", h.TTL), "A hint about when to poll the feed is invalid.", effect, "Set ttl to a number of minutes, such as 60.")
	}
	for _, s := range h.SkipHours {
		// RSS 0.91 counts hours from 1 to 24, so 24 means midnight.
		if n, err := strconv.Atoi(s); err != nil || n < 0 || n > 24 {
			a.add(LevelWarning, rule, a.top("skiphours", s), "A hint about when to poll the feed is invalid.", effect, "Use numbers from 0 to 23 (GMT) in skipHours.")
		}
	}
	for _, s := range h.SkipDays {
		switch strings.ToLower(s) {
		case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		default:
			a.add(LevelWarning, rule, a.top("skipdays", s), "A hint about when to poll the feed is invalid.", effect, "Use Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday in skipDays.")
		}
	}
	switch p := strings.ToLower(h.UpdatePeriod); p {
	case "", "hourly", "daily", "weekly", "monthly", "yearly":
	default:
		a.add(LevelWarning, rule, a.top("sy:updateperiod", p), "A hint about when to poll the feed is invalid.", effect, "Set sy:updatePeriod to hourly, daily, weekly, monthly or yearly.")
	}
	element := ""
	if len(h.SkipDays) >= 7 {
		element = "skipdays"
	} else if len(h.SkipHours) >= 24 {
		element = "skiphours"
	}
	if element != "" {
		a.add(LevelWarning, "hint-never", a.top(element, ""), "The hints exclude every hour or every day.", "Readers that follow the hints never poll the feed.", "Leave some hours and days for polling.")
	}
}
