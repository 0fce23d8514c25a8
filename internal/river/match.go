package river

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

const (
	longestMatch = 500 // bytes
	mostMatched  = 10  // words with a meaning of one kind
	mostSources  = 1000
)

// sought is what a reader searches for, with those taken out that have a meaning.
type sought struct {
	rest                  string // for the store
	feeds, categories     []string
	starred, unread, read bool
}

// readWords takes feed:…, category:… and is:… out of what a reader typed; their values
// may stand in quotes. fault.Invalid.
func readWords(match string) (sought, error) {
	var w sought
	if len(match) > longestMatch {
		return w, fault.New(fault.Invalid, "These are %d bytes to search for: at most %d make sense.", len(match), longestMatch)
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
	w.rest = strings.Join(rest, " ")
	if len(w.feeds) > mostMatched || len(w.categories) > mostMatched {
		return w, fault.New(fault.Invalid, "A search has at most %d words with feed: and as many with category:.", mostMatched)
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

func (w *sought) take(name, value string) (taken bool, err error) {
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
		w.feeds = append(w.feeds, value)
		return true, nil
	case "category":
		w.categories = append(w.categories, value)
		return true, nil
	}
	switch strings.ToLower(value) {
	case "starred":
		w.starred = true
	case "unread":
		w.unread = true
	case "read":
		w.read = true
	default:
		return false, fault.New(fault.Invalid, "is:%.40s means nothing: there are is:starred, is:unread and is:read.", value)
	}
	return true, nil
}

// searching turns the words of a search into conditions of an ItemQuery.
type searching struct{ *River }

// restrict puts what the words mean into q; ok is false when nothing can be found.
func (r searching) restrict(ctx context.Context, q *ItemQuery) (ok bool, err error) {
	w, err := readWords(q.Match)
	if err != nil {
		return false, err
	}
	q.Match = w.rest
	q.Starred = q.Starred || w.starred
	q.Unread = q.Unread || w.unread
	q.Read = q.Read || w.read
	if q.Unread && q.Read {
		return false, nil
	}
	if len(w.categories) > 0 {
		names, err := r.named(ctx, q.Reader, w.categories)
		if err != nil || len(names) == 0 {
			return false, err
		}
		if len(q.Categories) > 0 {
			names = slices.DeleteFunc(names, func(c string) bool { return !slices.Contains(q.Categories, c) })
		}
		if q.Categories = names; len(names) == 0 {
			return false, nil
		}
	}
	if len(w.feeds) == 0 {
		return true, nil
	}
	ids, err := r.matching(ctx, q.Reader, w.feeds)
	if len(q.Sources) > 0 {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return !slices.Contains(q.Sources, id) })
	}
	q.Sources = ids
	return len(ids) > 0, err
}

// named gives a reader's categories by their names in any case.
func (r searching) named(ctx context.Context, reader string, names []string) ([]string, error) {
	have, err := r.Store.Categories(ctx, reader, false)
	var out []string
	for _, c := range have {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c.Name) }) {
			out = append(out, c.Name)
		}
	}
	return out, err
}

// matching gives the sources that a reader follows of which the name or the URL has one
// of the words in it.
func (r searching) matching(ctx context.Context, reader string, names []string) ([]int64, error) {
	var ids []int64
	for _, n := range names {
		list, err := r.Store.RiverSubscriptions(ctx, SubscriptionQuery{Reader: reader, Match: n, Limit: mostSources + 1})
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			ids = append(ids, f.SourceID)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) > mostSources {
		return nil, fault.New(fault.Invalid, "More than %d of your feeds have %q in their names: say it with more letters.", mostSources, names[0])
	}
	return ids, nil
}
