package river

import (
	"slices"

	"cloudburst/internal/river/location"
)

// addressOf parses the location of a feed, page or list. A URL of this program gets the program's
// canonical origin and has no alternatives.
//
// spec:cloudburst#own-names
func addressOf(r *River, typed string) (location.Location, error) {
	a, err := location.Read(typed)
	if err != nil || r.Options.Canonical == nil {
		return a, err
	}
	for i, u := range a.URLs {
		if a.URLs[i] = r.Options.Canonical(u); r.Options.Own != nil && r.Options.Own(u) {
			a.URLs = a.URLs[i : i+1]
			break
		}
	}
	return a, nil
}

// canonical returns the form of a normalized URL under which sources are stored; see
// Options.Canonical.
func (r *River) canonical(url string) string {
	if r.Options.Canonical == nil {
		return url
	}
	return r.Options.Canonical(url)
}

// canonicals returns the canonical form of each URL, without duplicates.
func canonicals(r *River, urls []string) []string {
	var out []string
	for _, u := range urls {
		if u = r.canonical(u); !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}
