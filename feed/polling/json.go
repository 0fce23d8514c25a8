package polling

import (
	"bytes"
	"encoding/json"
)

// AppendJSON appends s as JSON. The result is equivalent to that of json.Marshal, but leaves
// most <, > and & unescaped, which shortens URLs. It fails for a time that JSON cannot
// represent.
func (s *State) AppendJSON(b []byte) ([]byte, error) {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return b, err
	}
	return bytes.TrimSuffix(w.Bytes(), []byte("\n")), nil
}

// ParseJSON replaces s with the decoded JSON, as json.Unmarshal does for a new State.
func (s *State) ParseJSON(b []byte) error {
	*s = State{}
	return json.Unmarshal(b, s)
}
