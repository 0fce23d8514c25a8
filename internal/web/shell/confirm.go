package shell

import "net/http"

// Question asks whether something is meant before it is done.
type Question struct {
	Lines  []string // what will happen, and whether it can be undone
	Action string
	Fields []NamedValue // to be sent again, with sure=yes
	Button string
	Back   string // where nothing happens
}

type NamedValue struct{ Name, Value string }

type confirmView struct {
	View
	Question
}

// AskOnAccount asks a question on the pages of the account.
func (s *Shell) AskOnAccount(rw http.ResponseWriter, r *http.Request, heading string, q Question) {
	for i := range q.Fields {
		q.Fields[i].Value = CleanText(q.Fields[i].Value, 2048)
	}
	s.AskQuestion(rw, r, heading, "/account", q)
}

// CopyText is a text to be put into something of the reader's own.
type CopyText struct{ ID, Label, Text string }

// UndoBar offers to undo the last change.
type UndoBar struct {
	Action string // path of the form
	Fields []NamedValue
	Words  string
	Href   string // page of the post; "": nobody can see it
	Until  Moment
}

// AskQuestion asks a question on the pages of a section.
func (s *Shell) AskQuestion(rw http.ResponseWriter, r *http.Request, heading, section string, q Question) {
	s.Render(rw, r, http.StatusOK, "confirm", confirmView{s.NewView(r, heading, section), q})
}
