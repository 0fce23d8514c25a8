package readerui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

// riverView is a page of a river.
type riverView struct {
	shell.View
	riverScope
	Query   riverQuery
	Looks   displaySettings
	Own     bool // its reader may mark items
	Days    []riverDay
	Found   int    // items on the page
	Older   string // address of the next page; "": there is none
	Stream  string // address of what comes; "": the page is not live
	Plain   string // address of this without a place
	Back    string // address of this
	Rail    []railLink
	Zone    *time.Location
	About   string // one line below the heading
	Source  *river.Followed
	Feeds   int64 // followed, in all or in the category
	Formats []categoryDoc
	Unread  int64          // items that can be marked read at once
	Undo    *shell.UndoBar // of the marking that led here
	Message string         // what was done just now
	Welcome bool           // the reader follows nothing of their choice and has written nothing: the page offers the first steps
	Fresh   bool           // there is no account yet
}

// categoryDoc leads to a category as a document.
type categoryDoc struct{ Title, Type, Href string }

// railLink is a line of the list of rivers.
type railLink struct {
	Name, Href string
	Here       bool
	Unread     int64
	Foreign    bool // the reader's own words
	Set        bool // begins another set
}

// itemView is the page of one item.
type itemView struct {
	shell.View
	Post     riverPost
	Own      bool
	Back, Up string
}

func (v *riverView) values() url.Values {
	out := v.Query.values()
	if v.Public != "" { // the path says it
		out.Del("category")
	}
	return out
}

func (v *riverView) with(name, value string) url.Values {
	out := v.values()
	out.Set(name, value)
	return out
}

// Minutes is how far the reader's clock is from UTC.
func (v riverView) Minutes() int {
	if v.Zone == nil {
		return 0
	}
	_, seconds := v.Now.In(v.Zone).Zone()
	return seconds / 60
}

// Today is the date of the reader's day.
func (v riverView) Today() string {
	if v.Zone == nil {
		return ""
	}
	return v.Now.In(v.Zone).Format(time.DateOnly)
}

// Top reports that the page begins where the river does.
func (v riverView) Top() bool { return v.Query.Before == (river.Place{}) }

// CanRead reports that all that the page is of can be marked read.
func (v riverView) CanRead() bool {
	return v.Own && v.Looks.Marks && v.Query.Text == "" && !v.Query.Starred
}

// railOf lists the rivers that the reader can go to.
func (s *riverPages) railOf(ctx context.Context, v *riverView) error {
	counts := v.Own && v.Looks.Counts
	categories, err := s.River.Categories(ctx, v.Reader, counts)
	if err != nil {
		return err
	}
	if v.Public != "" {
		v.publicRail(categories)
		return nil
	}
	q := v.Query
	all := railLink{Name: "All", Href: v.Root, Here: q.Category == "" && q.Source == 0 && !q.Filtered()}
	if counts {
		unread, err := s.River.CountUnread(ctx, v.Reader)
		if err != nil {
			return err
		}
		for _, u := range unread {
			all.Unread += u.Items
		}
	}
	v.Rail = []railLink{all}
	if v.Own && v.Looks.Marks {
		v.Rail = append(v.Rail, railLink{Name: "Unread", Href: v.Root + "?unread=1", Here: q.Unread && q.Category == ""})
	}
	if v.Own {
		v.Rail = append(v.Rail, railLink{Name: "Starred", Href: v.Root + "?starred=1", Here: q.Starred && q.Category == ""})
	}
	known, first := q.Category == "", true
	for _, c := range categories {
		if !v.Own && !c.Public {
			continue
		}
		here := c.Name == q.Category
		known = known || here
		if here {
			v.Feeds = c.Sources
		}
		v.Rail = append(v.Rail, railLink{Name: shell.CleanText(c.Name, 100), Href: withQuery(v.Root, url.Values{"category": {c.Name}}), Here: here, Unread: c.Unread, Foreign: true, Set: first})
		first = false
	}
	if !known {
		return fault.New(fault.NotFound, "There is no category of that name here.")
	}
	return nil
}

// publicRail lists the public rivers of one owner.
func (v *riverView) publicRail(categories []river.Category) {
	for _, c := range categories {
		if c.Public || c.Name == v.Category {
			v.Rail = append(v.Rail, railLink{Name: shell.CleanText(c.Name, 100), Href: PublicPath(v.Public, c.Name), Here: c.Name == v.Category, Foreign: true})
			if c.Name == v.Category {
				v.Feeds = c.Sources
			}
		}
	}
}

// nameRiver gives the page its title.
func (s *riverPages) nameRiver(ctx context.Context, v *riverView) error {
	q := v.Query
	v.Heading = "River"
	switch {
	case q.Text != "":
		v.Heading = "Search"
	case q.Starred:
		v.Heading = "Starred"
	case q.Unread && q.Category == "":
		v.Heading = "Unread"
	case q.Category != "":
		v.Heading = shell.CleanText(q.Category, 100)
	}
	if v.Public != "" {
		v.Formats = categoryDocs(v.Root)
		v.Here = ""
	} else if v.Own && q.Category != "" {
		v.Formats = categoryDocs(PublicPath(s.ownerOf(v.Reader), q.Category))
	}
	v.Title = v.Heading
	if q.Source == 0 {
		return s.emptiness(ctx, v)
	}
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: v.Reader, SourceID: q.Source, Limit: 1})
	switch {
	case err != nil:
		return err
	case len(list) == 0 || !v.Own && list[0].Source.Private():
		return fault.New(fault.NotFound, "That feed is not followed here.")
	}
	v.Source, v.Feeds = &list[0], 1
	if q.Text == "" {
		v.Heading = shell.CleanText(list[0].Name(), 200)
		v.Title = v.Heading
	}
	return nil
}

// emptiness finds out whether anything is followed. An empty page, and that of a reader who
// has done nothing yet, says what to do first.
func (s *riverPages) emptiness(ctx context.Context, v *riverView) error {
	if v.Query.Category != "" || v.Query.Filtered() {
		return nil
	}
	following, err := s.River.Following(ctx, v.Reader)
	v.Feeds = int64(len(following))
	if err != nil || !v.Own || !v.Top() || !s.begins(following) {
		return err
	}
	v.Welcome, v.Fresh = true, s.Accounts != nil && s.Accounts.SetupToken() != ""
	if s.Posts == nil || v.User == "" {
		return nil
	}
	written, err := s.Posts.List(ctx, author.PostQuery{User: v.User, Limit: 1})
	v.Welcome = len(written) == 0
	return err
}

func PublicPath(owner, category string) string {
	path := "/rivers/" + url.PathEscape(owner)
	if category != "" {
		path += "/" + url.PathEscape(category)
	}
	return path
}

// categoryDocs are the documents of a category.
func categoryDocs(root string) []categoryDoc {
	return []categoryDoc{
		{"RSS", "application/rss+xml", root + "/feed.rss"},
		{"Atom", "application/atom+xml", root + "/feed.atom"},
		{"JSON Feed", "application/feed+json", root + "/feed.json"},
		{"OPML", "text/x-opml", root + "/opml"},
	}
}

// SourceID is what the page is of, "" unless it is one feed.
func (v riverView) SourceID() string {
	if v.Query.Source == 0 {
		return ""
	}
	return strconv.FormatInt(v.Query.Source, 10)
}

// Home is the page of the feed that the page is of, "" for none.
func (v riverView) Home() string {
	if v.Source == nil || !shell.IsSafeURL(v.Source.Source.About.Home) {
		return ""
	}
	return v.Source.Source.About.Home
}

// Owner is whose public river it is, for people.
func (v riverView) Owner() string {
	if v.Public == "server" {
		return "this server"
	}
	return shell.CleanText(v.Public, 60)
}
