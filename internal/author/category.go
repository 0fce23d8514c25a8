package author

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// maxCategoryName is the maximum length of a folded category name in bytes.
const maxCategoryName = 100

// CategoryName returns the name of a category for paths and comparisons: lowercase, with a hyphen
// for each sequence of characters other than letters, digits and + # . _. A label without any of
// these characters is not a valid category; its name is "".
func CategoryName(label string) string { return fold(label, "+#._", maxCategoryName) }

// fold returns a text in lowercase with its letters, digits and the runes in more. A hyphen
// replaces each sequence of other characters. The result has at most limit bytes.
func fold(text, more string, limit int) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(more, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	s := b.String()
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
		if at := strings.LastIndexByte(s, '-'); at > limit/2 {
			s = s[:at]
		}
	}
	return strings.Trim(s, "-.")
}

// maxCreated is the maximum number of categories without posts that one writer can create.
const maxCreated = 200

// AddCategory creates a category for later posts. An existing category is not changed. Errors:
// fault.Invalid (the label is invalid or too long), fault.Conflict (the writer has 200 categories
// without posts), and those of [Posts.SetProfile].
func (p *Posts) AddCategory(ctx context.Context, user, label string) error {
	labels, err := checkCategories([]string{label})
	if err != nil {
		return err
	}
	if len(labels) == 0 {
		return fault.New(fault.Invalid, "%q cannot be a category: its name needs a letter or a digit.", clip(label))
	}
	label = labels[0]
	name := CategoryName(label)
	if err := p.checkEdit(ctx, Edit{User: user}); err != nil {
		return err
	}
	known, err := p.Categories(ctx, user)
	if err != nil || slices.ContainsFunc(known, func(c Count) bool { return c.Name == name }) {
		return err
	}
	used := map[string]bool{}
	for _, c := range known {
		used[c.Name] = c.Posts > 0
	}
	_, err = p.Store.SetProfile(ctx, user, func(f *Profile) error {
		f.Categories = slices.DeleteFunc(f.Categories, func(l string) bool { return used[CategoryName(l)] || CategoryName(l) == name })
		if len(f.Categories) >= maxCreated {
			return fault.New(fault.Conflict, "You have %d categories without posts, which is the most: publish posts in some of them first.", maxCreated)
		}
		f.Categories = append(f.Categories, label)
		return nil
	})
	return err
}

// Categories returns the categories of a user, sorted by name. They are the categories of published
// posts, and the categories that the user created without posts, which have Posts 0.
func (p *Posts) Categories(ctx context.Context, user string) ([]Count, error) {
	counts, err := p.Counts(ctx, user, ByCategory, "", 0)
	if err != nil {
		return nil, err
	}
	w, err := p.Writer(ctx, user)
	if err != nil {
		return nil, err
	}
	for _, label := range w.Categories {
		name := CategoryName(label)
		if !slices.ContainsFunc(counts, func(c Count) bool { return c.Name == name }) {
			counts = append(counts, Count{Name: name, Label: label})
		}
	}
	slices.SortStableFunc(counts, func(a, b Count) int { return text.CompareNames(a.Label, b.Label) })
	return counts, nil
}
