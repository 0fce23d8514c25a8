package river

import (
	"cmp"
	"context"
	"html"
	"slices"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/river/naming"
	"cloudburst/internal/text"
)

// Export returns the subscription list of a user, or the list of one category. The list of a user
// has a folder for each category, and a feed is in the folder of each of its categories. It
// includes reading lists by URL. The list of one category has no folders. If the category is
// public, its list omits hidden feeds. No list contains logins. fault.NotFound: the
// category does not exist.
func (r *River) Export(ctx context.Context, user, category string) (*opml.Document, error) {
	r.Init()
	public := false
	if category != "" {
		have, err := r.Store.Categories(ctx, user, false)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(have, func(c Category) bool { return c.Name == category })
		if i < 0 {
			return nil, fault.New(fault.NotFound, "There is no category %q.", text.ClipRunes(text.PlainLine(category), naming.LongestCategory))
		}
		public = have[i].Public
	}
	list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: user, Category: category})
	if err != nil {
		return nil, err
	}
	d := &opml.Document{Version: "2.0"}
	d.Head.DateCreated = opml.DateOf(r.now())
	d.Head.Docs = "http://opml.org/spec2.opml"
	if d.Head.Title = escapeIfHTML(category); category == "" {
		d.Head.Title = "Subscriptions"
	}
	folders := map[string][]opml.Outline{}
	for i := range list {
		f := &list[i]
		if public && f.Source.Hidden() {
			continue
		}
		names := f.Categories
		if category != "" || len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			folders[name] = append(folders[name], outlineOf(f))
		}
	}
	if category == "" {
		if err := (importer{r}).exportLists(ctx, user, folders); err != nil {
			return nil, err
		}
	}
	d.Outlines = inFolders(folders)
	return d, nil
}

// outlineOf returns the outline of one subscription. The attribute text contains the title that
// the user sees, and title contains the feed's own title.
//
// spec:cloudburst#opml-own-title
func outlineOf(f *Followed) opml.Outline {
	return opml.Outline{
		Text: escapeIfHTML(f.Name()), Title: escapeIfHTML(f.Source.Name()), Type: "rss", XMLURL: f.Source.URL,
		HTMLURL: f.Source.About.Home, Language: f.Source.About.Language, Description: text.ClipRunes(f.Source.About.Description, 500),
	}
}

// exportLists adds the lists that the user follows directly to folders. A list within another
// list is omitted, because the other list includes it.
func (r importer) exportLists(ctx context.Context, user string, folders map[string][]opml.Outline) error {
	lists, err := r.Store.ReadingLists(ctx, user)
	for _, l := range lists {
		if l.Memory.Parent == 0 {
			folders[l.Category] = append(folders[l.Category], opml.Outline{Text: escapeIfHTML(cmp.Or(l.Title, l.URL)), Type: "include", URL: l.URL})
		}
	}
	return err
}

// inFolders returns the folders in order of their names, followed by the outlines without a
// folder.
func inFolders(folders map[string][]opml.Outline) []opml.Outline {
	var names []string
	for name := range folders {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, text.CompareNames)
	var out []opml.Outline
	for _, name := range names {
		out = append(out, opml.Outline{Text: escapeIfHTML(name), Outlines: folders[name]})
	}
	return append(out, folders[""]...)
}

// escapeIfHTML escapes a text that looks like HTML, because importing programs may interpret the
// texts of an outline as HTML.
func escapeIfHTML(s string) string {
	if href.LooksLikeHTML(s) {
		return html.EscapeString(s)
	}
	return s
}
