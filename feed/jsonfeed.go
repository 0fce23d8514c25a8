package feed

import (
	"slices"
	"strings"
)

// json reads JSON Feed 1.0 and 1.1. It reads the members of the feed before the items, wherever
// "items" is in the document, because items inherit from the feed.
//
// Unknown members, including extensions (whose names begin with an underscore), are stored in
// Unknown of the feed or item. A member becomes a node of its name:
//
//   - a string is the text of the node; so is a number, true, false or null, with an
//     attribute "type" of number, boolean or null
//   - an object is a node whose children are its members; an empty object has the
//     attribute type="object" instead
//   - an array is one node for each element, all with the name of the array. An array with
//     fewer than two elements, or within an array, is a node with type="array" whose
//     children are the elements; this distinguishes it from a single value
//
// Unknown members of an author, hub or attachment are the children of a node with the name of
// the list ("authors", "hubs", "attachments") and an attribute "index", counted from 0.
func (p *parser) json(text string) error {
	r := &jsonReader{parser: p, into: &p.f.Unknown, lines: lineCount{line: 1}}
	r.s.doc, r.s.frames, r.s.report = text, make([]jsonFrame, 0, 8), r.report
	r.s.depth = p.o.Limits.Depth
	at, odd := jsonStart(text)
	if at < 0 {
		return p.notFeed(text, "")
	}
	if odd != "" {
		r.report(ProblemJunk, 0, odd)
	}
	r.s.pos = at
	if text[at] == '[' {
		n := strings.IndexByte(text[at:min(len(text), at+64)], '{')
		if n < 0 {
			return r.noFeed("it is a list, and a feed is an object")
		}
		r.report(ProblemSyntax, at, "The feed is inside a list; the first entry of the list is read.")
		r.s.pos += n
	}
	if lang := p.header("Content-Language"); lang != "" && !strings.Contains(lang, ",") {
		p.f.Language = dashed(strings.TrimSpace(lang))
	}
	r.s.open(false)
	err := r.read()
	slices.SortStableFunc(p.f.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return err
}

// jsonReader builds a feed from the values that jsonScan reads.
type jsonReader struct {
	*parser
	s     jsonScan
	lines lineCount

	into  *[]Node // list to which unknown values are added
	full  bool    // the limit of unknown values has been reached
	attrs slab[Attr]

	version     string   // version, unchanged
	keys        []string // the first names of the feed, for the error message
	list        int      // offset of the value of "items"; 0: not found yet
	after       int      // offset after the items
	cut         bool     // the document ends within the items
	inline      bool     // items are read in document order
	lang        string   // language of the feed at the time when its items were read
	hasLanguage bool     // the feed has declared its language already
	author      []Person // member "author" of JSON Feed 1.0 in the current object
}

// lineCount caches the line number of an offset.
type lineCount struct{ offset, line int }

// report adds a problem at an offset of the document, in the current value.
func (r *jsonReader) report(kind string, offset int, message string) {
	if !r.wanted(kind) {
		r.unreported++
		return
	}
	r.problemAt(kind, r.lines.at(r.s.doc, offset), r.s.path(), message)
}

func (r *jsonReader) noFeed(detail string) error {
	return &NotFeedError{Looks: "json", Detail: detail, Encoding: r.f.Encoding}
}

// jsonStart returns the offset of the opening bracket of the data, or −1 if doc is not like JSON.
// odd is the message about text before the bracket: a function call, for pages that load data as a
// script, or an assignment.
func jsonStart(doc string) (at int, odd string) {
	s := jsonScan{doc: doc, report: func(string, int, string) {}}
	if !s.space() {
		return -1, ""
	}
	if guard := `)]}'`; strings.HasPrefix(doc[s.pos:], guard) {
		s.pos += len(guard)
		if s.space() && doc[s.pos] == ',' {
			s.pos++
			s.space()
		}
		odd = "The document begins with )]}', which prevents pages from loading it as a script; it is skipped."
	} else if c := doc[s.pos]; c != '{' && c != '[' {
		i := s.pos
		for i < len(doc) && i < s.pos+200 && isScriptName(doc[i]) {
			i++
		}
		if i == s.pos || i >= len(doc) || doc[i] != '(' && doc[i] != '=' {
			return -1, ""
		}
		odd = "The document is a script with the feed in it (JSON-P); the text around the feed is skipped."
		s.pos = i + 1
		s.space()
	}
	if s.pos < len(doc) && (doc[s.pos] == '{' || doc[s.pos] == '[') {
		return s.pos, odd
	}
	return -1, ""
}

func isScriptName(c byte) bool {
	return isJSONPlain(c) || c == '$' || c == ' '
}

// read reads the feed whose bracket was opened.
func (r *jsonReader) read() error {
	r.members()
	end := r.s.pos
	if err := r.known(); err != nil {
		return err
	}
	if r.list > 0 && !r.inline {
		r.s.frames, r.s.arrays = append(r.s.frames[:0], jsonFrame{begun: true, key: "items"}), 0
		r.s.pos = r.list
		r.items()
		if r.s.pos == r.after && !r.cut {
			r.s.pos = end
		} else { // mark found the end of the items by counting brackets only
			r.members()
		}
	}
	r.finish()
	if !r.s.ended && !r.stopped {
		r.trailer()
	}
	return nil
}

// trailer reports text after the end of the feed.
func (r *jsonReader) trailer() {
	r.s.frames = r.s.frames[:0]
	for r.s.space() {
		switch r.s.doc[r.s.pos] {
		case ')', ';', ']': // these end the function call that jsonStart reported
			r.s.pos++
			continue
		}
		r.report(ProblemJunk, r.s.pos, "There is text after the end of the feed; it is skipped.")
		return
	}
}

// known returns an error if the document is not a JSON Feed, and checks the version.
func (r *jsonReader) known() error {
	version, exact := jsonVersion(r.version)
	r.f.Format, r.f.Version = JSONFeed, version
	if version != "" && exact {
		return nil
	}
	sure := strings.Contains(strings.ToLower(r.version), "jsonfeed") || r.likely()
	switch {
	case r.version == "" && !(r.cut && sure):
		return r.noFeed("it has no version" + r.names())
	case r.version == "":
		r.report(ProblemVersion, 0, "The document ends before its version; its members are those of a JSON Feed.")
	case !sure:
		return r.noFeed("it has the version " + quote(r.version) + ", which is not a version of JSON Feed" + r.names())
	case version == "":
		r.report(ProblemVersion, 0, "JSON Feed has no version "+quote(r.version)+"; the feed is read as 1.1.")
	case version != "1.0" && version != "1.1":
		r.report(ProblemVersion, 0, "Version "+quote(version)+" of JSON Feed is unknown; the feed is read as 1.1.")
	default:
		r.report(ProblemVersion, 0, "The version is "+quote(r.version)+" where it should be https://jsonfeed.org/version/"+strings.TrimSuffix(version, ".0")+".")
	}
	return nil
}

// names lists the first names of the feed for an error message.
func (r *jsonReader) names() string {
	if len(r.keys) == 0 {
		return "; it has no members"
	}
	return "; its members are " + strings.Join(r.keys, ", ")
}

// likely reports whether the beginning of the document contains names that hardly any format other
// than JSON Feed uses.
func (r *jsonReader) likely() bool {
	start := r.s.doc[:min(len(r.s.doc), 1<<16)]
	for _, name := range [...]string{`"content_html"`, `"content_text"`, `"date_published"`, `"home_page_url"`, `"feed_url"`} {
		if strings.Contains(start, name) {
			return true
		}
	}
	return false
}

// jsonVersion returns the version number in raw, or "". exact is true for the URL that the
// specification defines.
func jsonVersion(raw string) (number string, exact bool) {
	switch raw {
	case "https://jsonfeed.org/version/1.1":
		return "1.1", true
	case "https://jsonfeed.org/version/1":
		return "1.0", true
	}
	s := strings.TrimRight(strings.ToLower(raw), "/#? ")
	s = s[strings.LastIndexAny(s, "/ ")+1:]
	switch s = strings.TrimPrefix(s, "v"); s {
	case "1", "1.0":
		return "1.0", false
	case "1.1":
		return "1.1", false
	}
	if strings.Contains(strings.ToLower(raw), "jsonfeed") && len(s) <= 8 && digits(s) > 0 {
		return s, false
	}
	return "", false
}

// members reads the members of the open feed object.
func (r *jsonReader) members() {
	var seen jsonNames
	for {
		key, ok := r.s.key()
		if !ok {
			return
		}
		if len(r.keys) < 6 {
			r.keys = append(r.keys, jsonSample(key))
		}
		n := r.name(key, feedNames, &seen)
		if n == nameItems {
			if !r.mark() {
				return
			}
			continue
		}
		r.member(n, key)
	}
}

// mark reads the items now if ready, and otherwise stores their offset for later. It returns
// false if parsing stops here or the document ends.
func (r *jsonReader) mark() bool {
	if r.inline || r.ready() {
		r.inline = true
		r.list = r.s.pos
		r.items()
		return !r.stopped
	}
	if !r.s.space() {
		return true // key will report the end of the document
	}
	if c := r.s.doc[r.s.pos]; c != '[' && c != '{' {
		if v := r.s.value(); v.kind != jsonNull {
			r.report(ProblemValue, v.at, "The value of items is not a list.")
		}
		return true
	}
	r.list = r.s.pos
	ok := r.s.skip()
	r.after, r.cut = r.s.pos, !ok
	return ok
}

// ready reports whether the version, the base URL and the language are known. If the document ends
// with a list, no language can follow.
func (r *jsonReader) ready() bool {
	_, exact := jsonVersion(r.version)
	if !exact || r.root == nil && r.f.Self == "" {
		return false
	}
	end, ok := strings.CutSuffix(strings.TrimRight(r.s.doc, " \n\r\t"), "}")
	tail := r.s.doc[max(0, len(r.s.doc)-2048):] // the last list may be another list than the items
	return r.hasLanguage || ok && !strings.Contains(tail, `"language"`) && strings.HasSuffix(strings.TrimRight(end, " \n\r\t"), "]")
}

// member reads the value of one member of the feed.
func (r *jsonReader) member(n jsonName, key string) {
	f := r.f
	switch n {
	case nameVersion:
		r.version = r.text()
	case nameTitle:
		f.Title = r.plainText()
	case nameDescription:
		f.Subtitle = r.plainText()
	case nameUserComment:
		f.Info = r.plainText()
	case nameHomePageURL:
		f.Link = r.address()
	case nameFeedURL:
		f.Self = r.address()
	case nameNextURL:
		f.Next = r.address()
	case nameIcon:
		f.Image = nil
		if u := r.address(); u != "" {
			f.Image = &Image{URL: u}
		}
	case nameFavicon:
		f.Icon = r.address()
	case nameAuthor:
		r.author = r.persons(key)
	case nameAuthors:
		f.Authors = r.persons(key)
	case nameLanguage:
		if lang := r.text(); lang != "" {
			f.Language, r.hasLanguage = dashed(lang), true
		}
	case nameExpired:
		f.Hints.Expired = r.boolean()
	case nameHubs:
		f.Hubs = r.hubs(key)
	default:
		f.Unknown = r.tree(key, r.s.value(), f.Unknown)
	}
}

// finish does the work that needs all members of the feed.
func (r *jsonReader) finish() {
	f := r.f
	f.ID = f.Self // spec:jsonfeed11-2020#feed-url
	for _, u := range [...]*string{&f.Link, &f.Self, &f.Next, &f.Icon} {
		*u = r.url(*u)
	}
	if f.Image != nil {
		f.Image.URL = r.url(f.Image.URL)
	}
	for _, l := range [...]Link{{Rel: "alternate", Href: f.Link}, {Rel: "self", Href: f.Self}, {Rel: "next", Href: f.Next}} {
		if l.Href != "" {
			f.Links = append(f.Links, l)
		}
	}
	f.Authors = mergeAuthors(f.Authors, r.author)
	for i := range f.Authors { // the URL of the feed was not known when the authors were read
		f.Authors[i].URL, f.Authors[i].Avatar = r.url(f.Authors[i].URL), r.url(f.Authors[i].Avatar)
	}
	for i := range f.Hubs {
		f.Hubs[i].URL = r.url(f.Hubs[i].URL)
	}
	for _, t := range [...]*Text{&f.Title, &f.Subtitle, &f.Info} {
		r.setText(t, f.Language)
	}
	if f.Language != r.lang && r.list > 0 { // the language was declared after the items
		for i := range f.Items {
			r.inheritLanguage(&f.Items[i])
		}
	}
	if r.stopped || r.s.ended {
		return
	}
	if f.Title.Value == "" {
		r.report(ProblemMissing, 0, "The feed has no title.")
	}
	if r.list == 0 {
		r.report(ProblemMissing, 0, "The feed has no list of items, not even an empty one.")
	}
}

// inheritLanguage sets the language of the feed for the texts of an item that declares no language.
func (r *jsonReader) inheritLanguage(it *Item) {
	if it.More != nil && it.More.Language != "" {
		return
	}
	r.setText(&it.Title, r.f.Language)
	r.setText(&it.Summary, r.f.Language)
	for i := range it.Content {
		it.Content[i].Language = r.f.Language
	}
}

// mergeAuthors appends the author of version 1.0 to the authors of version 1.1, without
// duplicates.
// spec:jsonfeed11-2020#authors
func mergeAuthors(authors, old []Person) []Person {
	const few = 20 // maximum length of lists that are compared; version 1.0 has one author
	for i, p := range old {
		same := func(q Person) bool {
			return q == p || q.Name == p.Name && p.Name != "" || q.URL == p.URL && p.URL != "" && p.Name == ""
		}
		if i >= few || !slices.ContainsFunc(authors, same) {
			authors = append(authors, p)
		}
	}
	return authors
}

// setText sets the inherited properties of a text.
func (r *jsonReader) setText(t *Text, lang string) {
	if t.Value != "" {
		t.Language, t.Base = lang, r.root.String()
	}
}
