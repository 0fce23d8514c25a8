package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// modules contains the fields of a feed that are written by modules.
type modules struct {
	ITunes                     *feed.ITunes
	Podcast                    *feed.Podcast
	Media                      *feed.Media
	Where                      []feed.Geometry
	Search                     *feed.Search
	BlogChannel                *feed.BlogChannel
	Accounts                   []feed.Account
	Licenses                   []string
	Period, Frequency, Updates string
	Base, Created              feed.Date
	Archive, Complete          bool
	Errors                     string
	Unknown                    []feed.Node
	Items                      []itemModules
}

type itemModules struct {
	ITunes  *feed.ITunes
	Podcast *feed.Podcast
	Media   *feed.Media
	More    feed.More
	Unknown []feed.Node
	Items   []itemModules
}

// modulesOf returns these fields of a feed, as far as a format preserves them.
func modulesOf(f *feed.Feed, format string) modules {
	w := writer{f: f, format: format}
	h := f.Hints
	if h.UpdatePeriod == "" && format != "rss20" {
		h.UpdatePeriod, h.UpdateFrequency = rhythmOf(h.TTL)
	}
	m := modules{
		ITunes: f.ITunes, Podcast: f.Podcast, Media: f.Media, Where: f.Where, Search: f.Search, BlogChannel: f.BlogChannel,
		Accounts: f.Accounts, Licenses: sorted(f.Licenses), Period: h.UpdatePeriod, Frequency: h.UpdateFrequency, Updates: h.PodcastUpdates,
		Base: h.UpdateBase, Created: f.Created, Archive: h.Archive, Complete: h.Complete, Errors: f.ErrorReports,
		Unknown: w.held(f.Unknown, false),
	}
	if m.ITunes != nil {
		it := *m.ITunes
		it.Summary.Type = "" // in Atom, the parser does not guess the type
		m.ITunes = &it
	}
	if m.Media != nil { // the Media RSS data of a feed contain no files
		m.Media = &feed.Media{MediaInfo: m.Media.MediaInfo}
	}
	m.Items = w.modulesOfItems(f.Items)
	return m
}

func (w *writer) modulesOfItems(items []feed.Item) (list []itemModules) {
	for i := range items {
		it := &items[i]
		m := itemModules{ITunes: it.ITunes, Podcast: it.Podcast, Media: w.grouped(it.Media), Unknown: w.held(it.Unknown, true)}
		if m.ITunes == nil && len(it.Enclosures) == 1 && it.Enclosures[0].Duration > 0 { // the duration is written as that of the episode
			n := int(it.Enclosures[0].Duration + 0.5)
			m.ITunes = &feed.ITunes{Duration: strconv.Itoa(n), Seconds: n}
		}
		if it.More != nil {
			m.More = *it.More
		}
		m.More.Licenses = sorted(m.More.Licenses)
		m.More.TextInput, m.More.BannerImage, m.More.ExternalLink, m.More.Image = nil, "", "", nil
		if w.format != "atom" && w.format != "atom03" { // only programs that edit Atom entries use this field
			m.More.Draft, m.More.Edited = false, feed.Date{}
		}
		if w.format == "rdf" {
			m.More.Comments = ""
		} else {
			m.Items = w.modulesOfItems(it.Items)
		}
		if p := m.More.Publisher; p != nil {
			m.More.Publisher = &feed.Person{Name: nameOf(p)}
		}
		if w.format == "rss20" && len(it.Items) > 0 { // nested items are also written as outlines
			m.More.Outlines = nil
		}
		m.More.Rights = feed.Text{Value: asWords(&m.More.Rights)}
		list = append(list, m)
	}
	return list
}

// grouped returns media in the form in which it is written: every group has at least two files, and
// in RSS 1.0 files have no child elements.
func (w *writer) grouped(m *feed.Media) *feed.Media {
	if m == nil {
		return nil
	}
	if m = w.ungrouped(m); w.format == "rdf" {
		m = w.flattened(m)
	}
	return m
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// held returns the nodes that the writer does not omit.
func (w *writer) held(list []feed.Node, ofItem bool) (out []feed.Node) {
	for i := range list {
		if n := &list[i]; n.Name != "" && w.foreign(n, ofItem) {
			out = append(out, declared(*n))
		}
	}
	return out
}

// declared returns a tree in the form that the parser returns: every prefix has a namespace.
func declared(n feed.Node) feed.Node {
	if n.Space == "" && n.Prefix != "" {
		n.Space = undeclared(n.Prefix)
	}
	n.Attrs = slices.Clone(n.Attrs)
	for i := range n.Attrs {
		if prefix, _, ok := strings.Cut(n.Attrs[i].Name, ":"); ok && n.Attrs[i].Space == "" && prefix != "xml" {
			n.Attrs[i].Space = undeclared(prefix)
		}
	}
	n.Children = slices.Clone(n.Children)
	for i := range n.Children {
		if n.Children[i].Name != "" {
			n.Children[i] = declared(n.Children[i])
		}
	}
	return n
}

// refused reports whether a warning states that content is missing or changed.
func refused(warnings []Warning) bool {
	for _, w := range warnings {
		switch w.Rule {
		case "value", "address", "relative", "place", "itunes-owner", "itunes-category", "itunes-explicit", "itunes-duration", "in-reply-to",
			"language", "media-type", "mail", "date", "unknown-attribute", "image":
			return true
		}
	}
	return false
}

// The module fields of the test documents must survive a round trip through every format with
// modules, unless there is a warning.
func TestModulesSurviveRoundTrip(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, f := range corpus(t) {
		for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
			doc, warnings, err := Append(nil, f, format, nil)
			if err != nil {
				t.Fatal(err)
			}
			if refused(warnings) || strings.HasPrefix(name, "json/") && format != "atom" {
				continue
			}
			compared++
			want, got := modulesOf(f, format), modulesOf(reread(t, doc), format)
			if diff := cmp.Diff(want, got, same(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s as %s, -want +got:\n%s", name, format, diff)
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d documents", compared)
	}
}

// A document that uses all modules must survive a round trip through the formats with modules.
func TestDocumentWithAllModulesSurvivesRoundTrip(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("testdata/golden/modules.xml")
	if err != nil {
		t.Fatal(err)
	}
	f := reread(t, doc)
	for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
		doc, warnings, err := Append(nil, f, format, nil)
		if err != nil || refused(warnings) {
			t.Fatal(err, warnings)
		}
		if diff := cmp.Diff(modulesOf(f, format), modulesOf(reread(t, doc), format), same(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, -want +got:\n%s", format, diff)
		}
	}
}

// FuzzModules writes feeds with arbitrary values in any field; the input is a feed as JSON.
func FuzzModules(f *testing.F) {
	names, err := filepath.Glob("../testdata/*/*.golden")
	if err != nil || len(names) == 0 {
		f.Fatal("there are no feeds", err)
	}
	for _, name := range names {
		if doc, err := os.ReadFile(name); err == nil && len(doc) < 6000 {
			f.Add(doc)
		}
	}
	book := newRulebook()
	f.Fuzz(func(t *testing.T, doc []byte) {
		var in feed.Feed
		if json.Unmarshal(doc, &in) != nil {
			return
		}
		for _, format := range xmlFormats() {
			out := written(t, &in, format)
			root, err := decode(out)
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, out)
			}
			if format == "atom" {
				checkAtom(t, root)
			}
			if found := book.judge(judgedAs(format, &in), out).errors; len(found) > 0 {
				t.Errorf("%s: %s\n%s", format, strings.Join(found, "\n"), out)
			}
		}
	})
}
