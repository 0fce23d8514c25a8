package readerui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/web/shell"
)

// riverView is a page of a river.
type riverView struct {
	shell.View
	riverScope
	Query   riverQuery
	Looks   displaySettings
	Own     bool                      // the user may mark items
	feeds   func() (rail.List, error) // waits for the feeds of the rail and returns them; nil: the page has no rail
	Days    []riverDay
	Fold    bool        // old items that one check brought are folded
	Found   int         // number of items on the page
	Saved   bool        // the search of the page is saved
	Older   string      // URL of the next page; "": none
	Stream  string      // URL of the stream of new items; "": the page is not live
	Plain   string      // URL of the first page
	Back    string      // URL of this page
	All     railLink    // link to the whole river
	Groups  []railGroup // categories with their feeds
	Views   []railLink
	Zone    *time.Location
	About   string // text of the line below the heading
	Source  *river.Followed
	base    string // URL of this server
	Shared  string // path of the public page of this category; "": the category is private, or the page is not of one category
	Feeds   int64  // number of followed feeds, in total (at most maxRailFeeds + 1) or in the category
	Formats []categoryDoc
	Unread  int64          // number of unread items in the scope of the page
	Undo    *shell.UndoBar // undoes the last marking
	Message string         // result of the last action
	Welcome bool           // the page shows the first steps: the user follows only the default feeds and has written nothing
	Steps   firstSteps
}

// categoryDoc is a link to a category in a document format.
type categoryDoc struct{ Title, Type, Href string }

func (v *riverView) values() url.Values { return v.Query.scopeValues(v.riverScope) }

func (v *riverView) with(name, value string) url.Values {
	out := v.values()
	out.Set(name, value)
	return out
}

// Minutes returns the offset of the user's time zone from UTC in minutes.
func (v riverView) Minutes() int {
	if v.Zone == nil {
		return 0
	}
	_, seconds := v.Now.In(v.Zone).Zone()
	return seconds / 60
}

// Today returns the date in the user's time zone.
func (v riverView) Today() string {
	if v.Zone == nil {
		return ""
	}
	return v.Now.In(v.Zone).Format(time.DateOnly)
}

// Top reports whether the page shows the start of the river.
func (v riverView) Top() bool { return v.Query.Before == (river.Place{}) }

// CanRead reports whether all items in the scope of the page can be marked read.
func (v riverView) CanRead() bool {
	return v.Own && v.Looks.Marks && v.Query.Text == "" && !v.Query.Starred
}

// nameRiver sets the title of the page.
func (s *riverPages) nameRiver(ctx context.Context, v *riverView) error {
	q := v.Query
	v.Heading = q.name(v.Lang)
	if v.Public != "" {
		v.Formats = categoryDocs(v.Root)
	} else if v.Own && q.Category != "" {
		v.Formats = categoryDocs(PublicPath(s.ownerOf(v.Reader), q.Category))
	}
	v.Title = v.Heading
	if q.Source == 0 {
		return s.countFollowed(ctx, v)
	}
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: v.Reader, SourceID: q.Source, Limit: 1})
	switch {
	case err != nil:
		return err
	case len(list) == 0 || !v.Own && list[0].Source.Hidden():
		return fault.New(fault.NotFound, "You do not follow that feed.")
	}
	v.Source, v.Feeds = &list[0], 1
	if q.Text == "" {
		v.Heading = shell.CleanText(list[0].Name(), 200)
		v.Title = v.Heading
	}
	return nil
}

func PublicPath(owner, category string) string {
	path := "/rivers/" + url.PathEscape(owner)
	if category != "" {
		path += "/" + url.PathEscape(category)
	}
	return path
}

// categoryDocs lists the documents of a category; root is the path of its public page.
func categoryDocs(root string) []categoryDoc {
	return []categoryDoc{
		{"RSS", "application/rss+xml", root + "/feed.rss"},
		{"Atom", "application/atom+xml", root + "/feed.atom"},
		{"JSON Feed", "application/feed+json", root + "/feed.json"},
		{"OPML", "text/x-opml", root + "/opml"},
	}
}

// SourceID returns the id of the feed of the page; "": the page shows several feeds.
func (v riverView) SourceID() string {
	if v.Query.Source == 0 {
		return ""
	}
	return strconv.FormatInt(v.Query.Source, 10)
}

// SharedURL returns the URL of the public page of this category.
func (v riverView) SharedURL() string { return v.base + v.Shared }

// Home returns the website of the feed of the page; "": none.
func (v riverView) Home() string {
	if v.Source == nil || !shell.IsSafeURL(v.Source.Source.About.Home) {
		return ""
	}
	return v.Source.Source.About.Home
}

// Owner returns the display name of the owner of a public river.
func (v riverView) Owner() string {
	if v.Public == "server" {
		return v.Say("this server")
	}
	return shell.CleanText(v.Public, 60)
}
