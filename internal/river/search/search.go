// Package search parses the search terms of a river.
package search

import (
	"strings"
	"unicode"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

const (
	maxMatch = 500 // maximum size of a search in bytes
	maxTerms = 10  // maximum number of terms of one kind (feed: or category:)

	quotes = "\"“”„«»"
)

// Words is a parsed search.
type Words struct {
	Rest                  string // words that an item must contain
	Feeds, Categories     []string
	Starred, Unread, Read bool
}

// Private reports whether the search uses categories or marks, which only their user may see.
func (w Words) Private() bool { return w.Starred || w.Unread || w.Read || len(w.Categories) > 0 }

// Read parses the terms feed:…, category:… and is:… of a search. Their values may be quoted.
// fault.Invalid: the search is too long or contains an invalid term.
func Read(match string) (Words, error) {
	var w Words
	if len(match) > maxMatch {
		return w, fault.New(fault.Invalid, "The search has %d bytes: at most %d are allowed.", len(match), maxMatch)
	}
	match = strings.ToValidUTF8(match, " ")
	var rest []string
	for {
		match = strings.TrimLeftFunc(match, unicode.IsSpace)
		if match == "" {
			break
		}
		word, after := cutWord(match)
		match = after
		name, value, ok := strings.Cut(word, ":")
		if !ok || strings.IndexAny(word, quotes) == 0 {
			rest = append(rest, word)
			continue
		}
		taken, err := w.take(strings.ToLower(name), text.PlainLine(strings.Trim(value, quotes)))
		if err != nil {
			return w, err
		}
		if !taken {
			rest = append(rest, word)
		}
	}
	w.Rest = strings.Join(rest, " ")
	if len(w.Feeds) > maxTerms || len(w.Categories) > maxTerms {
		return w, fault.New(fault.Invalid, "A search has at most %d words with feed: and as many with category:.", maxTerms)
	}
	return w, nil
}

// cutWord cuts s after its first word. White space in quotes belongs to the word. A quote that is
// not closed extends to the end.
func cutWord(s string) (word, after string) {
	quoted := false
	for i, c := range s {
		switch {
		case strings.ContainsRune(quotes, c):
			quoted = !quoted
		case !quoted && unicode.IsSpace(c):
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func (w *Words) take(name, value string) (taken bool, err error) {
	switch name {
	case "feed", "category", "is":
	default:
		return false, nil
	}
	if value == "" {
		return false, fault.New(fault.Invalid, "%s: needs a value directly after it, in quotes if it has several words.", name)
	}
	switch name {
	case "feed":
		w.Feeds = append(w.Feeds, value)
		return true, nil
	case "category":
		w.Categories = append(w.Categories, value)
		return true, nil
	}
	switch strings.ToLower(value) {
	case "starred":
		w.Starred = true
	case "unread":
		w.Unread = true
	case "read":
		w.Read = true
	default:
		return false, fault.New(fault.Invalid, "is:%.40s is unknown: use is:starred, is:unread or is:read.", value)
	}
	return true, nil
}
