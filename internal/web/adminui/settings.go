package adminui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
)

type settingsView struct {
	view
	Match   string
	Changed []settingRow // settings that can be changed at run time
	Groups  []settingGroup
	Known   bool // the configuration is known
}

type settingGroup struct {
	Name string
	Rows []settingRow
}

type settingRow struct {
	Setting
	ID         string        // ID of the field, for its label
	Current    string        // the value that the program uses
	From       string        // where the value comes from, in words
	Overridden bool          // an administrator changed the value at run time
	By         string        // administrator who made the change at run time
	At         shell.Moment  // time of that change
	Options    []settingKind // menu entries for Choices
	Wrong      string
}

// settingKind is a valid value of a setting, as a menu entry.
type settingKind struct {
	Value  string
	Chosen bool
}

func settingMessages() map[string]string {
	return map[string]string{
		"change": "The setting is changed. It is in force now, and after a restart.",
		"reset":  "The setting has its configured value again.",
	}
}

// settingsPage lists the settings with their current values and their origin.
func (s *Pages) settingsPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	return s.showSettings(rw, r, http.StatusOK, "", "", "")
}

// showSettings writes the list of settings. name, value and wrong are the setting, the value and the
// error of a refused change.
func (s *Pages) showSettings(rw http.ResponseWriter, r *http.Request, status int, name, value, wrong string) error {
	v := settingsView{view: s.newView(r, "Settings", "/admin/settings", settingMessages())}
	query := r.URL.Query()
	v.Match = shell.CleanText(strings.TrimSpace(query.Get("q")), 100)
	if was, changed := query.Get("was"), query.Get("name"); query.Get("done") == "change" && s.isChangeable(changed) {
		v.Undo = &undo{"/admin/settings", []shell.NamedValue{{Name: "name", Value: changed}, {Name: "value", Value: shell.CleanText(was, 200)}}}
	}
	var all []Setting
	if s.Settings != nil {
		all = s.Settings()
	}
	v.Known = len(all) > 0
	for _, one := range all {
		row := s.settingRow(v.view, one)
		if row.Name == name {
			row.Current, row.Wrong = shell.CleanText(value, 200), wrong
		}
		if s.isChangeable(row.Name) {
			v.Changed = append(v.Changed, row)
		}
		if !strings.Contains(strings.ToLower(row.Name+" "+row.Doc), strings.ToLower(v.Match)) {
			continue
		}
		group, _, dotted := strings.Cut(row.Name, ".")
		if !dotted {
			group = "general"
		}
		i := slices.IndexFunc(v.Groups, func(g settingGroup) bool { return g.Name == group })
		if i < 0 {
			i, v.Groups = len(v.Groups), append(v.Groups, settingGroup{Name: group})
		}
		v.Groups[i].Rows = append(v.Groups[i].Rows, row)
	}
	return s.Render(rw, r, status, "adminsettings", v)
}

func (s *Pages) isChangeable(name string) bool {
	_, ok := s.Admin.Settings[name]
	return ok
}

func (s *Pages) settingRow(v view, one Setting) settingRow {
	row := settingRow{Setting: one, ID: strings.NewReplacer(".", "-").Replace(one.Name), Current: one.Value, From: originWords(v.Lang, one)}
	if one.Secret && one.Value != "" {
		row.Current = "hidden"
	}
	if o, ok := s.Admin.Override(one.Name); ok {
		row.Current, row.Overridden, row.By, row.At = o.Value, true, o.ChangedBy, v.When(o.ChangedAt)
		if row.By == "" {
			row.By = v.Say("the operator")
		}
	}
	for _, c := range one.Choices {
		row.Options = append(row.Options, settingKind{c, c == row.Current})
	}
	return row
}

// originWords names the origin of a configured value.
func originWords(l *locale.Locale, one Setting) string {
	switch one.Source {
	case "flag":
		return l.Say("the flag %s", one.Origin)
	case "environment":
		return l.Say("the variable %s", one.Origin)
	case "file":
		return l.Say("the file %s", one.Origin)
	case "profile":
		return l.Say("the profile %s", one.Origin)
	}
	return l.Words("the default")
}

func (s *Pages) doSetting(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	name, value := field("name"), strings.TrimSpace(field("value"))
	was := s.Admin.Value(name)
	if err := s.Admin.SetSetting(r.Context(), s.actor(r, session), name, value); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return err
		}
		return s.showSettings(rw, r, s.Refused(rw, r, err), name, value, shell.Reason(err))
	}
	return shell.Redirect(rw, r, "/admin/settings?"+url.Values{"done": {"change"}, "name": {name}, "was": {was}}.Encode())
}

func (s *Pages) doResetSetting(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	if err := s.Admin.ResetSetting(r.Context(), s.actor(r, session), field("name")); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/admin/settings?done=reset")
}
