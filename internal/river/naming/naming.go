// Package naming validates the names that users give to feeds and categories. Start with [Title]
// and [Category].
package naming

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// Limits for the names that users choose.
const (
	LongestTitle    = 200 // maximum number of characters in the title that a user gives a feed
	LongestCategory = 60  // maximum number of characters in the name of a category
	MostCategories  = 20  // maximum number of categories of one subscription
)

// Title validates and normalizes the title that a user gives a feed.
func Title(s string) (string, error) {
	if strings.ContainsFunc(strings.TrimSpace(s), func(c rune) bool { return unicode.IsControl(c) }) {
		return "", fault.New(fault.Invalid, "A title may not have control characters in it.")
	}
	s = text.PlainLine(s)
	if n := utf8.RuneCountInString(s); n > LongestTitle {
		return "", fault.New(fault.Invalid, "A title has at most %d characters; this one has %d.", LongestTitle, n)
	}
	return s, nil
}

// Category validates and normalizes the name of a category. The name is part of URLs and of OPML
// category paths, so it must not contain a slash.
func Category(s string) (string, error) {
	if strings.ContainsFunc(strings.TrimSpace(s), func(c rune) bool { return unicode.IsControl(c) }) {
		return "", fault.New(fault.Invalid, "The name of a category may not have control characters in it.")
	}
	s = text.PlainLine(s)
	n := utf8.RuneCountInString(s)
	switch {
	case s == "":
		return "", fault.New(fault.Invalid, "A category needs a name.")
	case n > LongestCategory:
		return "", fault.New(fault.Invalid, "The name of a category has at most %d characters; this one has %d.", LongestCategory, n)
	case strings.Contains(s, "/"), s == ".", s == "..":
		return "", fault.New(fault.Invalid, "A category cannot be called %q: its name may not have a slash, or be only dots.", s)
	}
	return s, nil
}

// CategoryOf converts a name from another program to the name of a category. It returns "" if no
// valid character remains.
func CategoryOf(s string) string {
	s = strings.ReplaceAll(text.PlainLine(s), "/", "-")
	if utf8.RuneCountInString(s) > LongestCategory {
		s = text.PlainLine(string([]rune(s)[:LongestCategory]))
	}
	if s == "." || s == ".." {
		return ""
	}
	return s
}

// ImportedCategory is like CategoryOf, and reports to the user a name that it shortens or changes.
func ImportedCategory(s string, report func(format string, args ...any)) string {
	was, is := text.PlainLine(s), CategoryOf(s)
	switch {
	case is == was || is == "":
	case utf8.RuneCountInString(was) > LongestCategory:
		report("The category “%s” is called “%s”: names have at most %d characters, and categories with the same name are one.", text.ClipRunes(was, 200), is, LongestCategory)
	default:
		report("The category “%s” is called “%s”: names have no slash.", was, is)
	}
	return is
}

// TitleOf converts a title from another program to a valid title.
func TitleOf(s string) string { return text.ClipRunes(text.PlainLine(s), LongestTitle) }

// Imported returns the titles of a feed in a list from another program: own is the name that the
// user gave the feed, and feed is the feed's own title, which is displayed until the first check.
// Many programs write the user's name into both attributes, so an equal title is no reason to drop
// the name. The store drops the name if the first check finds that it is the feed's own title.
//
// spec:cloudburst#opml-own-title
func Imported(text, title, url string) (own, feed string) {
	own, feed = text, title
	if own == url {
		own = ""
	}
	switch feed {
	case "":
		feed = own
	case url:
		feed = ""
	}
	return TitleOf(own), TitleOf(feed)
}

// Categories validates, sorts and deduplicates the categories of a subscription.
func Categories(list []string) ([]string, error) {
	var out []string
	for _, name := range list {
		name, err := Category(name)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > MostCategories {
		return nil, fault.New(fault.Invalid, "A feed can be in %d categories at most.", MostCategories)
	}
	return out, nil
}
