package shell

import "net/http"

// Question asks the user to confirm an action.
type Question struct {
	Lines  []string // what will happen, and whether it can be undone
	Action string
	Fields []NamedValue // sent again together with sure=yes
	Button string
	Back   string // page to return to on Cancel
}

type NamedValue struct{ Name, Value string }

type confirmView struct {
	View
	Question
}

// AskFirst shows a confirmation page. It always returns nil.
func (s *Shell) AskFirst(rw http.ResponseWriter, r *http.Request, heading string, q Question) error {
	for i := range q.Fields {
		q.Fields[i].Value = CleanText(q.Fields[i].Value, 2048)
	}
	l := s.Locale(r)
	q.Button = l.Words(q.Button)
	for i := range q.Lines {
		q.Lines[i] = l.Words(q.Lines[i])
	}
	return s.Render(rw, r, http.StatusOK, "confirm", confirmView{s.NewView(r, heading), q})
}

// CopyText is a text for the user to copy.
type CopyText struct{ ID, Label, Text string }

// UndoBar offers to undo the last change.
type UndoBar struct {
	Action string // path of the form
	Fields []NamedValue
	Words  string
	Href   string // URL of the public page of the post; "": none
	Until  Moment
}
