package render

import "strings"

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
	lossEnd
)

func (l loss) String() string {
	return [...]string{"authors", "addresses of persons", "other words on persons", "categories", "schemes of categories", "dates", "identifiers",
		"whole texts", "media", "enclosures", "where items are from", "items within items", "links other than to the page",
		"clouds", "hubs", "hints on when to read again", "images", "languages", "rights and licences", "comments", "places",
		"titles of items", "texts of items", "the program that wrote it", "modules", "elements that are not known", "what the feed is about"}[l]
}

// lose records that the feed has content of a kind that the format cannot represent.
func (w *writer) lose(what loss, has bool) {
	if has {
		w.lost |= 1 << what
	}
}

// reportLost adds one warning that lists all omitted kinds of content.
func (w *writer) reportLost(title string) {
	if w.lost == 0 {
		return
	}
	var b strings.Builder
	for l := range lossEnd {
		if w.lost&(1<<l) != 0 {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			b.WriteString(l.String())
		}
	}
	w.lost = 0
	w.warn("left-out", "", title, " has no place for: ", b.String(), ".")
}
