package account

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Preferences are a user's choices for the pages. The zero value has the default of each, and an
// empty text is the default of its field.
type Preferences struct {
	Theme   string `json:"theme,omitempty"`   // "" follows the browser; light, dark, sepia
	Density string `json:"density,omitempty"` // "" shows full texts; summary, titles
	Text    string `json:"text,omitempty"`    // size: "" is medium; small, large, huge
	Font    string `json:"font,omitempty"`    // "" is sans-serif; serif
	Width   string `json:"width,omitempty"`   // width of the river's column: "" (normal), narrow or broad
	// Language of the pages: "" follows the browser; en, de.
	Language string `json:"language,omitempty"`
	// Oldest shows the oldest items first.
	Oldest bool `json:"oldest,omitempty"`
	// NoMarks turns read tracking off; NoCounts hides the numbers of unread items.
	NoMarks  bool `json:"noMarks,omitempty"`
	NoCounts bool `json:"noCounts,omitempty"`
	// OnScroll marks items read when they have been scrolled past.
	OnScroll bool `json:"onScroll,omitempty"`
	// NoOwnPosts keeps the user's own posts out of their river.
	NoOwnPosts bool `json:"noOwnPosts,omitempty"`
	// Unlisted keeps the user out of the list of authors.
	Unlisted bool `json:"unlisted,omitempty"`
	// ShowFollows shows authors of this server that the user follows them.
	ShowFollows bool `json:"showFollows,omitempty"`
	// MailSubscribers lets visitors receive the user's public posts by e-mail.
	MailSubscribers bool `json:"mailSubscribers,omitempty"`
	// Searches are the saved searches, each the parameters of a page of the river, one on a line. At
	// most MaxSearches of at most MaxSearch bytes.
	Searches string `json:"searches,omitempty"`
}

// Limits of saved searches.
const (
	MaxSearches = 20
	MaxSearch   = 500 // bytes

	maxPreferences = 2*MaxSearches*MaxSearch + 1000 // bytes of JSON
)

// Choices of the texts in Preferences; the first of each is the default.
var (
	Themes    = []string{"", "light", "dark", "sepia"}
	Densities = []string{"", "summary", "titles"}
	TextSizes = []string{"", "small", "large", "huge"}
	Fonts     = []string{"", "serif"}
	Widths    = []string{"", "narrow", "broad"}
	Languages = []string{"", "en", "de"}
)

// Valid returns p with the default in place of each value that is not a choice, and without saved
// searches that exceed the limits.
func (p Preferences) Valid() Preferences {
	for _, one := range []struct {
		value   *string
		choices []string
	}{{&p.Theme, Themes}, {&p.Density, Densities}, {&p.Text, TextSizes}, {&p.Font, Fonts}, {&p.Width, Widths}, {&p.Language, Languages}} {
		if !slices.Contains(one.choices, *one.value) {
			*one.value = ""
		}
	}
	var kept []string
	for line := range strings.SplitSeq(p.Searches, "\n") {
		if line != "" && len(line) <= MaxSearch && len(kept) < MaxSearches && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	p.Searches = strings.Join(kept, "\n")
	return p
}

// Encode returns p as JSON, for the store and for cookies; "" for the default.
func (p Preferences) Encode() string {
	if p = p.Valid(); p == (Preferences{}) {
		return ""
	}
	b, err := json.Marshal(p)
	if err != nil {
		return "" // the type has only texts and booleans
	}
	return string(b)
}

// DecodePreferences is the inverse of Encode. Unknown fields and values have no effect, so that
// older and newer versions of the program can share a database.
func DecodePreferences(text string) (p Preferences) {
	if len(text) > maxPreferences || json.Unmarshal([]byte(text), &p) != nil {
		return Preferences{}
	}
	return p.Valid()
}

// SetPreferences stores the preferences of a user. fault.NotFound: no such user.
func (a *Accounts) SetPreferences(ctx context.Context, user string, p Preferences) error {
	return a.Store.SetPreferences(ctx, user, p.Encode())
}
