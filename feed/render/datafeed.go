package render

import (
	"cmp"

	"cloudburst/feed"
)

// feed adds the fields of the feed, and its items.
//
// spec:datafeeds-2006#model
func (t *tree) feed(f *feed.Feed) {
	t.words("title", &f.Title)
	t.put("link", f.Link)
	t.words("description", &f.Subtitle)
	t.date("date", t.w.feedDate())
	image := ""
	if f.Image != nil {
		image = f.Image.URL
	}
	t.put("image", image)

	t.some("id", f.ID)
	t.some("self", t.w.self())
	t.some("language", f.Language)
	t.someDate("published", f.Published)
	t.someDate("updated", f.Updated)
	t.wordsIfAny("rights", &f.Rights)
	t.wordsIfAny("info", &f.Info)
	t.some("icon", f.Icon)
	t.image("image_details", f.Image)
	t.people("authors", f.Authors)
	t.people("contributors", f.Contributors)
	if f.Publisher != nil {
		t.people("publishers", []feed.Person{*f.Publisher})
	}
	t.categories(f.Categories)
	t.generator()
	t.some("next", f.Next)
	t.some("docs", f.Docs)
	t.texts("licenses", f.Licenses)
	t.hints(&f.Hints)
	t.signals()
	t.itunes(f.ITunes)
	t.media(f.Media)
	t.places(f.Where)
	t.unknown(f.Unknown)
	t.attributes(f.Attrs)
	t.items("items", f.Items)
}

// feedDate returns the date of the feed's last change: the feed's own date, or else the date of its
// newest item.
func (w *writer) feedDate() feed.Date {
	f := w.f
	for _, d := range [...]feed.Date{f.Updated, f.Published} {
		if !d.UTC.IsZero() {
			return d
		}
	}
	newest := feed.Date{}
	for i := range f.Items {
		for _, d := range [...]feed.Date{f.Items[i].Published, f.Items[i].Updated} {
			if d.UTC.After(newest.UTC) {
				newest = d
			}
		}
	}
	if newest.UTC.IsZero() {
		return feed.Date{Raw: cmp.Or(f.Updated.Raw, f.Published.Raw)}
	}
	return newest
}

// hints adds when to read the feed again.
func (t *tree) hints(h *feed.Hints) {
	t.some("ttl", h.TTL)
	t.texts("skip_hours", h.SkipHours)
	t.texts("skip_days", h.SkipDays)
	t.some("update_period", h.UpdatePeriod)
	t.some("update_frequency", h.UpdateFrequency)
	t.flag("expired", h.Expired)
	t.flag("complete", h.Complete)
}

// signals adds the endpoints that send notifications.
func (t *tree) signals() {
	maps(t, "hubs", t.w.hubs(), func(h *feed.Hub) {
		t.some("type", h.Type)
		t.some("url", h.URL)
	})
	maps(t, "clouds", t.w.clouds(), func(c *feed.Cloud) {
		t.some("domain", c.Domain)
		t.some("port", c.Port)
		t.some("path", c.Path)
		t.some("register_procedure", c.RegisterProcedure)
		t.some("protocol", c.Protocol)
	})
}

// clouds returns the clouds to write.
func (w *writer) clouds() []feed.Cloud {
	switch {
	case w.o.Cloud != nil:
		return []feed.Cloud{*w.o.Cloud}
	case len(w.f.Clouds) > 0:
		return w.f.Clouds
	case w.f.Cloud != nil:
		return []feed.Cloud{*w.f.Cloud}
	}
	return nil
}

func (t *tree) generator() {
	g := t.w.generator()
	if g == nil {
		return
	}
	t.object("generator")
	t.some("name", g.Name)
	t.some("url", g.URL)
	t.some("version", g.Version)
	t.end()
}

// words adds a text without markup. If the text has markup, it also adds the HTML.
func (t *tree) words(key string, x *feed.Text) {
	t.put(key, plainOf(x))
	if isHTML(x) {
		t.some(htmlKey(key), x.Value)
	}
}

// wordsIfAny is like words, but adds nothing if there is no text.
func (t *tree) wordsIfAny(key string, x *feed.Text) {
	if x.Value != "" {
		t.words(key, x)
	}
}

func htmlKey(key string) string {
	switch key {
	case "title":
		return "title_html"
	case "description":
		return "description_html"
	case "rights":
		return "rights_html"
	}
	return "info_html"
}

// date adds a date as text (ISO 8601 in UTC) and as seconds since 1970. The text is always added.
// If the date cannot be parsed, the text is empty, and the original date is added as well.
func (t *tree) date(key string, d feed.Date) {
	unix, raw := dateKeys(key)
	if key == "date" && d.UTC.IsZero() || !t.w.moment(&d, key) {
		t.put(key, "")
		t.some(raw, d.Raw)
		return
	}
	var buf [40]byte
	t.put(key, string(appendRFC3339(buf[:0], d.UTC)))
	t.int(unix, d.UTC.Unix())
}

// someDate is like date, but adds nothing if there is no date.
func (t *tree) someDate(key string, d feed.Date) {
	if !d.UTC.IsZero() || d.Raw != "" {
		t.date(key, d)
	}
}

func dateKeys(key string) (unix, raw string) {
	switch key {
	case "date":
		return "date_unix", "date_raw"
	case "published":
		return "published_unix", "published_raw"
	case "updated":
		return "updated_unix", "updated_raw"
	}
	return "expires_unix", "expires_raw"
}

func (t *tree) image(key string, m *feed.Image) {
	if m == nil {
		return
	}
	t.object(key)
	t.some("url", m.URL)
	t.some("title", m.Title)
	t.some("link", m.Link)
	t.some("description", m.Description)
	t.count("width", int64(m.Width))
	t.count("height", int64(m.Height))
	t.extension(m.Extension)
	t.end()
}

func (t *tree) people(key string, list []feed.Person) {
	maps(t, key, list, func(p *feed.Person) {
		t.some("name", cmp.Or(p.Name, p.Raw))
		t.some("email", p.Email)
		t.some("url", p.URL)
		t.some("avatar", p.Avatar)
		t.some("role", p.Role)
		t.extension(p.Extension)
	})
}

func (t *tree) categories(list []feed.Category) {
	maps(t, "categories", list, func(c *feed.Category) {
		t.some("term", c.Term)
		t.some("scheme", c.Scheme)
		t.some("label", c.Label)
	})
}

// places adds geometries in the form of GeoJSON.
func (t *tree) places(list []feed.Geometry) {
	maps(t, "where", list, func(g *feed.Geometry) {
		t.some("type", g.Type)
		t.list("coordinates")
		for _, point := range g.Coordinates {
			t.list("")
			for _, x := range point {
				t.float("", x)
			}
			t.end()
		}
		t.end()
		t.some("feature_name", g.FeatureName)
	})
}

// unknown adds elements that no supported format defines.
func (t *tree) unknown(list []feed.Node) { t.nodes("unknown", list) }

func (t *tree) nodes(key string, list []feed.Node) {
	if len(list) == 0 || !t.canNest(key) {
		return
	}
	maps(t, key, list, func(n *feed.Node) {
		t.some("space", n.Space)
		t.some("prefix", n.Prefix)
		t.some("name", n.Name)
		t.some("text", n.Text)
		t.attributes(n.Attrs)
		t.nodes("children", n.Children)
	})
}

func (t *tree) attributes(list []feed.Attr) {
	maps(t, "attributes", list, func(a *feed.Attr) {
		t.some("space", a.Space)
		t.put("name", a.Name)
		t.put("value", a.Value)
	})
}

// extension adds the attributes and elements for which there is no field.
func (t *tree) extension(e *feed.Extension) {
	if e != nil {
		t.unknown(e.Unknown)
		t.attributes(e.Attrs)
	}
}
