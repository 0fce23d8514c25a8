package render

import (
	"cmp"
	"slices"
	"strconv"

	"cloudburst/feed"
)

// cloudElement writes one cloud, if all of its attributes are known.
//
// spec:rss20-2003#cloud
func (r *rss) cloudElement() {
	c := r.cloud()
	if c == nil {
		return
	}
	if r.v < 92 {
		r.lose(lostClouds, true)
		return
	}
	if r.o.Cloud == nil && len(r.f.Clouds) > 1 {
		r.warn("cloud-several", "cloud", "A channel can have one cloud; the others are omitted.")
	}
	if port, err := strconv.Atoi(c.Port); err != nil || port < 1 || port > 65535 || c.Protocol == "" || c.Path == "" {
		r.warn("cloud-incomplete", "cloud", "A cloud without a port, a path or a protocol is omitted.")
		return
	}
	r.tag("cloud", nil)
	r.attr("domain", c.Domain)
	r.attr("port", c.Port)
	r.attr("path", c.Path)
	r.attr("registerProcedure", c.RegisterProcedure)
	r.attr("protocol", c.Protocol)
	r.b = append(r.b, "/>"...)
}

// ttl writes how many minutes readers may cache the feed.
func (r *rss) ttl() {
	ttl := r.f.Hints.TTL
	if ttl == "" {
		return
	}
	switch n, err := strconv.ParseUint(ttl, 10, 31); {
	case r.v < 200:
		r.lose(lostHints, true)
	case err != nil || n == 0:
		r.warn("ttl", "ttl", "This is not a number of minutes and is omitted: ", short(ttl), ".")
	default:
		r.leaf("ttl", ttl)
	}
}

// imageElement writes the image of the channel. The image needs a title and a link; if they are
// missing, those of the channel are used.
//
// spec:rss20-2003#image
func (r *rss) imageElement(title, link string) {
	img := r.f.Image
	if img == nil || img.URL == "" {
		r.requires(false, "image")
		return
	}
	if it := r.f.ITunes; r.v >= 200 && it != nil && *img == (feed.Image{URL: it.Image}) {
		return // the iTunes element contains the image
	}
	if r.image(img, title, link) {
		r.size("width", img.Width, 144)
		r.size("height", img.Height, 400)
		r.leaf("description", img.Description)
		if r.v < 200 {
			r.loseExtension(img.Extension)
		} else {
			r.extension(img.Extension)
		}
		r.writer.close("image")
	}
}

// image begins an image with the elements that every version has.
func (w *writer) image(img *feed.Image, title, link string, attrs ...string) bool {
	if img.Title != "" {
		title = img.Title
	}
	if own := w.address(img.Link, "image/link"); own != "" {
		link = own
	}
	address := w.address(img.URL, "image/url")
	if link == "" || address == "" {
		w.warn("image-incomplete", "image", "An image needs a URL and a link; one of them is missing, so the image is omitted.")
		return false
	}
	if w.format == "rss20" || w.format == "rdf" {
		w.openExtended("image", ownAttrs(img.Extension), attrs...)
	} else {
		w.open("image", attrs...)
	}
	w.element("title", title)
	w.element("url", address)
	w.element("link", link)
	return true
}

// size writes the width or height of an image in pixels, if it is within the limit.
func (r *rss) size(name string, n, limit int) {
	switch {
	case n <= 0:
	case n > limit:
		r.warn("image-size", "image/"+name, "The maximum for an image is ", strconv.Itoa(limit), " pixels in ", name, "; this number is omitted.")
	default:
		r.leaf(name, strconv.Itoa(n))
	}
}

// textInputElement writes the text input form. All its elements are required.
func (r *rss) textInputElement() {
	r.textInput("textInput", r.f.TextInput)
}

func (w *writer) textInput(name string, in *feed.TextInput, attrs ...string) {
	if in == nil {
		return
	}
	link := w.address(in.Link, "textInput/link")
	switch {
	case visibleText(in.Title) == "" || visibleText(in.Description) == "" || visibleText(in.Name) == "" || link == "":
		w.warn("textinput-incomplete", "textInput", "A form needs a title, a description, a name and a link; this one is incomplete and is omitted.")
	case !isLetter(in.Name[0]):
		w.warn("textinput-name", "textInput", "The name of a field must begin with a letter; the form is omitted: ", short(in.Name), ".")
	default:
		w.open(name, attrs...)
		w.element("title", in.Title)
		w.element("description", in.Description)
		w.element("name", in.Name)
		w.element("link", link)
		w.close(name)
	}
}

// skips writes the hours and days at which readers need not read the feed.
func (r *rss) skips() {
	// spec:feedstate-2007#skip-publish
	r.skipped("skipHours", "hour", r.f.Hints.SkipHours, func(s string) bool {
		n, err := strconv.Atoi(s)
		return err == nil && n >= 0 && n < 24
	})
	r.skipped("skipDays", "day", r.f.Hints.SkipDays, func(s string) bool {
		switch s {
		case "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday":
			return true
		}
		return false
	})
}

// skipped writes the valid values of a list, without duplicates.
func (r *rss) skipped(list, element string, values []string, ok func(string) bool) {
	open := false
	values = slices.Clone(values)
	for i, v := range values {
		if len(v) == 2 && v[0] == '0' { // accept hours of the day in this form, such as 06
			v = v[1:]
			values[i] = v
		}
		switch {
		case !ok(v):
			r.warn(list, list, "This is not a valid ", element, " and is omitted: ", short(v), ".")
			continue
		case slices.Contains(values[:i], v):
			continue
		case !open:
			r.open(list)
			open = true
		}
		r.element(element, v)
	}
	if open {
		r.writer.close(list)
	}
}

// categoryElements writes categories with their schemes. It omits those that the elements of a
// module contain.
func (r *rss) categoryElements(list []feed.Category, it *feed.ITunes, m *feed.Media) {
	for i := range list {
		c := &list[i]
		term := cmp.Or(c.Term, c.Label)
		if r.v >= 200 && inModule(c, it, m, c.Label != "" && c.Label != term) {
			continue
		}
		r.lose(lostSchemes, c.Label != "" && c.Label != term)
		if r.v < 92 {
			r.lose(lostCategories, true)
			return
		}
		if term == "" {
			continue
		}
		r.tag("category", nil)
		r.optional("domain", c.Scheme)
		r.b = append(r.b, '>')
		r.escape(term, "category", inText)
		r.endTag("category")
	}
}

// The schemes of iTunes categories, and of Media RSS categories without a scheme.
const (
	itunesScheme = "http://www.itunes.com/"
	mediaScheme  = "http://search.yahoo.com/mrss/category_schema"
)

// inModule reports whether the iTunes elements contain a category, or, if media is set, the Media RSS
// elements. Writers set media for a category that the element of the format cannot represent
// completely: parsers would read two categories.
func inModule(c *feed.Category, it *feed.ITunes, m *feed.Media, media bool) bool {
	if it != nil && c.Scheme == itunesScheme && (slices.ContainsFunc(it.Categories, func(k feed.Category) bool { return k.Term == c.Term }) || slices.Contains(it.Keywords, c.Term)) {
		return true
	}
	return media && m != nil && slices.ContainsFunc(m.Categories, func(k feed.Category) bool {
		return k.Term == c.Term && k.Label == c.Label && cmp.Or(k.Scheme, mediaScheme) == c.Scheme
	})
}
