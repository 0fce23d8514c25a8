package render

import (
	"strconv"
	"strings"

	"cloudburst/feed"
)

// Warning reports content that a format cannot represent, and what was written instead, or a rule
// of the format that the feed violates. The document is valid in any case.
type Warning struct {
	Rule string `json:"rule"`           // stable identifier, such as "title-length"
	Path string `json:"path,omitempty"` // path, such as "item[3]/title", counted from 1; "" for the whole feed
	Text string `json:"text"`           // message for people
}

// maxWarnings is the maximum number of warnings of one document.
const maxWarnings = 200

// warn records a warning. where names the affected part of the feed or of the current item; ""
// means the whole feed or item. The parts of the text are concatenated.
func (w *writer) warn(rule, where string, text ...string) {
	if len(w.warnings) >= maxWarnings {
		w.unreported++
		return
	}
	w.warnings = append(w.warnings, Warning{Rule: rule, Path: w.path(where), Text: strings.Join(text, "")})
}

// path returns the path of a part of the feed, such as "item[3]/item[1]/title".
func (w *writer) path(where string) string {
	if len(w.at) == 0 {
		return where
	}
	b := make([]byte, 0, 40)
	for i, n := range w.at {
		if i > 0 {
			b = append(b, '/')
		}
		b = append(strconv.AppendInt(append(b, "item["...), int64(n), 10), ']')
	}
	if where != "" {
		b = append(append(b, '/'), where...)
	}
	return string(b)
}

// enter selects item i, counted from 0, of the feed or of the current item. The paths of later
// warnings contain this item. leave returns to the parent.
func (w *writer) enter(i int) { w.at = append(w.at, i+1) }

func (w *writer) leave() {
	if len(w.at) == 1 && w.at[0] == 1 {
		w.declare()
	}
	w.at = w.at[:len(w.at)-1]
}

// eachItem writes the items of a list.
func eachItem(w *writer, list []feed.Item, write func(*feed.Item)) {
	for i := range list {
		w.enter(i)
		write(&list[i])
		w.leave()
	}
}

// allWarnings returns the recorded warnings. If there were more than the limit, a last warning
// states their number.
func (w *writer) allWarnings() []Warning {
	if w.unreported > 0 {
		w.warnings = append(w.warnings, Warning{Rule: "more", Text: "There are " + strconv.Itoa(w.unreported) + " more warnings."})
		w.unreported = 0
	}
	return w.warnings
}
