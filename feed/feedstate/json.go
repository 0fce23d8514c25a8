package feedstate

import (
	"bytes"
	"encoding/json"
)

// AppendJSON appends s as JSON, which says what json.Marshal says. Most of <, > and &
// stand without an escape, which keeps the addresses of feeds short.
func (s *State) AppendJSON(b []byte) ([]byte, error) {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), nil
}

// ParseJSON makes s what JSON says, as json.Unmarshal does with a new State.
func (s *State) ParseJSON(b []byte) error {
	*s = State{}
	return json.Unmarshal(b, s)
}
