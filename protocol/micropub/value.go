package micropub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"cloudburst/internal/text"
)

// Value is a value of a property. Exactly one of Text, HTML, Markdown, Object and Raw contains it;
// only HTML may be accompanied by a Text, its plain text. The zero Value is the empty text.
type Value struct {
	Text     string // plain text or a URL
	HTML     string
	Markdown string
	Alt      string  // used with Text: alternative text of the image at that URL
	Object   *Object // a nested object, such as a location
	// Raw is an object of any other form, as JSON.
	Raw json.RawMessage
}

// Text returns a value of plain text or of a URL.
func Text(s string) Value { return Value{Text: s} }

// HTML returns a value of markup.
func HTML(s string) Value { return Value{HTML: s} }

// String returns the value as text: its text, its URL, or the source of its markup.
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

// Equal reports whether two values are equal. Images are compared by URL, without the
// alternative text.
func (v Value) Equal(o Value) bool {
	if v.Text != "" && v.HTML == "" && o.HTML == "" {
		return v.Text == o.Text
	}
	a, err1 := json.Marshal(v)
	b, err2 := json.Marshal(o)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

// Object is an object with properties: the result of a query, or a nested value.
type Object struct {
	Type       []string   `json:"type,omitempty"` // "h-entry", "h-card" …
	Properties Properties `json:"properties"`
}

// valueJSON contains the fields of every form of a value that is a JSON object.
type valueJSON struct {
	HTML       string                     `json:"html,omitempty"`
	Markdown   string                     `json:"markdown,omitempty"`
	Value      json.RawMessage            `json:"value,omitempty"`
	Alt        string                     `json:"alt,omitempty"`
	Type       json.RawMessage            `json:"type,omitempty"`
	Properties map[string]json.RawMessage `json:"properties,omitempty"`
}

// MarshalJSON encodes the value in the form of its content.
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

// plain encodes JSON without escaping markup.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON decodes a value of any form.
func (v *Value) UnmarshalJSON(b []byte) error {
	if depth(b) > MaxDepth {
		return invalid("The JSON has more than %d levels of objects and lists.", MaxDepth)
	}
	n := 0
	got, err := readValue(b, &n)
	*v = got
	return err
}

// readValue reads a value and counts it in n.
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
		return v, invalid("A value of a property is a list; it must be text or an object.")
	case string(b) == "null":
		return v, nil
	}
	return Value{Text: string(b)}, nil // a number or a boolean
}

// readObject reads a value that is an object.
func readObject(b []byte, n *int) (Value, error) {
	var o valueJSON
	// An object with a known name but another form is stored unchanged in Raw.
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
			v.Text = "" // drop a plain text that is invalid
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

// onlyEmpty reports whether an object is empty content: {"html": ""}.
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

// readProperties reads the values of each property. where names the containing object in
// messages.
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
		return nil, invalid("%s must be an array, even for a single value.", where)
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

// readType reads a type: a list of names, or one name.
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
		return nil, invalid("The type must be a list of names, for example [\"h-entry\"].")
	}
	return []string{one}, nil
}

// depth returns the number of nested objects and lists.
func depth(b []byte) int {
	now, deepest, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func malformed(err error) error {
	return &Error{Status: 400, Code: InvalidRequest, Description: fmt.Sprintf("The request is not valid JSON: %v.", err)}
}

func errNUL() error { return invalid("The request contains the invalid character U+0000.") }

// clean reports whether s is valid text: UTF-8 without U+0000.
func clean(s string) bool {
	for _, r := range s {
		if r == 0 {
			return false
		}
	}
	return utf8.ValidString(s)
}
