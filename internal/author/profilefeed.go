package author

import (
	"strconv"
	"strings"

	"cloudburst/feed"
)

// ProfileOf returns the profile that the channel of a feed describes, without invalid values. Markup
// in the title and the description becomes plain text.
func ProfileOf(f *feed.Feed) Profile {
	blurb := f.Subtitle.Value
	if isMarkup(f.Subtitle) {
		blurb = textOf(blurb)
	}
	p := Profile{Title: words(f.Title), Blurb: clipRunes(strings.TrimSpace(blurb), maxBlurb)}
	if language.MatchString(f.Language) {
		p.Language = f.Language
	}
	if f.Image != nil {
		if at, err := CheckURL("image", f.Image.URL, false); err == nil {
			p.Avatar = at
		}
	}
	all := hintsOf(f.Hints)
	for _, h := range []Hints{all, {TTL: all.TTL}} {
		if h.check() == nil {
			p.Hints = h
			break
		}
	}
	return p
}

// hintsOf converts the hints of a feed. It leaves out values that are not numbers.
func hintsOf(f feed.Hints) Hints {
	h := Hints{SkipDays: f.SkipDays, UpdatePeriod: f.UpdatePeriod, UpdateBase: f.UpdateBase.UTC}
	number := func(s string) (n int) {
		n, _ = strconv.Atoi(strings.TrimSpace(s)) // an invalid number counts as none
		return n
	}
	h.TTL, h.UpdateFrequency = number(f.TTL), number(f.UpdateFrequency)
	for _, s := range f.SkipHours {
		hour, err := strconv.Atoi(strings.TrimSpace(s))
		if hour == 24 { // RSS 0.91 counts the hours from 1 to 24
			hour = 0
		}
		if err == nil {
			h.SkipHours = append(h.SkipHours, hour)
		}
	}
	return h
}

// fill sets the empty fields that [ProfileOf] can return. It reports whether the profile changed.
func (p *Profile) fill(from Profile) (changed bool) {
	for _, f := range []struct{ to, from *string }{
		{&p.Title, &from.Title}, {&p.Blurb, &from.Blurb}, {&p.Language, &from.Language}, {&p.Avatar, &from.Avatar},
	} {
		if *f.to == "" && *f.from != "" {
			*f.to, changed = *f.from, true
		}
	}
	if p.Hints.IsZero() && !from.Hints.IsZero() {
		p.Hints, changed = from.Hints, true
	}
	return changed
}
