package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
)

// These limits apply to one item, including its comments.
const (
	maxWXRItem = 64 << 20  // maximum bytes of an item
	maxWXRTags = 1_000_000 // maximum number of "<": an element takes a hundred bytes in memory but only four in the file
)

// isWXR reports whether head is the beginning of a WordPress export: RSS with elements in WordPress
// namespaces.
func isWXR(head []byte) bool {
	return bytes.Contains(head, []byte("<rss")) && (bytes.Contains(head, []byte("wordpress.org/export/")) || bytes.Contains(head, []byte("wp:wxr_version")))
}

// wxrElement is an element of an item with its content. Namespace URLs differ between WXR versions,
// so only their last segment is compared.
type wxrElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr   `xml:",any,attr"`
	Text     string       `xml:",chardata"`
	Elements []wxrElement `xml:",any"`
}

// get returns the text of the first child element called name, "" if there is none. name may have a
// prefix: "wp:status", "content:encoded".
func (e *wxrElement) get(name string) string {
	kind, local, found := strings.Cut(name, ":")
	if !found {
		kind, local = "", name
	}
	for i := range e.Elements {
		if x := &e.Elements[i]; x.XMLName.Local == local && wxrPrefix(x.XMLName.Space) == kind {
			return x.Text
		}
	}
	return ""
}

func (e *wxrElement) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// wxrPrefix returns the usual prefix of a namespace.
func wxrPrefix(space string) string {
	switch {
	case space == "wp", strings.HasPrefix(space, "http://wordpress.org/export/") && !strings.Contains(space, "/excerpt"):
		return "wp"
	case space == "excerpt", strings.HasSuffix(strings.Trim(space, "/"), "/excerpt"):
		return "excerpt"
	case space == "content", strings.Contains(space, "/rss/1.0/modules/content"):
		return "content"
	case space == "dc", strings.Contains(space, "purl.org/dc/"):
		return "dc"
	}
	return space
}

// readWXR calls channel for the elements of the site, and item for each of its items.
func readWXR(r io.ReaderAt, size int64, channel func(name, text string), item func(*wxrElement) error) error {
	in := &itemLimit{r: &cleanXML{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10)}}
	d := xml.NewDecoder(in)
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // WordPress always writes UTF-8, regardless of the declaration
	depth, seen := 0, false
	for {
		in.left, in.tags = maxWXRItem, maxWXRTags
		token, err := d.Token()
		if errors.Is(err, io.EOF) && seen && depth == 0 {
			return nil
		}
		if err != nil {
			line, _ := d.InputPos()
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fault.Wrap(fault.Invalid, err, "The WordPress export cannot be read beyond line %d: it is incomplete or not well-formed. Export it again.", line)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if depth < 2 {
				depth, seen = depth+1, true
				continue
			}
			var e wxrElement
			if err := d.DecodeElement(&e, &x); err != nil {
				line, _ := d.InputPos()
				return fault.Wrap(fault.Invalid, err, "The WordPress export cannot be read beyond line %d: it is incomplete or not well-formed. Export it again.", line)
			}
			if x.Name.Local != "item" {
				if wxrPrefix(x.Name.Space) == "" {
					channel(x.Name.Local, e.Text)
				}
			} else if err := item(&e); err != nil {
				return err
			}
		case xml.EndElement:
			depth--
		}
	}
}

// itemLimit stops the decoder at an item that would take too much memory.
type itemLimit struct {
	r    io.Reader
	left int
	tags int
}

func (l *itemLimit) Read(p []byte) (int, error) {
	if l.left <= 0 || l.tags <= 0 {
		return 0, errors.New("an item is too large")
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	l.tags -= bytes.Count(p[:n], []byte("<"))
	return n, err
}

// cleanXML replaces characters that XML does not allow with spaces. WordPress writes such
// characters unchanged.
type cleanXML struct{ in *bufio.Reader }

func (c *cleanXML) Read(p []byte) (n int, err error) {
	for n+utf8.UTFMax <= len(p) {
		if n > 0 && c.in.Buffered() == 0 {
			return n, nil
		}
		r, size, err := c.in.ReadRune()
		if err != nil {
			return n, err
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0xfffe || r == 0xffff {
			r = ' '
		}
		if r == utf8.RuneError && size == 1 {
			r = utf8.RuneError
		}
		n += utf8.EncodeRune(p[n:], r)
	}
	if n == 0 && len(p) > 0 {
		b, err := c.in.ReadByte() // the caller's buffer is shorter than a character
		if err != nil {
			return 0, err
		}
		p[0], n = b, 1
	}
	return n, nil
}

// wxr holds the data that the first run over an export collects.
type wxr struct {
	title, blurb, link, language string
	attachments                  map[string][]author.Enclosure // key: ID of the post that uses the files
	byID                         map[string]author.Enclosure
	posts                        int
	others                       map[string]int // number of items other than posts; key: type
	undated                      int            // number of posts without a valid date that became drafts
	codes                        map[string]int // number of removed shortcodes; key: name
}

// maxAttachments is the maximum number of attachments held in memory.
const maxAttachments = 500_000

// importWXR parses the whole export before it imports the first post.
func (t *Transfer) importWXR(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	res := Result{Kind: "wordpress", Preview: opts.Preview}
	x := &wxr{attachments: map[string][]author.Enclosure{}, byID: map[string]author.Enclosure{}, others: map[string]int{}, codes: map[string]int{}}
	if err := readWXR(r, size, x.channel, x.scan); err != nil {
		return res, err
	}
	b := t.newBatch(user, &res, progress, x.posts, opts)
	err := readWXR(r, size, func(string, string) {}, func(e *wxrElement) error {
		if e.get("wp:post_type") != "post" && e.get("wp:post_type") != "" {
			return ctx.Err()
		}
		p, reason := x.post(e)
		if reason != "" {
			b.leave(reason)
			return nil
		}
		old := webURL(e.get("link"))
		if old == "" && p.PermaLink {
			old = p.GUID
		}
		return b.addMoved(ctx, p, old)
	})
	if err == nil {
		err = b.finish(ctx)
	}
	if err != nil {
		return res, err
	}
	x.report(&res)
	if opts.Preview {
		return res, nil
	}
	return res, t.importProfile(ctx, user, author.Profile{Title: clip(unescape(x.title), 290), Blurb: clip(unescape(x.blurb), 300), Link: webURL(x.link), Language: x.language}, &res)
}

// report adds what the import left out or changed to the problems.
func (x *wxr) report(res *Result) {
	if x.undated > 0 {
		res.problem(fmt.Sprintf("%s: %d.", noteNoDate, x.undated))
	}
	for _, kind := range slices.Sorted(maps.Keys(x.others)) {
		res.problem(fmt.Sprintf("Items other than posts were left out: %d × %s.", x.others[kind], clip(kind, 40)))
	}
	for _, name := range slices.Sorted(maps.Keys(x.codes)) {
		res.problem(fmt.Sprintf("Shortcodes of WordPress were removed: %d × [%s].", x.codes[name], clip(name, 40)))
	}
}

func (x *wxr) channel(name, text string) {
	text = strings.TrimSpace(text)
	switch name {
	case "title":
		x.title = text
	case "description":
		x.blurb = text
	case "link":
		x.link = text
	case "language":
		x.language = text
	}
}

// scan records which files belong to which posts.
func (x *wxr) scan(e *wxrElement) error {
	switch kind := e.get("wp:post_type"); kind {
	case "post", "":
		x.posts++
	case "attachment":
		at := webURL(strings.TrimSpace(e.get("wp:attachment_url")))
		if at == "" || len(x.byID) >= maxAttachments {
			return nil
		}
		f := author.Enclosure{URL: at, Type: typeOf(at), Title: clip(unescape(strings.TrimSpace(e.get("title"))), 300)}
		x.byID[e.get("wp:post_id")] = f
		if parent := e.get("wp:post_parent"); parent != "" && parent != "0" {
			x.attachments[parent] = append(x.attachments[parent], f)
		}
	default:
		if x.others[kind]++; len(x.others) > 1000 {
			return fault.New(fault.Invalid, "The export has more than 1,000 types of items.")
		}
	}
	return nil
}

// post converts an item, or returns the reason for leaving the item out.
func (x *wxr) post(e *wxrElement) (p author.Post, reason string) {
	title := clip(oneLine(unescape(e.get("title"))), 290)
	p = author.Post{GUID: strings.TrimSpace(e.get("guid")), Slug: slugOf(e.get("wp:post_name"))}
	switch status := e.get("wp:status"); status {
	case "publish", "":
		p.State = author.Published
	case "future":
		p.State = author.Scheduled
	case "draft", "pending", "private":
		p.State = author.Draft
	default:
		return p, fmt.Sprintf("“%s” was left out: its status is %q.", cmp.Or(title, "a post without title"), clip(status, 40))
	}
	if e.get("wp:post_password") != "" {
		p.State = author.Draft // a post with a password is not public
	}
	for i := range e.Elements {
		if g := &e.Elements[i]; g.XMLName.Local == "guid" {
			p.PermaLink = g.attr("isPermaLink") != "false" && webURL(p.GUID) != ""
		}
	}
	x.dates(e, &p)
	p.Title = title
	text, played := x.expand(e.get("content:encoded"))
	p.Source, p.Format = paragraphs(text), author.HTML
	if strings.TrimSpace(p.Source) == "" {
		text, played = x.expand(e.get("excerpt:encoded"))
		p.Source = paragraphs(text)
	}
	p.Source = x.absolute(p.Source, webURL(e.get("link")))
	p.Categories = wxrCategories(e)
	p.Enclosures = x.enclosures(e, p.Source)
	if !slices.ContainsFunc(p.Enclosures, func(f author.Enclosure) bool { return isPlayed(f.Type) }) {
		p.Enclosures = append(p.Enclosures, played...)
	}
	if p.GUID == "" {
		p.Key = "wordpress-" + clip(e.get("wp:post_id"), 40)
	}
	return p, ""
}

// absolute resolves relative references against the former page of a post, or else its site.
// References to a part of the post stay relative.
func (x *wxr) absolute(html, page string) string {
	page = cmp.Or(page, webURL(x.link))
	return strings.ReplaceAll(href.HTML(html, href.New(page)), `"`+page+"#", `"#`)
}

// dates prefers the times in GMT. A draft has no times in GMT, only a local time of the blog. Another
// post without a valid time becomes a draft.
func (x *wxr) dates(e *wxrElement, p *author.Post) {
	at := firstTime(e.get("wp:post_date_gmt"), e.get("wp:post_date"))
	if at.IsZero() {
		at = parseTime(e.get("pubDate"))
	}
	if at.IsZero() && p.State != author.Draft {
		p.State = author.Draft
		x.undated++
	}
	p.CreatedAt, p.UpdatedAt = at, firstTime(e.get("wp:post_modified_gmt"), e.get("wp:post_modified"))
	switch p.State {
	case author.Scheduled:
		p.DueAt = at
	case author.Published:
		p.PublishedAt = at
	}
}

func firstTime(texts ...string) time.Time {
	for _, s := range texts {
		if t, err := time.Parse(time.DateTime, strings.TrimSpace(s)); err == nil && t.Year() > 1 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// wxrCategories returns the categories and tags, except the default category.
func wxrCategories(e *wxrElement) (all []string) {
	for i := range e.Elements {
		c := &e.Elements[i]
		if c.XMLName.Local != "category" || c.XMLName.Space != "" {
			continue
		}
		domain := c.attr("domain")
		if domain != "category" && domain != "post_tag" && domain != "tag" && domain != "" || c.attr("nicename") == "uncategorized" {
			continue
		}
		label := clip(oneLine(unescape(c.Text)), 90)
		if label != "" && !slices.Contains(all, label) {
			all = append(all, label)
		}
	}
	return all
}

// enclosures returns podcast files, the featured image, and uploads of the post that its text does
// not show.
func (x *wxr) enclosures(e *wxrElement, text string) (all []author.Enclosure) {
	add := func(f author.Enclosure) {
		for _, other := range all {
			if other.URL == f.URL {
				return
			}
		}
		all = append(all, f)
	}
	for i := range e.Elements {
		switch m := &e.Elements[i]; {
		case m.XMLName.Local == "enclosure" && m.XMLName.Space == "":
			if at := webURL(m.attr("url")); at != "" {
				n, _ := strconv.ParseInt(m.attr("length"), 10, 64) // an invalid length counts as unknown
				add(author.Enclosure{URL: at, Type: m.attr("type"), Length: max(n, 0)})
			}
		case m.XMLName.Local == "postmeta" && m.get("wp:meta_key") == "enclosure":
			lines := strings.Split(strings.ReplaceAll(m.get("wp:meta_value"), "\r", ""), "\n")
			lines = append(lines, "", "")
			if at := webURL(strings.TrimSpace(lines[0])); at != "" {
				n, _ := strconv.ParseInt(strings.TrimSpace(lines[1]), 10, 64) // an invalid length counts as unknown
				add(author.Enclosure{URL: at, Length: max(n, 0), Type: strings.TrimSpace(lines[2])})
			}
		case m.XMLName.Local == "postmeta" && m.get("wp:meta_key") == "_thumbnail_id":
			if f, ok := x.byID[strings.TrimSpace(m.get("wp:meta_value"))]; ok && !shown(f.URL, text) {
				add(f)
			}
		}
	}
	for _, f := range x.attachments[e.get("wp:post_id")] {
		if !shown(f.URL, text) {
			add(f)
		}
	}
	return all
}

// shown reports whether the text already contains the file, in any size: WordPress inserts the size
// between the base name and the extension.
func shown(at, text string) bool {
	return strings.Contains(text, strings.TrimSuffix(at, path.Ext(at)))
}

func slugOf(s string) string {
	if plain, err := url.PathUnescape(strings.TrimSpace(s)); err == nil {
		return plain
	}
	return ""
}
