package cnws

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/date"
	"cloudburst/internal/wirehttp"
	"cloudburst/internal/xmlsafe"
)

// Decoder reads documents with configurable limits. The zero value has the limits of
// [Parse].
type Decoder struct {
	MaxBytes int64  // limit of a document in bytes; 0: [MaxBytes]
	Charset  string // encoding that the Content-Type names; "": detected from the document
}

// Parse reads one document. The error is a [*SyntaxError] if it is not a document of this
// protocol, a [*FieldError] if a field is invalid, or wraps the error of r. No document is
// returned with an error.
func Parse(r io.Reader) (Document, error) { return Decoder{}.Document(r) }

// ParseResult reads the body of a response. contentType may be empty. The error wraps
// [ErrInvalidResponse].
func ParseResult(contentType string, body []byte) (Result, error) {
	d, err := Decoder{Charset: xmlsafe.Charset(contentType)}.Document(bytes.NewReader(body))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResponse, err)
	}
	if d.Result == nil {
		return Result{}, fmt.Errorf("%w: it is another message", ErrInvalidResponse)
	}
	return *d.Result, nil
}

// Document reads one document; see [Parse].
func (d Decoder) Document(r io.Reader) (Document, error) {
	o := xmlsafe.Options{MaxBytes: d.MaxBytes, Charset: d.Charset, MaxDepth: maxDepth}
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	root, err := xmlsafe.Read(r, o)
	if bad, ok := errors.AsType[*xmlsafe.Error](err); ok {
		return Document{}, &SyntaxError{Line: bad.Line, Msg: bad.Msg, Err: bad}
	}
	if err != nil {
		return Document{}, fmt.Errorf("cnws: %w", err)
	}
	if err := checkRoot(root); err != nil {
		return Document{}, err
	}
	action, err := onlyAction(root)
	if err != nil {
		return Document{}, err
	}
	f := reader{action: action}
	switch action.Local {
	case "subscribe":
		return f.subscribe()
	case "resourceChange":
		return f.change()
	}
	return f.result()
}

func checkRoot(root *xmlsafe.Node) error {
	bad := func(format string, args ...any) error {
		return &SyntaxError{Line: root.Line, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case root.Local != "notification":
		return bad("the document is a <%.60s>, and must be a <notification>", root.Name())
	case root.Space == "":
		return bad("the <notification> has no namespace; write xmlns=\"%s\"", Namespace)
	case root.Space != Namespace:
		return bad("the <notification> is in the namespace %s, not in %s", wirehttp.Quote(root.Space), Namespace)
	}
	// spec:cloudburst#cnws-version
	if v, ok := root.Attr("", "version"); ok && xmlsafe.Trim(v) != Version {
		return bad("the version is %s, and only %s is understood here", wirehttp.Quote(v), Version)
	}
	return nil
}

// onlyAction returns the element with the document's message. A document with two messages is
// rejected, so that a program never processes only one of them.
//
// spec:cloudburst#cnws-one-action
func onlyAction(root *xmlsafe.Node) (action *xmlsafe.Node, err error) {
	for _, n := range root.Nodes {
		if n.Space != Namespace || n.Local != "subscribe" && n.Local != "resourceChange" && n.Local != "result" {
			continue
		}
		if action != nil {
			return nil, &SyntaxError{Line: n.Line, Msg: fmt.Sprintf("there is a <%s> after the <%s> of line %d; send one message in each document", n.Local, action.Local, action.Line)}
		}
		action = n
	}
	if action == nil {
		return nil, &SyntaxError{Line: root.Line, Msg: "there is no <subscribe>, <resourceChange> or <result> in the <notification>"}
	}
	return action, nil
}

// reader reads the fields of one message.
type reader struct {
	action *xmlsafe.Node
	spaces map[string]bool
}

// field returns the element with the given name, or nil.
func (f *reader) field(name string) (found *xmlsafe.Node, err error) {
	for _, n := range f.action.Nodes {
		if n.Space != Namespace || n.Local != name {
			continue
		}
		if found != nil {
			return nil, fieldErr(name, "There is more than one %s in the %s.", name, f.action.Local)
		}
		found = n
	}
	return found, nil
}

// value returns the text of a field for programs, or "".
func (f *reader) value(name string) (string, error) {
	n, err := f.field(name)
	if n == nil {
		return "", err
	}
	if len(n.Nodes) > 0 {
		return "", fieldErr(name, "The %s must be a plain text without elements in it.", name)
	}
	return xmlsafe.Trim(n.Text), nil
}

// plain returns the text of a field for people, or "". It drops markup, which is not
// permitted there.
//
// spec:cnws-2003#plain-text
func (f *reader) plain(name string) (string, error) {
	n, err := f.field(name)
	if n == nil {
		return "", err
	}
	var b strings.Builder
	inner(&b, n)
	return xmlsafe.Trim(b.String()), nil
}

func inner(b *strings.Builder, n *xmlsafe.Node) {
	from := 0
	for _, c := range n.Nodes {
		b.WriteString(n.Text[from:c.At])
		from = c.At
		inner(b, c)
	}
	b.WriteString(n.Text[from:])
}

// texts reads title, description and extension elements.
func (f *reader) texts() (title, description string, other []Element, err error) {
	if title, err = f.plain("title"); err != nil {
		return "", "", nil, err
	}
	if utf8.RuneCountInString(title) > maxTitle {
		title = xmlsafe.Trim(string([]rune(title)[:maxTitle]))
	}
	if description, err = f.plain("description"); err != nil {
		return "", "", nil, err
	}
	other, err = f.other()
	return title, description, other, err
}

func (f *reader) subscribe() (Document, error) {
	var s Subscribe
	var err error
	if s.ResourceID, err = f.value("resourceID"); err != nil {
		return Document{}, err
	}
	if s.NotificationURL, err = f.value("notificationURL"); err != nil {
		return Document{}, err
	}
	if err := s.Check(); err != nil {
		return Document{}, err
	}
	return Document{Subscribe: &s}, nil
}

func (f *reader) change() (Document, error) {
	var c Change
	var err error
	if c.ResourceID, err = f.value("resourceID"); err != nil {
		return Document{}, err
	}
	if err := c.Check(); err != nil {
		return Document{}, err
	}
	when, err := f.value("changeTime")
	if err != nil {
		return Document{}, err
	}
	c.ChangeTime = changeTime(when)
	if c.Title, c.Description, c.Other, err = f.texts(); err != nil {
		return Document{}, err
	}
	return Document{Change: &c}, nil
}

// changeTime parses a date. An invalid date becomes the zero time.
//
// spec:cnws-2003#change-time
func changeTime(s string) time.Time {
	t, ok := date.Parse(s)
	if !ok || t.Year() < 1000 { // a year with fewer than four digits is ambiguous
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

func (f *reader) result() (Document, error) {
	var r Result
	status, err := f.value("status")
	if err != nil {
		return Document{}, err
	}
	var ok bool
	if r.Status, ok = xmlsafe.ParseBool(status); !ok {
		return Document{}, fieldErr("status", "The status is %s; it must be true or false.", wirehttp.Quote(status))
	}
	if r.Title, r.Description, r.Other, err = f.texts(); err != nil {
		return Document{}, err
	}
	return Document{Result: &r}, nil
}

// other reads the elements of other namespaces.
//
// spec:cnws-2003#other-namespaces
func (f *reader) other() ([]Element, error) {
	var list []Element
	f.spaces = map[string]bool{}
	for _, n := range f.action.Nodes {
		if n.Space == Namespace {
			continue
		}
		e, err := f.element(n)
		if err != nil {
			return nil, err
		}
		e.At = 0
		list = append(list, e)
	}
	return list, nil
}

func (f *reader) element(n *xmlsafe.Node) (Element, error) {
	e := Element{Space: n.Space, Name: n.Local, Text: n.Text, At: n.At}
	f.spaces[n.Space] = true
	if len(n.Attrs) > maxAttrs {
		return e, &SyntaxError{Line: n.Line, Msg: fmt.Sprintf("an element has more than %d attributes", maxAttrs), Err: xmlsafe.ErrTooComplex}
	}
	for _, a := range n.Attrs {
		f.spaces[a.Space] = true
		e.Attrs = append(e.Attrs, Attr{Space: a.Space, Name: a.Local, Value: a.Value})
	}
	if len(f.spaces) > maxSpaces {
		return e, &SyntaxError{Line: n.Line, Msg: fmt.Sprintf("there are elements of more than %d namespaces", maxSpaces), Err: xmlsafe.ErrTooComplex}
	}
	for _, c := range n.Nodes {
		child, err := f.element(c)
		if err != nil {
			return e, err
		}
		e.Nodes = append(e.Nodes, child)
	}
	return e, nil
}
