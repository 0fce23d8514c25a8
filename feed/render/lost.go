package render

import (
	"cmp"
	"strings"

	"cloudburst/feed"
)

// loss is a kind of content that a format cannot represent.
type loss uint8

const (
	lostAuthors loss = iota
	lostMail
	lostPersons
	lostCategories
	lostSchemes
	lostDates
	lostIDs
	lostContent
	lostMedia
	lostEnclosures
	lostSource
	lostNested
	lostLinks
	lostClouds
	lostHubs
	lostHints
	lostImages
	lostLanguages
	lostRights
	lostComments
	lostPlaces
	lostTitles
	lostDescriptions
	lostGenerator
	lostModules
	lostUnknown
	lostSubtitle
	lostFileDetails
	lostDocs
	lossEnd
)

func (l loss) String() string {
	return [...]string{"authors", "email addresses of persons", "other details of persons", "categories", "category schemes", "dates", "identifiers",
		"full texts", "media", "enclosures", "sources of items", "nested items", "links other than to the page",
		"clouds", "hubs", "update schedules", "images", "languages", "rights and licences", "comments", "places",
		"titles of items", "texts of items", "the generator", "modules", "unknown elements", "the description of the feed",
		"titles, lengths and durations of enclosures", "documentation and rating"}[l]
}

// lose records, if has is true, that the format cannot represent this kind of content of the feed.
func (w *writer) lose(what loss, has bool) {
	if has {
		w.lost |= 1 << what
	}
}

// loseFeed records the fields of the feed that only Atom and RSS with modules have. Versions of RSS
// without modules have a form, and JSON Feed has the fields after its case.
func loseFeed(w *writer) {
	f, h := w.f, &w.f.Hints
	w.lose(lostPersons, len(f.Contributors) > 0)
	w.lose(lostGenerator, w.generator() != nil)
	w.lose(lostMedia, f.Media != nil)
	w.lose(lostPlaces, len(f.Where) > 0)
	w.lose(lostDates, has(&f.Created))
	w.lose(lostHints, cmp.Or(h.UpdatePeriod, h.UpdateFrequency) != "" || has(&h.UpdateBase) || h.Archive || h.Complete)
	w.lose(lostModules, f.ITunes != nil || f.Podcast != nil || f.Search != nil || f.BlogChannel != nil || cmp.Or(f.ErrorReports, h.PodcastUpdates) != "" ||
		len(f.Accounts) > 0 || f.TextInput != nil && !strings.HasPrefix(w.format, "rss"))
	w.lose(lostRights, len(f.Licenses) > 0)
	w.lose(lostUnknown, len(f.Attrs) > 0)
	if w.format != "jsonfeed" {
		w.lose(lostHints, h.Expired)
		w.lose(lostModules, f.Info.Value != "")
		w.lose(lostLinks, f.Next != "")
	}
}

// loseItem is like loseFeed for an item.
func loseItem(w *writer, it *feed.Item) {
	w.lose(lostPersons, len(it.Contributors) > 0)
	w.lose(lostSource, it.Source != nil)
	w.lose(lostMedia, it.Media != nil)
	w.lose(lostModules, it.ITunes != nil || it.Podcast != nil)
}

// loseMore records the fields of an item that JSON Feed and CDF lack.
func loseMore(w *writer, m *feed.More) {
	w.lose(lostComments, cmp.Or(m.Comments, m.CommentsFeed, m.CommentAPI) != "" || m.CommentCount != nil)
	w.lose(lostRights, len(m.Licenses) > 0)
	w.lose(lostPlaces, len(m.Where) > 0)
	w.lose(lostDates, has(&m.Created, &m.Expires, &m.Edited))
	w.lose(lostModules, cmp.Or(m.Section, m.Department, m.OriginalLink, m.OriginalMedia, m.Markdown, m.LocalTime) != "" || m.Draft ||
		m.TextInput != nil || len(m.HitParade)+len(m.InReplyTo)+len(m.Chapters)+len(m.Outlines)+len(m.Accounts) > 0)
	w.lose(lostUnknown, len(m.Attrs) > 0)
}

// loseSource records the fields of an item's source that only Atom has. more states whether others
// are lost too.
func loseSource(w *writer, s *feed.Source, more bool) {
	w.lose(lostSource, more || cmp.Or(s.ID, s.Link, s.Icon, s.Logo, s.Subtitle.Value, s.Rights.Value) != "" || s.Generator != nil || has(&s.Updated) ||
		len(s.Authors)+len(s.Contributors)+len(s.Categories) > 0)
	w.lose(lostUnknown, s.Extension != nil && (len(s.Unknown) > 0 || len(s.Attrs) > 0 && w.format != "rss20"))
}

// reportLost adds one warning that lists all kinds of content that were omitted.
func (w *writer) reportLost(title string) {
	if w.lost == 0 {
		return
	}
	var b strings.Builder
	b.Grow(200)
	for l := range lossEnd {
		if w.lost&(1<<l) != 0 {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			b.WriteString(l.String())
		}
	}
	w.lost = 0
	w.warn("left-out", "", title, " cannot represent: ", b.String(), ".")
}
