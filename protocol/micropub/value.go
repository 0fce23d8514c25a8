package micropub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"cloudburst/internal/text"
)

// Value is one value of a property. At most one of Text, HTML, Markdown, Object and Raw
// says what it is, but that HTML may have its words in Text; none: it is the empty text.
type Value struct {
	Text     string // plain text, or an address
	HTML     string
	Markdown string
	Alt      string  // with Text: a picture at that address in words
	Object   *Object // a thing of its own, such as a place
	// Raw is an object of any other form, as JSON.
	Raw json.RawMessage
}

// Text is a value that is plain text or an address.
func Text(s string) Value { return Value{Text: s} }

// HTML is a value that is markup.
func HTML(s string) Value { return Value{HTML: s} }

// String is the value as text: its words, its address, or its source if it is markup.
func (v Value) String() string {
	switch {
	case v.Text != "":
		return v.Text
	case v.HTML != "":
		return v.HTML
	case v.Markdown != "":
		return v.Markdown
	case v.Object != nil:
		for _, name := range []string{"url", "name"} {
			if s := v.Object.Properties.Text(name); s != "" {
				return s
			}
		}
	}
	return ""
}

// Equal reports the same value. A picture is the same by its address, whatever is said of
// it in words.
func (v Value) Equal(o Value) bool {
	if v.Text != "" && v.HTML == "" && o.HTML == "" {
		return v.Text == o.Text
	}
	a, err1 := json.Marshal(v)
	b, err2 := json.Marshal(o)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// Object is a thing with properties of its own: what a query answers with, or a value
// within another.
type Object struct {
	Type       []string   `json:"type,omitempty"` // "h-entry", "h-card" …
	Properties Properties `json:"properties"`
}

// valueJSON are the forms that a value may have as an object.
type valueJSON struct {
	HTML       string                     `json:"html,omitempty"`
	Markdown   string                     `json:"markdown,omitempty"`
	Value      json.RawMessage            `json:"value,omitempty"`
	Alt        string                     `json:"alt,omitempty"`
	Type       json.RawMessage            `json:"type,omitempty"`
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
}

// MarshalJSON writes the value in the form that it has.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case v.Object != nil:
		return plain(v.Object)
	case v.HTML != "":
		return plain(struct {
			HTML string `json:"html"`
			Text string `json:"value,omitempty"`
		}{v.HTML, v.Text})
	case v.Markdown != "":
		return plain(struct {
			Markdown string `json:"markdown"`
		}{v.Markdown})
	case v.Alt != "":
		return plain(struct {
			Text string `json:"value"`
			Alt  string `json:"alt"`
		}{v.Text, v.Alt})
	case v.Raw != nil:
		return v.Raw, nil
	}
	return plain(v.Text)
}

// plain is JSON in which markup stays as it is.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a value in any of its forms.
func (v *Value) UnmarshalJSON(b []byte) error {
	if depth(b) > MaxDepth {
		return invalid("The JSON is deeper than %d objects and lists within each other.", MaxDepth)
	}
	n := 0
	got, err := readValue(b, &n)
	*v = got
	return err
}

// readValue reads a value; n counts them.
func readValue(b []byte, n *int) (v Value, err error) {
	if *n++; *n > MaxFields {
		return v, invalid("The request has more than %d values.", MaxFields)
	}
	switch b = bytes.TrimSpace(b); {
	case len(b) == 0:
		return v, invalid("A value is missing.")
	case b[0] == '"':
		if err := json.Unmarshal(b, &v.Text); err != nil {
			return v, malformed(err)
		}
		if !clean(v.Text) {
			return v, errNUL()
		}
		return v, nil
	case b[0] == '{':
		return readObject(b, n)
	case b[0] == '[':
		return v, invalid("A value of a property is a list; it needs to be text or an object.")
	case string(b) == "null":
		return v, nil
	}
	return Value{Text: string(b)}, nil // a number or a boolean
}

// readObject reads a value that is an object.
func readObject(b []byte, n *int) (Value, error) {
	var o valueJSON
	// What has a name of ours but another form is kept as it is.
	err := json.Unmarshal(b, &o)
	switch {
	case err != nil:
	case !clean(o.HTML + o.Markdown + o.Alt):
		return Value{}, errNUL()
	case o.Properties != nil:
		types, err := readType(o.Type)
		if err != nil {
			return Value{}, err
		}
		inner := Object{Type: types}
		if inner.Properties, err = readProperties(o.Properties, "properties", n); err != nil {
			return Value{}, err
		}
		return Value{Object: &inner}, nil
	case o.HTML != "":
		v := Value{HTML: o.HTML}
		if json.Unmarshal(o.Value, &v.Text) != nil || !clean(v.Text) {
			v.Text = "" // words that are none are left out
		}
		return v, nil
	case o.Markdown != "":
		return Value{Markdown: o.Markdown}, nil
	case o.Value != nil:
		v := Value{Alt: o.Alt}
		if json.Unmarshal(o.Value, &v.Text) == nil && v.Text != "" && clean(v.Text) {
			return v, nil
		}
	case onlyEmpty(b):
		return Value{}, nil
	}
	var whole bytes.Buffer
	if err := json.Compact(&whole, b); err != nil {
		return Value{}, malformed(err)
	}
	return Value{Raw: whole.Bytes()}, nil
}

// onlyEmpty reports an object that says that there is nothing: {"html": ""}.
func onlyEmpty(b []byte) bool {
	var o map[string]any
	if json.Unmarshal(b, &o) != nil {
		return false
	}
	for name, value := range o {
		if value != "" || name != "html" && name != "markdown" {
			return false
		}
	}
	return len(o) > 0
}

// readProperties reads the values of each property. where is what holds them, for people.
//
// spec:micropub-2017#values-in-arrays
func readProperties(in map[string]json.RawMessage, where string, n *int) (Properties, error) {
	out := make(Properties, len(in))
	for name, raw := range in {
		if !clean(name) {
			return nil, errNUL()
		}
		values, err := readValues(raw, where+"."+text.Clip(name, 60), n)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			out[name] = values
		}
	}
	return out, nil
}

func readValues(raw json.RawMessage, where string, n *int) ([]Value, error) {
	var list []json.RawMessage
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		return nil, invalid("%s is no array; every value has to be in one, also if there is only one.", where)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, malformed(err)
	}
	var values []Value
	for _, one := range list {
		v, err := readValue(one, n)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// readType reads a type: a list of names, or one.
func readType(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var one string
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, invalid("The type is no list of names, such as [\"h-entry\"].")
	}
	return []string{one}, nil
}

// depth is how many objects and lists are within each other.
func depth(b []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

func malformed(err error) error {
	return &Error{Status: 400, Code: InvalidRequest, Description: fmt.Sprintf("The request is no JSON that can be read: %v.", err)}
}

func errNUL() error { return invalid("The request has a character in it that no text has (U+0000).") }

// clean reports text that can be text: UTF-8, without U+0000.
func clean(s string) bool {
	for _, r := range s {
		if r == 0 {
			return false
		}
	}
	return utf8.ValidString(s)
}
