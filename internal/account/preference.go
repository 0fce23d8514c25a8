package account

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Preferences are a user's choices for the pages. A zero field is the default of the field.
type Preferences struct {
	Theme   string `json:"theme,omitempty"`   // colors: "" (as the browser), light, dark or sepia
	Density string `json:"density,omitempty"` // text of each item: "" (full), summary or titles
	Text    string `json:"text,omitempty"`    // size of text: "" (medium), small, large or huge
	Font    string `json:"font,omitempty"`    // font of texts: "" (sans-serif) or serif
	Width   string `json:"width,omitempty"`   // width of the river's column: "" (normal), narrow or broad
	// Language is the language of the pages: "" (as the browser), en or de.
	Language string `json:"language,omitempty"`
	// Oldest shows the oldest items first.
	Oldest bool `json:"oldest,omitempty"`
	// NoMarks turns off read tracking. NoCounts hides the numbers of unread items.
	NoMarks  bool `json:"noMarks,omitempty"`
	NoCounts bool `json:"noCounts,omitempty"`
	// OnScroll marks items as read when the user has scrolled past them.
	OnScroll bool `json:"onScroll,omitempty"`
	// NoOwnPosts removes the user's own posts from the user's river.
	NoOwnPosts bool `json:"noOwnPosts,omitempty"`
	// Unlisted removes the user from the list of authors.
	Unlisted bool `json:"unlisted,omitempty"`
	// ShowFollows lets authors on this server see that the user follows them.
	ShowFollows bool `json:"showFollows,omitempty"`
	// MailSubscribers lets visitors receive the user's public posts by e-mail.
	MailSubscribers bool `json:"mailSubscribers,omitempty"`
	// Searches are the saved searches, one per line. Each is the query parameters of a page of the
	// river. The maximum is MaxSearches searches of MaxSearch bytes each.
	Searches string `json:"searches,omitempty"`
}

// Limits of saved searches.
const (
	MaxSearches = 20
	MaxSearch   = 500 // maximum bytes of one search

	maxPreferences = 2*MaxSearches*MaxSearch + 1000 // maximum bytes of the JSON of all preferences
)

// Valid values of the text fields in Preferences. The first value is the default.
var (
	Themes    = []string{"", "light", "dark", "sepia"}
	Densities = []string{"", "summary", "titles"}
	TextSizes = []string{"", "small", "large", "huge"}
	Fonts     = []string{"", "serif"}
	Widths    = []string{"", "narrow", "broad"}
	Languages = []string{"", "en", "de"}
)

// Valid returns p with valid values: it replaces each invalid value with the default, and removes
// saved searches that exceed the limits.
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

// Encode returns p as JSON for the store and for cookies; "": all preferences have their defaults.
func (p Preferences) Encode() string {
	if p = p.Valid(); p == (Preferences{}) {
		return ""
	}
	b, err := json.Marshal(p)
	if err != nil {
		return "" // cannot happen: the type has only texts and booleans
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

// SetPreferences stores the preferences of a user. fault.NotFound: the user does not exist.
func (a *Accounts) SetPreferences(ctx context.Context, user string, p Preferences) error {
	return a.Store.SetPreferences(ctx, user, p.Encode())
}
