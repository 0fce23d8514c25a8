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

func (s *site) confirm(rw http.ResponseWriter, r *http.Request, heading string, q question) {
	for i := range q.Fields {
		q.Fields[i].Value = clean(q.Fields[i].Value, 2048)
	}
	s.render(rw, r, http.StatusOK, "confirm", confirmView{s.view(r, heading, "/account"), q})
}
