// Package search reads what a reader types to search a river.
package search

import (
	"strings"
	"unicode"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

const (
	maxMatch = 500 // bytes
	maxTerms = 10  // words with a meaning of one kind
)

// Words are what a reader searches for, with those taken out that have a meaning.
type Words struct {
	Rest                  string // for the store
	Feeds, Categories     []string
	Starred, Unread, Read bool
}

// Read takes feed:…, category:… and is:… out of what a reader typed; their values
// may stand in quotes. fault.Invalid.
func Read(match string) (Words, error) {
	var w Words
	if len(match) > maxMatch {
		return w, fault.New(fault.Invalid, "These are %d bytes to search for: at most %d make sense.", len(match), maxMatch)
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
		if !ok || strings.HasPrefix(word, `"`) {
			rest = append(rest, word)
			continue
		}
		taken, err := w.take(strings.ToLower(name), text.PlainLine(strings.Trim(value, `"`)))
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

// cutWord cuts s after its first word; white space within quotes is part of it. Quotes
// that are not closed go to the end.
func cutWord(s string) (word, after string) {
	quoted := false
	for i, c := range s {
		switch {
		case c == '"':
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
		return false, fault.New(fault.Invalid, "Say which: %s: needs a name right after it, in quotes if it is several words.", name)
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
		return false, fault.New(fault.Invalid, "is:%.40s means nothing: there are is:starred, is:unread and is:read.", value)
	}
	return true, nil
}
