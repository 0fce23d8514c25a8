package route

import "strings"

// Matches reports whether path is one of the route's, whatever the method. Both are split at
// slashes: {name} stands for one segment, {name...} and a slash at the end for any number of
// segments, and {$} for nothing behind the last slash.
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

// First is the first segment of the route's path: "v1" of "/v1/items", "" of "/{$}". variable is
// true when it stands for any text, such as the name of a user.
func (r Route) First() (segment string, variable bool) {
	segment, _, _ = strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	if segment == "{$}" {
		return "", false
	}
	return segment, strings.HasPrefix(segment, "{")
}
