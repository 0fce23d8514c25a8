package river

import "cloudburst/internal/river/item"

// Types of items; see package item.
type (
	Item        = item.Item
	Content     = item.Content
	Enclosure   = item.Enclosure
	Place       = item.Place
	Known       = item.Known
	Mark        = item.Mark
	Entry       = item.Entry
	EntrySource = item.EntrySource
	Full        = item.Full
	ItemQuery   = item.Query
	Arrival     = item.Arrival
	Arrived     = item.Arrived
)

// TextLongest is the maximum size of Content.Text in bytes.
const TextLongest = item.TextLongest

// TextOf returns the plain text of HTML in the form of Content.Text.
func TextOf(html string) string { return item.TextOf(html) }
