package advice

import (
	"net/url"
	"strconv"
	"strings"

	"cloudburst/feed"
)

// feedLevel looks at what the feed says about itself.
func (a *adviser) feedLevel() {
	f := a.f
	if f.Title.Value == "" && f.Format != feed.JSONFeed { // whose reading has told it
		a.add(LevelError, "title-missing", a.top("", ""), "The feed has no title.", "Readers list it under its address, or not at all.", "Add a title.")
	}
	if f.Link == "" {
		level := LevelWarning
		if f.Format == feed.Atom || f.Format == feed.JSONFeed {
			level = LevelAdvice
		}
		a.add(level, "link-missing", a.top("", ""), "The feed does not say which page it belongs to.", "Readers cannot show the way to the site.",
			"Add "+a.called("<link>, the address of the site", `<link rel="alternate" href="…">`, "home_page_url")+".")
	}
	if f.Format == feed.RSS && f.Subtitle.Value == "" {
		a.add(LevelWarning, "description-missing", a.top("", ""), "The channel has no description, which RSS requires.", "Readers show nothing in its place.", "Add <description>, one sentence about the site.")
	}
	if f.Format == feed.Atom {
		a.atomFeed()
	}
	if len(f.Items) == 0 && f.Moved == nil {
		a.add(LevelWarning, "items-none", a.top("", ""), "The feed has no items.", "Readers have nothing to show.", "Put the newest items in.")
	}
	a.language()
	a.addresses()
	a.image()
	a.unknown(f.Unknown, func(name string) Place { return a.top(name, "") })
	switch {
	case a.old() && f.Format != feed.RSS:
		name := map[feed.Format]string{feed.CDF: "CDF", feed.ScriptingNews: "scriptingNews", feed.MCF: "MCF"}[f.Format]
		a.add(LevelAdvice, "version-old", a.top("", ""), name+" is the form of another time.", "Few readers know it; its items have no ids, so that readers guess what is new.", "Write RSS 2.0 or Atom 1.0.")
	case a.old():
		a.add(LevelAdvice, "version-old", a.top("", ""), "RSS "+f.Version+" is the form of another time.", "Readers know it; it has no ids, and no dates in most versions, so that they guess what is new.", "Write RSS 2.0 or Atom 1.0.")
		a.earlyLimits()
	case f.Format == feed.Atom && f.Version == "0.3":
		a.add(LevelAdvice, "version-old", a.top("", ""), "Atom 0.3 was a draft.", "Some readers do not know it any more.", "Write Atom 1.0.")
	}
	if f.Encoding != "" && f.Encoding != "utf-8" && f.Encoding != "us-ascii" {
		a.add(LevelAdvice, "encoding-not-utf-8", Place{Text: f.Encoding}, "The document is not in UTF-8.", "Readers that know few encodings show wrong letters.", "Write UTF-8.")
	}
	a.push()
}

// atomFeed looks for what Atom requires.
//
// spec:atom-rfc4287#feed-requires
func (a *adviser) atomFeed() {
	f := a.f
	if f.ID == "" {
		a.add(LevelError, "id-missing", a.top("", ""), "The feed has no <id>.", "Readers that go by it refuse the feed, or take it for another when its address changes.", "Add <id>, an address or a tag: or urn: URI that never changes.")
	} else if !hasScheme(f.ID) && f.Version != "0.3" {
		a.add(LevelWarning, "id-not-uri", a.top("id", f.ID), "The <id> is no URI.", "Readers that go by the rules make one of it, each another.", "Write a whole URI: https://…, tag:… or urn:uuid:….")
	}
	if f.Updated.Raw == "" {
		a.add(LevelError, "updated-missing", a.top("", ""), "The feed does not say when it was updated.", "Readers that go by it see no change, or refuse the feed.", "Add <updated>, such as <updated>2026-05-04T10:00:00Z</updated>.")
	}
	if len(f.Authors) == 0 {
		for i := range f.Items {
			if it := &f.Items[i]; len(it.Authors) == 0 && (it.Source == nil || len(it.Source.Authors) == 0) {
				a.add(LevelWarning, "author-missing", a.item(i, "", ""), "Neither the feed nor the entry has an author.", "Readers show nobody.", "Add <author><name>…</name></author> to the feed.")
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
		level = LevelWarning // required there
	}
	a.add(level, "language-missing", a.top("", ""), "The feed does not say its language.", "Readers hyphenate, read aloud and translate by guess.",
		"Add "+a.called("<language>", "xml:lang", "language")+", such as en or pt-BR.")
}

// addresses looks at self and at relative addresses.
func (a *adviser) addresses() {
	f := a.f
	add := a.called(`<atom:link rel="self" type="application/rss+xml" href="…"/>`, `<link rel="self" href="…"/>`, "feed_url")
	switch {
	case f.Self == "" && (f.Format == feed.RSS || f.Format == feed.Atom || f.Format == feed.JSONFeed):
		a.add(LevelAdvice, "self-missing", a.top("", ""), "The feed does not say its own address.", "A copy of it cannot be followed back, and hubs cannot tell its addresses apart.", "Add "+add+".")
	case f.Self != "" && a.d.URL != "" && !sameAddress(f.Self, a.d.URL):
		a.add(LevelAdvice, "self-other", a.top(a.called("atom:link", "link", "feed_url"), f.Self), "The feed gives another address for itself than it came from, "+a.d.URL+".", "Readers may subscribe twice, and hubs know it by one of both only.", "Let self be the address that is public, and let others redirect to it.")
	}
	if f.Format != feed.Atom && f.Link != "" && !hasScheme(f.Link) {
		a.relative(a.top(a.called("link", "link", "home_page_url"), f.Link))
	}
}

func (a *adviser) relative(at Place) {
	a.add(LevelWarning, "address-relative", at, "There are relative addresses.", "Readers do not agree on what they stand on, and some links lead nowhere.", "Give whole addresses, from https:// on.")
}

// sameAddress compares without what servers do not tell apart.
func sameAddress(x, y string) bool {
	norm := func(s string) string {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			return s
		}
		u.Fragment, u.Host = "", strings.ToLower(u.Host)
		if u.Path == "" {
			u.Path = "/"
		}
		return u.String()
	}
	return norm(x) == norm(y)
}

// hasScheme reports an absolute URI.
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

// image looks at RSS's, and at the form of one field.
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
			a.add(LevelWarning, "image-incomplete", at, "The image needs a url, a title and a link.", "Readers leave it out.", "Add what is missing.")
		}
		if m.Width > 144 || m.Height > 400 {
			at.Text = strconv.Itoa(m.Width) + " × " + strconv.Itoa(m.Height)
			a.add(LevelAdvice, "image-large", at, "The image says that it is larger than 144 × 400 pixels.", "Readers scale it.", "Leave out width and height, or give a smaller image.")
		}
	} else if f.Version == "0.91" && f.Variant == "netscape" && f.Image == nil {
		a.add(LevelAdvice, "image-missing", a.top("", ""), "The channel has no image, which Netscape's RSS 0.91 requires.", "None of today's readers minds.", "Add <image>, or write RSS 2.0.")
	}
	if t := f.TextInput; t != nil && (t.Title == "" || t.Description == "" || t.Name == "" || t.Link == "") {
		a.add(LevelWarning, "textinput-incomplete", a.top("textinput", ""), "textInput needs a title, a description, a name and a link.", "Readers leave it out, as most do anyway.", "Add what is missing, or take it out.")
	}
}

// unknown tells of elements that are in no namespace and in no version of the format.
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
		a.add(LevelWarning, "element-unknown", p, "There are elements that the format does not have.", "Readers pass over them.", "Look for a misspelt name, or put what is your own into a namespace.")
	}
}

// hasElement reports elements that feeds have. One that is unknown all the same had to
// make room for another, or its text says nothing.
func hasElement(name string) bool {
	switch strings.ToLower(name) {
	case "title", "link", "description", "language", "copyright", "managingeditor", "webmaster", "pubdate", "lastbuilddate",
		"category", "generator", "docs", "ttl", "image", "rating", "textinput", "author", "comments", "enclosure", "guid", "source",
		"id", "subtitle", "tagline", "summary", "rights", "updated", "modified", "published", "issued", "created", "logo", "icon", "info":
		return true
	}
	return false
}

// earlyLimits are those of RSS 0.90 and 0.91, which readers of their time kept to.
//
// spec:rss091-1999#lengths
// spec:rss090-1999#lengths
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
	long := func(at Place, s, what string, most int) {
		if len([]rune(s)) > most {
			at.Text = s
			a.add(LevelAdvice, "early-limits-"+what, at, "RSS "+f.Version+" has no room for a "+what+" of more than "+strconv.Itoa(most)+" characters.", "Readers of its time cut it or refuse the feed; others do not mind.", "Shorten it, or write RSS 2.0, which has no such limits.")
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
		a.add(LevelAdvice, "early-limits-items", a.item(items, "", strconv.Itoa(len(f.Items))+" items"), "RSS "+f.Version+" has at most "+strconv.Itoa(items)+" items.", "Readers of its time leave out the rest; others do not mind.", "Keep the newest "+strconv.Itoa(items)+", or write RSS 2.0.")
	}
}

// push looks for a way to be told of changes.
//
// spec:rss20-2003#cloud
func (a *adviser) push() {
	f := a.f
	if len(f.Hubs) == 0 && len(f.Clouds) == 0 {
		a.add(LevelAdvice, "push-missing", a.top("", ""), "The feed names neither a cloud nor a hub.", "Readers see new items when they next ask, within the hour at best.", "Name a hub, with <cloud> or rel=\"hub\", and ping it after each change: readers then know at once.")
	}
	for _, c := range f.Clouds {
		at := a.top("cloud", "")
		if c.Domain == "" || c.Port == "" || c.Protocol == "" || c.Path == "" {
			a.add(LevelWarning, "cloud-incomplete", at, "The cloud lacks one of domain, port, path and protocol.", "Readers cannot register with it.", `Write it whole: <cloud domain="hub.example.org" port="80" path="/pleaseNotify" registerProcedure="" protocol="http-post"/>.`)
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(c.Port)); err != nil || n < 1 || n > 65535 {
			at.Text = c.Port
			a.add(LevelWarning, "cloud-port", at, "The cloud's port is no port.", "Readers cannot register with it.", "Write a number: 80, 443 or 5337.")
		}
		switch p := strings.TrimSpace(c.Protocol); {
		case isCloudProtocol(p):
		case isCloudProtocol(strings.ToLower(p)):
			at.Text = c.Protocol
			a.add(LevelWarning, "cloud-protocol", at, "The cloud's protocol is not in lowercase, and the names are case-sensitive.", "Readers do not register with it.", "Write "+strings.ToLower(p)+".")
		default:
			at.Text = c.Protocol
			a.add(LevelWarning, "cloud-protocol", at, "The cloud's protocol is none that clouds have.", "Readers do not register with it.", "Write http-post, xml-rpc or soap.")
		}
	}
}

// isCloudProtocol reports a protocol in which clouds are asked.
func isCloudProtocol(p string) bool {
	switch p {
	case "http-post", "https-post", "xml-rpc", "soap":
		return true
	}
	return false
}

// hints looks at what the feed says about when to read it.
func (a *adviser) hints() {
	h := &a.f.Hints
	const effect, rule = "Readers pass over it.", "hint-value"
	if n, err := strconv.Atoi(h.TTL); h.TTL != "" && (err != nil || n < 0) {
		a.add(LevelWarning, rule, a.top("ttl", h.TTL), "A hint about when to read the feed cannot be read.", effect, "ttl is a number of minutes, such as 60.")
	}
	for _, s := range h.SkipHours {
		// 24 is midnight in RSS 0.91.
		if n, err := strconv.Atoi(s); err != nil || n < 0 || n > 24 {
			a.add(LevelWarning, rule, a.top("skiphours", s), "A hint about when to read the feed cannot be read.", effect, "An hour of skipHours is a number from 0 to 23, in GMT.")
		}
	}
	for _, s := range h.SkipDays {
		switch strings.ToLower(s) {
		case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		default:
			a.add(LevelWarning, rule, a.top("skipdays", s), "A hint about when to read the feed cannot be read.", effect, "A day of skipDays is Monday, Tuesday, Wednesday, Thursday, Friday, Saturday or Sunday.")
		}
	}
	switch p := strings.ToLower(h.UpdatePeriod); p {
	case "", "hourly", "daily", "weekly", "monthly", "yearly":
	default:
		a.add(LevelWarning, rule, a.top("sy:updateperiod", p), "A hint about when to read the feed cannot be read.", effect, "sy:updatePeriod is hourly, daily, weekly, monthly or yearly.")
	}
	element := ""
	if len(h.SkipDays) >= 7 {
		element = "skipdays"
	} else if len(h.SkipHours) >= 24 {
		element = "skiphours"
	}
	if element != "" {
		a.add(LevelWarning, "hint-never", a.top(element, ""), "The feed asks never to be read.", "Readers that obey never see an update.", "Leave some hours and days in which it may be read.")
	}
}
