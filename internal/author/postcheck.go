package author

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/author/markup"
	"cloudburst/internal/fault"
)

// Limits of a post.
const (
	MaxSource     = 256 << 10 // maximum bytes of the source, including nested posts
	MaxTitle      = 300       // maximum characters of a title
	MaxCategories = 50
	MaxEnclosures = 50
	MaxNodes      = 5000 // maximum number of nested posts on all levels
	MaxDepth      = 50   // maximum number of levels of nested posts
	maxLabel      = 100  // maximum characters of a category
	maxURL        = 2048
	maxSlug       = 100

	maxProperties    = 100
	maxPropertyBytes = 64 << 10
)

// checkContent normalizes a content, and returns a fault.Invalid if it cannot be stored.
func checkContent(c *Content) error {
	c.Title = strings.Join(strings.Fields(markup.CleanText(c.Title)), " ")
	if n := utf8.RuneCountInString(c.Title); n > MaxTitle {
		return fault.In(fault.New(fault.Invalid, "The title has %d characters; at most %d are accepted.", n, MaxTitle), "title")
	}
	switch c.Format {
	case "":
		c.Format = Markdown
	case Markdown, HTML, Plain:
	default:
		return fault.In(fault.New(fault.Invalid, "%q is not a format of posts: use markdown, html or text.", clip(string(c.Format))), "format")
	}
	c.Source = markup.CleanText(c.Source)
	left := MaxSource - len(c.Source)
	if left < 0 {
		return fault.In(fault.New(fault.Invalid, "The text has %d bytes; at most %d (256 KiB) are accepted. Publish it in several posts.", len(c.Source), MaxSource), "source")
	}
	var err error
	if c.Categories, err = checkCategories(c.Categories); err != nil {
		return fault.In(err, "categories")
	}
	_, c.Keywords = c.SplitCategories()
	if c.Groups, err = groupNames(c.Groups); err != nil {
		return fault.In(err, "groups")
	}
	if err = checkProperties(c.Properties); err != nil {
		return fault.In(err, "properties")
	}
	if c.Link, err = CheckURL("link", c.Link, false); err != nil {
		return fault.In(err, "link")
	}
	if err = checkEnclosures(c.Enclosures); err != nil {
		return fault.In(err, "enclosures")
	}
	if err = checkReply(c); err != nil {
		return fault.In(err, "reply")
	}
	if err = checkCard(c); err != nil {
		return fault.In(err, "card")
	}
	if c.Language = strings.TrimSpace(c.Language); c.Language != "" && !language.MatchString(c.Language) {
		return fault.In(fault.New(fault.Invalid, "%q is not a language: write it as en or de-CH.", clip(c.Language)), "language")
	}
	count := 0
	return fault.In(checkNodes(c.Outline, 1, &left, &count), "outline")
}

// checkProperties limits the number and size of Micropub properties, which are stored without an
// interpretation.
func checkProperties(all map[string]json.RawMessage) error {
	size := 0
	for name, values := range all {
		size += len(name) + len(values)
	}
	if len(all) > maxProperties || size > maxPropertyBytes {
		return fault.New(fault.Invalid, "The post has %d properties that this server only stores, of %d bytes together; at most %d of %d bytes are accepted.", len(all), size, maxProperties, maxPropertyBytes)
	}
	return nil
}

func checkReply(c *Content) (err error) {
	r := c.Reply
	if r == nil {
		return nil
	}
	if r.URL, err = CheckURL("post that this answers", r.URL, true); err != nil {
		return fault.In(err, "url")
	}
	if r.Feed, err = CheckURL("feed of the post that this answers", r.Feed, false); err != nil {
		return fault.In(err, "feed")
	}
	r.GUID, r.Title = strings.TrimSpace(markup.CleanText(r.GUID)), clipRunes(strings.Join(strings.Fields(markup.CleanText(r.Title)), " "), MaxTitle)
	if len(r.GUID) > maxURL {
		return fault.In(fault.New(fault.Invalid, "The guid of the post that this answers has %d bytes; at most %d are accepted.", len(r.GUID), maxURL), "guid")
	}
	if r.URL == "" && r.GUID == "" {
		c.Reply = nil
	}
	return nil
}

// maxCardText is the maximum length of the description of a card, in characters.
const maxCardText = 1000

// checkCard normalizes the card of a content. It removes a card without a URL, and an image with an
// invalid URL, because the author cannot correct data that comes from another server.
func checkCard(c *Content) (err error) {
	k := c.Card
	if k == nil {
		return nil
	}
	if k.URL, err = CheckURL("link preview", k.URL, false); err != nil {
		return fault.In(err, "url")
	}
	k.Title = clipRunes(strings.Join(strings.Fields(markup.CleanText(k.Title)), " "), MaxTitle)
	k.Description = clipRunes(strings.Join(strings.Fields(markup.CleanText(k.Description)), " "), maxCardText)
	if k.Image, err = CheckURL("image", k.Image, false); err != nil {
		k.Image = ""
	}
	if k.URL == "" {
		c.Card = nil
	}
	return nil
}

func checkNodes(nodes []Node, depth int, left, count *int) error {
	if *count += len(nodes); *count > MaxNodes {
		return fault.New(fault.Invalid, "The outline has more than %d headlines.", MaxNodes)
	}
	if depth > MaxDepth && len(nodes) > 0 {
		return fault.New(fault.Invalid, "The outline is more than %d levels deep.", MaxDepth)
	}
	for i := range nodes {
		if err := checkNode(&nodes[i], depth, left, count); err != nil {
			return fault.In(err, fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func checkNode(n *Node, depth int, left, count *int) (err error) {
	n.Text, n.Title = markup.CleanText(n.Text), markup.CleanText(n.Title)
	if n.GUID = strings.TrimSpace(markup.CleanText(n.GUID)); len(n.GUID) > maxURL {
		return fault.In(fault.New(fault.Invalid, "The guid of a headline has %d bytes; at most %d are accepted.", len(n.GUID), maxURL), "guid")
	}
	if *left -= n.size(); *left < 0 {
		return fault.New(fault.Invalid, "The text and its outline have more than %d bytes (256 KiB) together.", MaxSource)
	}
	if n.Link, err = CheckURL("link of a headline", n.Link, false); err != nil {
		return fault.In(err, "link")
	}
	if n.Categories, err = checkCategories(n.Categories); err != nil {
		return fault.In(err, "categories")
	}
	if err = checkEnclosures(n.Enclosures); err != nil {
		return fault.In(err, "enclosures")
	}
	return fault.In(checkNodes(n.Nodes, depth+1, left, count), "nodes")
}

// size returns the number of bytes of a headline's text, title and attributes.
func (n *Node) size() int {
	size := len(n.Text) + len(n.Title)
	for i := range n.Attrs {
		a := &n.Attrs[i]
		a.Name, a.Value = markup.CleanText(a.Name), markup.CleanText(a.Value)
		size += len(a.Space) + len(a.Name) + len(a.Value)
	}
	return size
}

// checkCategories normalizes labels and removes duplicates. fault.Invalid: a label is invalid, or
// there are too many.
func checkCategories(labels []string) ([]string, error) {
	var all, names []string
	for i, l := range labels {
		l = strings.TrimPrefix(strings.Join(strings.Fields(markup.CleanText(l)), " "), "#")
		name := CategoryName(l)
		switch {
		case l == "" || slices.Contains(names, name) && name != "":
			continue
		case name == "":
			return nil, fault.In(fault.New(fault.Invalid, "%q cannot be a category: it must contain a letter or a digit.", clip(l)), fmt.Sprintf("[%d]", i))
		case utf8.RuneCountInString(l) > maxLabel:
			return nil, fault.In(fault.New(fault.Invalid, "The category %q has more than %d characters.", clip(l), maxLabel), fmt.Sprintf("[%d]", i))
		case len(all) == MaxCategories:
			return nil, fault.New(fault.Invalid, "The post has more than %d categories.", MaxCategories)
		}
		all, names = append(all, l), append(names, name)
	}
	return all, nil
}

func checkEnclosures(list []Enclosure) error {
	if len(list) > MaxEnclosures {
		return fault.New(fault.Invalid, "The post has %d enclosures; at most %d are accepted.", len(list), MaxEnclosures)
	}
	for i := range list {
		if err := checkEnclosure(&list[i]); err != nil {
			return fault.In(err, fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func checkEnclosure(e *Enclosure) (err error) {
	if e.URL, err = checkFileURL("enclosure", e.URL); err != nil {
		return fault.In(err, "url")
	}
	e.Type, e.Title, e.Alt = markup.CleanText(e.Type), markup.CleanText(e.Title), markup.CleanText(e.Alt)
	field, what := "", "The description of the enclosure %s is too long."
	switch {
	case e.URL == "":
		return fault.In(fault.New(fault.Invalid, "An enclosure has no URL."), "url")
	case e.Length < 0:
		field, what = "length", "The enclosure %s has a negative size."
	case e.Duration < 0:
		field, what = "duration_s", "The enclosure %s has a negative duration."
	case len(e.Type) > 200:
		field = "type"
	case len(e.Title) > 1000:
		field = "title"
	case len(e.Alt) > 4000:
		field = "alt"
	default:
		return nil
	}
	return fault.In(fault.New(fault.Invalid, what, clip(e.URL)), field)
}

// CheckURL returns the URL raw in its stored form. anyScheme allows schemes other than http and
// https. The fault.Invalid of an invalid URL contains what, the name of the field.
func CheckURL(what, raw string, anyScheme bool) (string, error) {
	raw = strings.TrimSpace(markup.CleanText(raw))
	if raw == "" {
		return "", nil
	}
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxURL:
		return "", fault.New(fault.Invalid, "The address of the %s has %d bytes; at most %d are accepted.", what, len(raw), maxURL)
	case anyScheme && err == nil && u.Scheme != "" && !slices.Contains([]string{"javascript", "data", "vbscript"}, strings.ToLower(u.Scheme)):
		return raw, nil
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fault.New(fault.Invalid, "The address of the %s, %q, is not a URL: it must begin with http:// or https://.", what, clip(raw))
	case u.User != nil:
		return "", fault.New(fault.Invalid, "The address of the %s contains a user name or password, which every reader would see; remove it.", what)
	}
	return asciiURL(u.String()), nil
}

// checkFileURL is like CheckURL but also accepts a path on this server.
func checkFileURL(what, raw string) (string, error) {
	raw = strings.TrimSpace(markup.CleanText(raw))
	if !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") {
		return CheckURL(what, raw, false)
	}
	if len(raw) > maxURL {
		return "", fault.New(fault.Invalid, "The address of the %s has %d bytes; at most %d are accepted.", what, len(raw), maxURL)
	}
	return asciiURL(raw), nil
}

// asciiURL percent-encodes characters that URLs in feeds must not contain.
func asciiURL(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c <= ' ' || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// empty reports whether a content has nothing to publish.
func (c *Content) empty() bool {
	return c.Title == "" && strings.TrimSpace(c.Source) == "" && c.Link == "" && len(c.Enclosures) == 0 && len(c.Outline) == 0
}
