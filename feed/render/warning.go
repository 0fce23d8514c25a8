package render

import "strconv"

// Warning says what a format made of something that it has no place for, or which of
// its rules the feed does not keep. The document is valid all the same.
type Warning struct {
	Rule string `json:"rule"`           // stable, for programs: "title-length"
	Path string `json:"path,omitempty"` // "item[3]/title", counted from 1; "" for the feed as a whole
	Text string `json:"text"`           // a sentence for people
}

// mostWarnings is how many are handed out; nobody reads more.
const maxWarnings = 200

// warn notes a warning. where is the name of the part of the feed or the current item
// that it is about, "" for all of it; the parts of the text are joined as they are.
func (w *writer) warn(rule, where string, text ...string) {
	if len(w.warnings) >= maxWarnings {
		w.unreported++
		return
	}
	n := 0
	for _, t := range text {
		n += len(t)
	}
	b := make([]byte, 0, n)
	for _, t := range text {
		b = append(b, t...)
	}
	w.warnings = append(w.warnings, Warning{Rule: rule, Path: w.path(where), Text: string(b)})
}

// path is where in the feed a part is: "item[3]/item[1]/title".
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

// enter goes into item number i, counted from 0, of the feed or of the current item;
// leave goes out again. Warnings are told by it.
func (w *writer) enter(i int) { w.at = append(w.at, i+1) }

func (w *writer) leave() { w.at = w.at[:len(w.at)-1] }

// told is all warnings, with one for those that were too many.
func (w *writer) reported() []Warning {
	if w.unreported > 0 {
		w.warnings = append(w.warnings, Warning{Rule: "more", Text: "There are " + strconv.Itoa(w.unreported) + " more warnings."})
		w.unreported = 0
	}
	return w.warnings
}
