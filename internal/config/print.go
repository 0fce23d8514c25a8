package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/text"
)

// WriteTOML prints the effective configuration as a TOML file with the documentation and origin of
// each value. The printed file loads to the same values. If secrets is false, WriteTOML hides values
// with a password and comments them out.
func (e *Effective) WriteTOML(w io.Writer, secrets bool) error {
	var b strings.Builder
	table := ""
	for _, v := range e.Values {
		key := v.Name
		if t, rest, ok := strings.Cut(v.Name, "."); ok {
			key = rest
			if t != table {
				table = t
				fmt.Fprintf(&b, "[%s]\n\n", table)
			}
		}
		for line := range strings.SplitSeq(wrap(v.Doc, 76), "\n") {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		fmt.Fprintf(&b, "# From %s. Flag --%s, variable %s", v.from(), v.Name, v.Env())
		if v.Secret {
			fmt.Fprintf(&b, " or %s", v.EnvFile())
		}
		b.WriteString(".\n")
		if v.Secret && v.Text != "" && e.redacted || v.Secret && !secrets && v.Shown() != v.Text {
			hint := "; --show-secrets prints it"
			if e.redacted {
				hint = ""
			}
			fmt.Fprintf(&b, "# Hidden%s.\n# %s = %s\n\n", hint, key, quote(v.Shown()))
			continue
		}
		fmt.Fprintf(&b, "%s = %s\n\n", key, v.toml())
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

func (v Value) from() string {
	switch v.Source {
	case FromDefault:
		return "the default"
	case FromProfile:
		return "the profile " + v.Origin
	case FromFile:
		return "the file " + v.Origin
	case FromEnv:
		return "the variable " + v.Origin
	case fromChange:
		return "a change while the server runs"
	default:
		return "the flag " + v.Origin
	}
}

func (v Value) toml() string {
	switch v.Kind {
	case Count, Rate, Share:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	case Size:
		if n, err := text.ParseSize(v.Text); err == nil {
			return quote(text.FormatSize(n))
		}
	case Networks, Durations, URLs, PingTargets:
		var parts []string
		for part := range strings.SplitSeq(v.Text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, quote(part))
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quote(v.Text)
}

// quote formats a TOML basic string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// WriteJSON prints one object per line, in the order of the table of settings. Its fields are name,
// value, default, source, origin, env and doc.
func (e *Effective) WriteJSON(w io.Writer, secrets bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range e.Values {
		text := v.Shown()
		if secrets {
			text = v.Text
		}
		err := enc.Encode(struct {
			Name    string `json:"name"`
			Value   string `json:"value"`
			Default string `json:"default"`
			Source  Source `json:"source"`
			Origin  string `json:"origin,omitempty"`
			Env     string `json:"env"`
			Doc     string `json:"doc"`
		}{v.Name, text, v.Default, v.Source, v.Origin, v.Env(), v.Doc})
		if err != nil {
			return err
		}
	}
	return nil
}

// Of returns the settings of another process. Key of each map: setting name. Of omits names that
// this program does not know.
func Of(text, source, origin map[string]string) *Effective {
	e := &Effective{redacted: true}
	for _, s := range Settings() {
		if value, ok := text[s.Name]; ok {
			e.Values = append(e.Values, Value{Setting: s, Text: value, Source: Source(source[s.Name]), Origin: origin[s.Name]})
		}
	}
	return e
}

// wrap breaks text at spaces into lines of at most width characters. A longer word gets its own
// line.
func wrap(text string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		l := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+l > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += l
	}
	return b.String()
}
