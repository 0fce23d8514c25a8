package readerui

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// maxRailFeeds limits the size of the page. If the user follows more feeds, the rail lists only the
// feeds of the page's category, not the feeds of all categories.
const maxRailFeeds = 150

const maxCachedFeeds = 2 << 20 // maximum size of the cached feeds of rails in bytes

// railLink is a river in the rail, or a view of a river.
type railLink struct {
	Name, Href string
	Here       bool
	Unread     int64
	Foreign    bool // the user chose the text: isolate its text direction
}

// railGroup is a category in the rail, with its feeds.
type railGroup struct {
	railLink
	Feeds []railFeed // empty: only the name of the category is displayed
	Open  bool
}

// railFeed is a followed feed in the rail.
type railFeed struct {
	railLink
	Icon, Letter string
	HTML         template.HTML // the rendered feed; write sets it after all other fields
}

// feedKey identifies a rendered feed of the rail.
type feedKey struct {
	railFeed
	lang string
}

// railOf lists the rivers that the user can open, and the views of the current river. finishRail
// adds the feeds.
func (s *riverPages) railOf(ctx context.Context, v *riverView) error {
	categories, err := s.River.Categories(ctx, v.Reader, false)
	if err != nil {
		return err
	}
	if v.Public != "" {
		v.publicRail(categories)
		return nil
	}
	q := v.Query
	v.All = railLink{Name: "All feeds", Href: v.Root, Here: q.Category == "" && q.Source == 0}
	known := q.Category == ""
	for _, c := range categories {
		if !v.Own && !c.Public {
			continue
		}
		here := c.Name == q.Category
		known = known || here
		if here {
			v.Feeds = c.Sources
			if c.Public {
				v.Shared = PublicPath(s.ownerOf(v.Reader), c.Name)
			}
		}
		v.Groups = append(v.Groups, railGroup{railLink: railCategory(v.Root, c, here)})
	}
	if !known {
		return fault.New(fault.NotFound, "There is no category with that name.")
	}
	if !v.Own {
		return nil
	}
	v.Views = q.views(v.Root, v.Looks)
	v.feeds = s.railLater(ctx, rail.Query{User: v.Reader, Most: maxRailFeeds, Category: q.Category, Source: q.Source,
		Total: v.CanRead() && !q.scoped(), ByCategory: v.Looks.Counts})
	return nil
}

// railLater reads the feeds of a rail while the caller reads the items. The returned function waits
// for the feeds.
func (s *riverPages) railLater(ctx context.Context, q rail.Query) func() (rail.List, error) {
	var list rail.List
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		list, err = s.River.Rail(ctx, q)
	}()
	return func() (rail.List, error) {
		<-done
		return list, err
	}
}

// finishRail adds the feeds to the rail that railOf began, and the first steps of a new user.
func (s *riverPages) finishRail(ctx context.Context, v *riverView) error {
	if v.feeds == nil {
		return nil
	}
	list, err := v.feeds()
	if err != nil {
		return err
	}
	s.addRailFeeds(v, list)
	v.addSearches()
	for _, g := range v.Groups {
		for i := range g.Feeds {
			if err := g.Feeds[i].write(s, v.Lang); err != nil {
				return err
			}
		}
	}
	return s.welcome(ctx, v, list)
}

func railCategory(root string, c river.Category, here bool) railLink {
	return railLink{Name: shell.CleanText(c.Name, 100), Href: withQuery(root, url.Values{"category": {c.Name}}), Here: here, Foreign: true}
}

// views lists the views of a scope: all of its items, the unread and the starred ones.
func (q riverQuery) views(root string, looks displaySettings) (all []railLink) {
	add := func(name string, starred, unread bool) {
		of := q
		of.Starred, of.Unread, of.Text = starred, unread, ""
		all = append(all, railLink{Name: name, Href: withQuery(root, of.values()), Here: q.Text == "" && q.Starred == starred && q.Unread == unread})
	}
	add("All", false, false)
	if looks.Marks {
		add("Unread", false, true)
	}
	add("Starred", true, false)
	return all
}

// addRailFeeds adds the feeds to their categories, and counts the unread items of the page. Feeds
// without a category form their own group.
func (s *riverPages) addRailFeeds(v *riverView, list rail.List) {
	byName := map[string]int{}
	for i := range v.Groups {
		byName[v.Groups[i].Name] = i
	}
	rest := railGroup{railLink: railLink{Name: "Without a category"}, Open: true}
	if len(v.Groups) == 0 {
		rest.Name = "Feeds"
	}
	v.addRailCounts(list.Sums(), byName)
	for i := range list.Feeds {
		f := &list.Feeds[i]
		link := railFeed{railLink: railLink{Name: shell.CleanText(f.Title, 120), Href: v.Root + "?source=" + strconv.FormatInt(f.ID, 10), Here: f.ID == v.Query.Source, Foreign: true}}
		if v.CanRead() && v.Query.scoped() && (v.Query.Source == 0 || link.Here) && (v.Query.Category == "" || slices.Contains(f.Categories, v.Query.Category)) {
			v.Unread += f.Unread
		}
		if v.Looks.Counts {
			link.Unread = f.Unread
		}
		for _, name := range f.Categories {
			at, ok := byName[shell.CleanText(name, 100)]
			if ok && (!list.Many || v.Groups[at].Here || link.Here) {
				v.Groups[at].Open = v.Groups[at].Open || v.Groups[at].Here || link.Here
				v.Groups[at].Feeds = append(v.Groups[at].Feeds, s.drawn(link, f))
			}
		}
		if len(f.Categories) == 0 && (!list.Many || link.Here) {
			rest.Feeds = append(rest.Feeds, s.drawn(link, f))
		}
	}
	if len(rest.Feeds) > 0 {
		v.Groups = append(v.Groups, rest)
	}
}

// addRailCounts adds the unread counts of all feeds to the page and to its categories. byName maps
// their names to indexes of v.Groups.
func (v *riverView) addRailCounts(sums []rail.Sum, byName map[string]int) {
	for _, n := range sums {
		if v.CanRead() && !v.Query.scoped() {
			v.Unread += n.Unread
		}
		if !v.Looks.Counts {
			continue
		}
		v.All.Unread += n.Unread
		for _, name := range n.Categories {
			if at, ok := byName[shell.CleanText(name, 100)]; ok {
				v.Groups[at].Unread += n.Unread
			}
		}
	}
}

// drawn returns link with the icon and the letter of its feed.
func (s *riverPages) drawn(link railFeed, f *rail.Feed) railFeed {
	link.Icon, link.Letter = s.icon(f.Icon), initial(link.Name)
	return link
}

// write sets the HTML of a feed, from the cache if possible. The other fields of f are the cache
// key.
func (f *railFeed) write(s *riverPages, l *locale.Locale) error {
	key, found := feedKey{*f, locale.Of(l).Code}, false
	if f.HTML, found = s.feeds.Get(key); found {
		return nil
	}
	var out strings.Builder
	if err := s.ExecutePartIn(l, &out, "river", "railfeed", key.railFeed); err != nil {
		return err
	}
	f.HTML = template.HTML(out.String())
	s.feeds.Put(key, f.HTML, 400+len(f.HTML))
	return nil
}

// publicRail lists the public rivers of one owner.
func (v *riverView) publicRail(categories []river.Category) {
	for _, c := range categories {
		if c.Public || c.Name == v.Category {
			v.Groups = append(v.Groups, railGroup{railLink: railLink{Name: shell.CleanText(c.Name, 100), Href: PublicPath(v.Public, c.Name), Here: c.Name == v.Category, Foreign: true}})
			if c.Name == v.Category {
				v.Feeds = c.Sources
			}
		}
	}
}
