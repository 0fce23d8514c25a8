package route

import "strings"

// Matches reports whether path matches the route's path, for any method. Matches splits both at
// slashes: {name} matches one segment, {name...} and a trailing slash match any number of segments,
// and {$} matches only the end of the path.
func (r Route) Matches(path string) bool {
	pattern, rest := r.Path, path
	for {
		want, morePattern, more := strings.Cut(pattern, "/")
		got, moreRest, left := strings.Cut(rest, "/")
		switch {
		case !more && want == "", !more && strings.HasSuffix(want, "...}"):
			return true
		case !more && want == "{$}":
			return got == "" && !left
		case want != got && (got == "" || !strings.HasPrefix(want, "{")), more != left:
			return false
		case !more:
			return true
		}
		pattern, rest = morePattern, moreRest
	}
}

// First returns the first segment of the route's path: "v1" for "/v1/items", "" for "/{$}".
// variable is true if the segment is a wildcard, such as the name of a user.
func (r Route) First() (segment string, variable bool) {
	segment, _, _ = strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	if segment == "{$}" {
		return "", false
	}
	return segment, strings.HasPrefix(segment, "{")
}
