package writerui

import (
	"strings"
	"time"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"

	"cloudburst/internal/author"
)

// Limits of a difference between two texts.
const (
	maxShown = 120                    // bytes of equal text before and after each change
	diffTime = 500 * time.Millisecond // time limit of a comparison; a comparison that takes longer gives a coarse difference
)

// change is a piece of a difference between two texts.
type change struct {
	Text string
	Kind string // "same", "added", "removed" or "cut"
}

// differenceOf returns the difference from one text to another, in whole words.
func differenceOf(from, to string) (all []change) {
	if from == to {
		return nil
	}
	parts := joined(compare(tokens(from), tokens(to)))
	for i, p := range parts {
		if p.Kind == "same" {
			all = append(all, shortened(p.Text, i > 0, i < len(parts)-1)...)
			continue
		}
		all = append(all, p)
	}
	return all
}

// joined merges changes that only spaces separate into one removed and one added text.
func joined(parts []change) (all []change) {
	var removed, added string
	end := func() {
		for _, c := range []change{{removed, "removed"}, {added, "added"}} {
			if c.Text != "" {
				all = append(all, c)
			}
		}
		removed, added = "", ""
	}
	for i, p := range parts {
		switch {
		case p.Kind == "removed":
			removed += p.Text
		case p.Kind == "added":
			added += p.Text
		case removed != "" && added != "" && i+1 < len(parts) && strings.Trim(p.Text, " ") == "":
			removed, added = removed+p.Text, added+p.Text
		default:
			end()
			all = append(all, p)
		}
	}
	end()
	return all
}

// shortened cuts the middle of an equal text. before and after report whether a change precedes or
// follows the text.
func shortened(s string, before, after bool) []change {
	if len(s) <= 3*maxShown {
		return []change{{s, "same"}}
	}
	var all []change
	if before {
		all = append(all, change{strings.ToValidUTF8(s[:maxShown], ""), "same"})
	}
	all = append(all, change{"…", "cut"})
	if after {
		all = append(all, change{strings.ToValidUTF8(s[len(s)-maxShown:], ""), "same"})
	}
	return all
}

// compare returns the pieces of the difference between two lists of tokens.
func compare(from, to []string) (all []change) {
	// The library compares characters, so each distinct token is encoded as one character.
	codes, words := map[string]rune{}, map[rune]string{}
	encode := func(list []string) []rune {
		out := make([]rune, len(list))
		for i, w := range list {
			c, known := codes[w]
			if !known {
				if c = rune(len(codes) + 1); c >= 0xD800 { // skip the surrogates, which are not valid characters
					c += 0x800
				}
				if c > unicode.MaxRune {
					c = unicode.MaxRune
				}
				codes[w], words[c] = c, w
			}
			out[i] = c
		}
		return out
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = diffTime
	kinds := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffEqual: "same", diffmatchpatch.DiffInsert: "added", diffmatchpatch.DiffDelete: "removed"}
	for _, part := range d.DiffCleanupMerge(d.DiffMainRunes(encode(from), encode(to), false)) {
		var b strings.Builder
		for _, c := range part.Text {
			b.WriteString(words[c])
		}
		all = append(all, change{b.String(), kinds[part.Type]})
	}
	return all
}

// tokens divides a text into words and the spaces between the words.
func tokens(s string) (all []string) {
	from, space := 0, false
	for i, r := range s {
		if is := unicode.IsSpace(r); i > from && is != space {
			all, from = append(all, s[from:i]), i
			space = is
		} else if i == from {
			space = is
		}
	}
	if from < len(s) {
		all = append(all, s[from:])
	}
	return all
}

// merged merges two texts by line. A common line appears once; where the texts differ, the lines of
// other precede the lines of mine.
func merged(mine, other string) string {
	var out strings.Builder
	for _, p := range compare(lines(other), lines(mine)) {
		out.WriteString(p.Text)
		if !strings.HasSuffix(p.Text, "\n") {
			out.WriteByte('\n')
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

func lines(s string) (all []string) {
	for line := range strings.Lines(s) {
		all = append(all, strings.TrimRight(line, "\n")+"\n")
	}
	return all
}

// textOf returns the text of a content for differences: title, source, outline, files, link and
// categories.
func textOf(c *author.Content) string {
	parts := []string{c.Title, c.Source, author.WriteOutline(c.Outline)}
	for _, e := range c.Enclosures {
		parts = append(parts, strings.TrimSpace(fileField{URL: e.URL, Title: e.Title}.Name()+"\n"+e.Alt))
	}
	parts = append(parts, c.Link, strings.Join(explicit(*c), ", "))
	var all []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}
