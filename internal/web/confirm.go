package web

import "net/http"

// question asks whether something is meant before it is done.
type question struct {
	Lines  []string // what will happen, and whether it can be undone
	Action string
	Fields []named // to be sent again, with sure=yes
	Button string
	Back   string // where nothing happens
}

type named struct{ Name, Value string }

type confirmView struct {
	view
	question
}

// confirm asks a question on the pages of the account.
func (s *Shell) confirm(rw http.ResponseWriter, r *http.Request, heading string, q question) {
	for i := range q.Fields {
		q.Fields[i].Value = clean(q.Fields[i].Value, 2048)
	}
	s.askFirst(rw, r, heading, "/account", q)
}

// copied is a text to be put into something of the reader's own.
type copied struct{ ID, Label, Text string }

// undoBar offers to undo the last change.
type undoBar struct {
	Action string // path of the form
	Fields []named
	Words  string
	Href   string // page of the post; "": nobody can see it
	Until  moment
}

// askFirst asks a question on the pages of a section.
func (s *Shell) askFirst(rw http.ResponseWriter, r *http.Request, heading, section string, q question) {
	s.render(rw, r, http.StatusOK, "confirm", confirmView{s.view(r, heading, section), q})
}
