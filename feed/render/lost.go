package render

import (
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
	lossEnd
)

func (l loss) String() string {
	return [...]string{"authors", "email addresses of persons", "other details of persons", "categories", "category schemes", "dates", "identifiers",
		"full texts", "media", "enclosures", "sources of items", "nested items", "links other than to the page",
		"clouds", "hubs", "update schedules", "images", "languages", "rights and licences", "comments", "places",
		"titles of items", "texts of items", "the generator", "modules", "unknown elements", "the description of the feed",
		"titles and durations of enclosures"}[l]
}

// lose records, if has is true, that the format cannot represent this kind of content of the feed.
func (w *writer) lose(what loss, has bool) {
	if has {
		w.lost |= 1 << what
	}
}

// loseFeed records the fields of the feed that only Atom and RSS with modules have.
func loseFeed(w *writer) {
	f := w.f
	w.lose(lostPersons, len(f.Contributors) > 0)
	w.lose(lostGenerator, w.generator() != nil)
	w.lose(lostMedia, f.Media != nil)
	w.lose(lostPlaces, len(f.Where) > 0)
	w.lose(lostModules, f.ITunes != nil || f.Podcast != nil || f.Search != nil || f.BlogChannel != nil || f.TextInput != nil)
}

// loseItem is like loseFeed for an item.
func loseItem(w *writer, it *feed.Item) {
	w.lose(lostPersons, len(it.Contributors) > 0)
	w.lose(lostSource, it.Source != nil)
	w.lose(lostMedia, it.Media != nil)
	w.lose(lostModules, it.ITunes != nil || it.Podcast != nil)
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
