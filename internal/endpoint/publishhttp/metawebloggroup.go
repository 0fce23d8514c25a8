package publishhttp

import (
	"slices"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// groupPrefix is the prefix of categories that represent groups in editors: "private:family". The
// interface has no other field for the readers of a post that editors show.
//
// spec:cloudburst#metaweblog-groups
const groupPrefix = "private:"

// groupCategories returns the categories of groups.
func groupCategories(slugs []string) []string {
	all := slices.Clone(slugs)
	for i := range all {
		all[i] = groupPrefix + all[i]
	}
	return all
}

// errPrivate is the error of the publication of a private post that does not remove its groups.
func errPrivate(groups []string) error {
	return fault.New(fault.Invalid, "This post is private. To make it public, send its categories without %s; nothing was saved.", strings.Join(groupCategories(groups), ", "))
}

// splitGroups separates labels into categories and the slugs of groups.
func splitGroups(labels []string) (categories, groups []string) {
	categories = []string{}
	for _, label := range labels {
		if slug, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(label)), groupPrefix); ok {
			groups = append(groups, slug)
		} else {
			categories = append(categories, label)
		}
	}
	return categories, groups
}

// categoryID returns the ID of a category for editors.
func categoryID(label string) string {
	if strings.HasPrefix(label, groupPrefix) {
		return label
	}
	return author.CategoryName(label)
}
