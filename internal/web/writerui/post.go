package writerui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

// postForm is a post as form values, exactly as typed, so that the page can show them again after
// an error.
type postForm struct {
	ID, Base       int64 // number of the post, and the revision that the form shows; 0: a new post
	Copy, CopyBase int64 // number and revision of the draft with unpublished changes of the post; 0: none
	Key            string
	Writer         string // the user who opened the form

	Title, Source, Link, Language, Categories string

	Format  author.Format
	Outline string // []author.Node as JSON; "": none
	Files   []fileField
	Reply   author.Reply
	Card    author.Card // preview of a link; the post has no preview if the URL is ""

	Audience string   // forEveryone, forGroups, or "": the form has no such field
	Groups   []string // slugs of the chosen groups

	// When is a local time such as "2026-11-22T15:04", in a zone Offset minutes east of UTC. Was is
	// the initial value of When. If they are equal, the post keeps its time, because When has no
	// seconds.
	When, Was, Offset string
}

// fileField is an enclosure in the form.
type fileField struct {
	URL, Type, Length, Title, Alt string

	Bad string // error message about the file
}

// HasImage reports whether the file is an image.
func (f fileField) HasImage() bool { return strings.HasPrefix(f.Type, "image/") }

// Name returns the file name for people.
func (f fileField) Name() string {
	if f.Title != "" {
		return f.Title
	}
	if name := content.LastPathPart(f.URL); name != "" {
		return name
	}
	return shell.ShortURL(f.URL)
}

// Size returns the length of the file with a unit; "": the length is unknown.
func (f fileField) Size() string {
	n, err := strconv.ParseInt(f.Length, 10, 64)
	if err != nil || n <= 0 {
		return ""
	}
	return shell.FormatBytes(n)
}

// Here reports whether the file is hosted on this server.
func (f fileField) Here() bool {
	return strings.HasPrefix(f.URL, "/") && !strings.HasPrefix(f.URL, "//")
}

// postFormOf returns the form of a stored post.
func postFormOf(p author.Post, zone *time.Location) postForm {
	f := postForm{ID: p.ID, Base: p.Revision, Key: p.Key, Writer: p.User}
	f.fill(p.Content)
	at := p.DueAt
	if p.State.HasReaders() {
		at = p.PublishedAt
	}
	if !at.IsZero() {
		f.When = at.In(zone).Format(minuteForm)
		f.Was = f.When
	}
	return f
}

// fill puts content into the form.
func (f *postForm) fill(c author.Content) {
	f.Title, f.Source, f.Link, f.Language, f.Format = c.Title, c.Source, c.Link, c.Language, c.Format
	f.Categories = strings.Join(explicit(c), ", ")
	f.Files, f.Outline, f.Reply, f.Card = nil, "", author.Reply{}, author.Card{}
	if c.Card != nil {
		f.Card = *c.Card
	}
	f.fillAudience(c)
	for _, e := range c.Enclosures {
		f.Files = append(f.Files, fileField{URL: e.URL, Type: e.Type, Length: strconv.FormatInt(e.Length, 10), Title: e.Title, Alt: e.Alt})
	}
	if c.Reply != nil {
		f.Reply = *c.Reply
	}
	if len(c.Outline) > 0 {
		if b, err := json.Marshal(c.Outline); err == nil {
			f.Outline = string(b)
		}
	}
}

// explicit returns the categories that do not come from hashtags in the text.
func explicit(c author.Content) []string {
	return slices.DeleteFunc(slices.Clone(c.Categories), func(l string) bool {
		return slices.ContainsFunc(c.Hashtags, func(tag string) bool { return author.CategoryName(tag) == author.CategoryName(l) })
	})
}

// apply puts the values of the form into the content. Properties without a field are kept.
// fault.Invalid: the outline is not valid JSON.
func (f *postForm) apply(c *author.Content) error {
	var nodes []author.Node
	if f.Outline != "" {
		if err := json.Unmarshal([]byte(f.Outline), &nodes); err != nil {
			return fault.Wrap(fault.Invalid, err, "The outline cannot be read. Nothing else was changed.")
		}
	}
	c.Title, c.Source, c.Link, c.Language = f.Title, f.Source, f.Link, f.Language
	c.Format = f.Format
	c.Categories, c.Hashtags = f.labels(), nil
	c.Card = nil
	if f.Card.URL != "" {
		card := f.Card
		c.Card = &card
	}
	c.Outline = nodes
	before := c.Enclosures
	c.Enclosures = nil
	for _, file := range f.Files {
		e := author.Enclosure{URL: file.URL}
		if at := slices.IndexFunc(before, func(b author.Enclosure) bool { return b.URL == file.URL }); at >= 0 {
			e = before[at] // keep its duration, which has no field
		}
		e.Type, e.Title, e.Alt = file.Type, file.Title, file.Alt
		e.Length, _ = strconv.ParseInt(file.Length, 10, 64) // an invalid number means unknown
		e.Length = max(e.Length, 0)
		c.Enclosures = append(c.Enclosures, e)
	}
	f.applyAudience(c)
	c.Reply = nil
	if f.Reply.URL != "" || f.Reply.GUID != "" {
		reply := f.Reply
		c.Reply = &reply
	}
	return nil
}

// labels returns the categories, which are separated by commas.
func (f *postForm) labels() []string {
	var all []string
	for l := range strings.SplitSeq(f.Categories, ",") {
		if l = strings.TrimSpace(l); l != "" {
			all = append(all, l)
		}
	}
	return all
}

// isEmpty reports whether the form has no text.
func (f *postForm) isEmpty() bool {
	return strings.TrimSpace(f.Title+f.Source+f.Link+f.Categories+f.Outline) == "" && len(f.Files) == 0 && f.Reply == author.Reply{} && f.Card.URL == ""
}

// minuteForm is the format of datetime-local fields.
const minuteForm = "2006-01-02T15:04"

// moment returns the date to set; zero: the form has no date, or the user did not change it.
func (f *postForm) moment() (time.Time, error) {
	if f.When == f.Was {
		return time.Time{}, nil
	}
	return f.date()
}

// date returns the date in the form; zero: none.
func (f *postForm) date() (time.Time, error) {
	if f.When == "" {
		return time.Time{}, nil
	}
	minutes, err := strconv.Atoi(f.Offset)
	if err != nil || minutes < -16*60 || minutes > 16*60 {
		minutes = 0
	}
	zone := time.FixedZone("", minutes*60)
	for _, form := range []string{minuteForm, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, f.When, zone); err == nil && t.Year() > 0 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.In(fault.New(fault.Invalid, "%q is not a date and time. Write it as 2026-11-22 15:04.", shell.CleanText(f.When, 40)), "at")
}

// at sets the offset of the form from the user's zone at its date, unless the form has one.
func (f *postForm) at(zone *time.Location, now time.Time) {
	if f.Offset != "" {
		return
	}
	if t, err := time.ParseInLocation(minuteForm, f.When, zone); err == nil {
		now = t
	}
	_, seconds := now.In(zone).Zone()
	f.Offset = strconv.Itoa(seconds / 60)
}
