package readerui

import (
	"net/http"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

// displaySettings are the user's choices for the river. Marks and Counts are the inverse of the
// stored preferences, which hide marks and counts.
type displaySettings struct {
	account.Preferences
	Marks, Counts bool
}

func (s *base) displaySettingsOf(r *http.Request) displaySettings {
	p := s.Preferences(r)
	return displaySettings{p, !p.NoMarks, !p.NoMarks && !p.NoCounts}
}

// Classes returns the CSS classes of the element that contains the river.
func (d displaySettings) Classes() string {
	var all []string
	add := func(prefix, value string) {
		if value != "" {
			all = append(all, prefix+value)
		}
	}
	if d.Marks {
		all = append(all, "marking")
	}
	add("show-", d.Density)
	add("text-", d.Text)
	add("", d.Font)
	add("col-", d.Width)
	return strings.Join(all, " ")
}

// displayChoice is a field of the form for the display settings.
type displayChoice struct {
	Name, Label string
	Options     []displayOption
}

type displayOption struct {
	Value, Label string
	Chosen       bool
}

// Choices lists the menus of the form for the display settings.
func (d displaySettings) Choices() []displayChoice {
	order := ""
	if d.Oldest {
		order = "oldest"
	}
	fields := []struct {
		name, label, chosen string
		values, labels      []string
	}{
		{"density", "Items", d.Density, account.Densities, []string{"Full text", "Summary", "Titles only"}},
		{"text", "Text size", d.Text, account.TextSizes, []string{"Medium", "Small", "Large", "Very large"}},
		{"font", "Font", d.Font, account.Fonts, []string{"Sans-serif", "Serif"}},
		{"width", "Column", d.Width, account.Widths, []string{"Normal", "Narrow", "Wide"}},
		{"theme", "Colours", d.Theme, account.Themes, []string{"Automatic", "Light", "Dark", "Sepia"}},
		{"language", "Language", d.Language, account.Languages, languageNames()},
		{"order", "Order", order, []string{"", "oldest"}, []string{"Newest first", "Oldest first"}},
	}
	all := make([]displayChoice, len(fields))
	for i, g := range fields {
		all[i] = displayChoice{Name: g.name, Label: g.label}
		for j, value := range g.values {
			all[i].Options = append(all[i].Options, displayOption{value, g.labels[j], value == g.chosen})
		}
	}
	return all
}

// languageNames lists the names of account.Languages, each in its own language.
func languageNames() []string {
	names := []string{"As the browser"}
	for _, l := range locale.All() {
		names = append(names, l.Name)
	}
	return names
}

// displayView is the page of the display settings.
type displayView struct {
	shell.View
	Looks   displaySettings
	Back    string // path of the page to return to
	Message string // result of the last action
}

// displayPage shows the form of the display settings.
func (s *riverPages) displayPage(rw http.ResponseWriter, r *http.Request) error {
	v := displayView{View: s.NewView(r, "Display"), Looks: s.displaySettingsOf(r), Back: "/river/display?done=saved"}
	if r.URL.Query().Get("done") == "saved" {
		v.Message = v.Say("Saved.")
		if v.User == "" {
			v.Message = v.Say("Saved in this browser.")
		}
	}
	return s.Render(rw, r, http.StatusOK, "riverdisplay", v)
}

// doDisplay stores the display settings. A missing field gets its default value.
func (s *riverPages) doDisplay(rw http.ResponseWriter, r *http.Request) error {
	if !s.riverForm(rw, r) {
		return nil
	}
	f := r.PostForm
	was := s.Preferences(r)
	p := account.Preferences{
		Theme: f.Get("theme"), Density: f.Get("density"), Text: f.Get("text"), Font: f.Get("font"), Width: f.Get("width"), Language: f.Get("language"),
		Oldest: f.Get("order") == "oldest", NoMarks: f.Get("marks") != "1", NoCounts: f.Get("counts") != "1", OnScroll: f.Get("scroll") == "1",
		Searches: was.Searches, NoOwnPosts: was.NoOwnPosts, Unlisted: was.Unlisted, ShowFollows: was.ShowFollows, MailSubscribers: was.MailSubscribers,
	}.Valid()
	if err := s.SetPreferences(rw, r, p); err != nil {
		return err
	}
	return s.backToRiver(rw, r, nil, "")
}
