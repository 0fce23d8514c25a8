package readerui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// savedSearch is a search that the user has saved: the filters of a page of the river.
type savedSearch struct {
	riverQuery
	Key string // URL parameters of the search
}

// savedSearches lists the saved searches. It omits searches that are not valid any more.
func (d displaySettings) savedSearches() (all []savedSearch) {
	for line := range strings.SplitSeq(d.Searches, "\n") {
		if q, ok := parseSearch(line); ok {
			all = append(all, savedSearch{q, line})
		}
	}
	return all
}

// parseSearch reads the parameters of a search.
func parseSearch(key string) (q riverQuery, ok bool) {
	v, err := url.ParseQuery(key)
	if err != nil {
		return q, false
	}
	v.Del("before")
	q = parseRiverQuery(v)
	return q, q.Text != "" && q.Wrong == ""
}

// label returns the name of a saved search in the rail.
func (q savedSearch) label() string {
	words := shell.CleanText(q.Text, 60)
	if q.Category != "" {
		words += " in " + shell.CleanText(q.Category, 60)
	}
	return words
}

// addSearches adds the saved searches to the rail.
func (v *riverView) addSearches() {
	g := railGroup{railLink: railLink{Name: "Searches"}, Open: true}
	here := v.SearchKey()
	for _, q := range v.Looks.savedSearches() {
		g.Feeds = append(g.Feeds, railFeed{railLink: railLink{Name: q.label(), Href: withQuery(v.Root, q.values()), Here: q.Key == here, Foreign: true}, Letter: "/"})
		v.Saved = v.Saved || q.Key == here
	}
	if len(g.Feeds) > 0 {
		v.Groups = append(v.Groups, g)
	}
}

// SearchKey returns the search of the page as savedSearch.Key. "": the page has no search, or the
// search cannot be saved.
func (v riverView) SearchKey() string {
	if !v.Own || v.Query.Text == "" || v.Query.Wrong != "" {
		return ""
	}
	if key := v.Query.values().Encode(); len(key) <= account.MaxSearch {
		return key
	}
	return ""
}

// doSearch saves a search, or removes a saved one.
func (s *riverPages) doSearch(rw http.ResponseWriter, r *http.Request, _ string, _ access) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	p := s.Preferences(r)
	var all []string
	for _, q := range (displaySettings{Preferences: p}).savedSearches() {
		all = append(all, q.Key)
	}
	key, remove := r.PostForm.Get("add"), r.PostForm.Get("remove")
	switch q, ok := parseSearch(key); {
	case remove != "":
		all = slices.DeleteFunc(all, func(other string) bool { return other == remove })
	case !ok || len(key) > account.MaxSearch:
		return fault.New(fault.Invalid, "There are no words to save. Search for some first.")
	case len(all) >= account.MaxSearches:
		return fault.New(fault.TooMany, "You have %d saved searches, which is the limit. Remove one first.", len(all))
	default:
		if key = q.values().Encode(); !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	p.Searches = strings.Join(all, "\n")
	if err := s.SetPreferences(rw, r, p); err != nil {
		return err
	}
	return s.backToRiver(rw, r, nil, "")
}
