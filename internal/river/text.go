package river

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

const (
	maxTitle        = 200 // characters of a user's own title
	maxCategoryName = 60
	maxCategories   = 20 // of one subscription
)

// checkTitle checks and normalizes a user's own title.
func checkTitle(s string) (string, error) {
	if strings.ContainsFunc(strings.TrimSpace(s), func(c rune) bool { return unicode.IsControl(c) }) {
		return "", fault.New(fault.Invalid, "A title may not have control characters in it.")
	}
	s = text.PlainLine(s)
	if n := utf8.RuneCountInString(s); n > maxTitle {
		return "", fault.New(fault.Invalid, "A title has at most %d characters; this one has %d.", maxTitle, n)
	}
	return s, nil
}

// checkCategory checks and normalizes the name of a category. A name is part of URLs and of OPML
// category paths, so it must not have a slash.
func checkCategory(s string) (string, error) {
	if strings.ContainsFunc(strings.TrimSpace(s), func(c rune) bool { return unicode.IsControl(c) }) {
		return "", fault.New(fault.Invalid, "The name of a category may not have control characters in it.")
	}
	s = text.PlainLine(s)
	n := utf8.RuneCountInString(s)
	switch {
	case s == "":
		return "", fault.New(fault.Invalid, "A category needs a name.")
	case n > maxCategoryName:
		return "", fault.New(fault.Invalid, "The name of a category has at most %d characters; this one has %d.", maxCategoryName, n)
	case strings.Contains(s, "/"), s == ".", s == "..":
		return "", fault.New(fault.Invalid, "A category cannot be called %q: its name may not have a slash, or be only dots.", s)
	}
	return s, nil
}

// categoryOf converts a name from another program to the name of a category; "" when nothing
// remains.
func categoryOf(s string) string {
	s = strings.ReplaceAll(text.PlainLine(s), "/", "-")
	if utf8.RuneCountInString(s) > maxCategoryName {
		s = text.PlainLine(string([]rune(s)[:maxCategoryName]))
	}
	if s == "." || s == ".." {
		return ""
	}
	return s
}

// titleOf converts a name from another program to a title.
func titleOf(s string) string { return text.ClipRunes(text.PlainLine(s), maxTitle) }

// checkCategories checks, sorts and deduplicates the categories of a subscription.
func checkCategories(list []string) ([]string, error) {
	var out []string
	for _, name := range list {
		name, err := checkCategory(name)
		if err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > maxCategories {
		return nil, fault.New(fault.Invalid, "A feed can be in %d categories at most.", maxCategories)
	}
	return out, nil
}
