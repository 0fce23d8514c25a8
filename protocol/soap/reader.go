package soap

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// Decoder reads documents. The zero value has the limits in the package comment.
type Decoder struct {
	// MaxBytes limits the document; zero means 256 KiB.
	MaxBytes int64
	// Charset is the charset parameter of the Content-Type, or "". It overrides the
	// encoding that the document declares.
	Charset string
}

// Parse reads a call until the end of r. The error is a [*SyntaxError], wraps the error of r, or is
// a [*Fault] with the code VersionMismatch or MustUnderstand, which can be sent to the client. If
// the version is known, Version of the call is set, even if there is an error.
func Parse(r io.Reader) (Call, error) { return Decoder{}.Call(r) }

// ParseResponse reads a response until the end of r. If the response is a fault, the error is a
// [*Fault]; otherwise the errors are those of [Parse].
func ParseResponse(r io.Reader) (Response, error) { return Decoder{}.Response(r) }

// Call reads a call; see [Parse].
func (d Decoder) Call(r io.Reader) (Call, error) {
	m, err := d.message(r)
	if err != nil {
		return Call{Version: m.version}, err
	}
	if m.isFault() {
		return Call{Version: m.version}, invalid(m.first, "the envelope holds a fault, not a call")
	}
	params, literal, err := m.params()
	if err != nil {
		return Call{Version: m.version}, err
	}
	return Call{Name: m.first.Local, Namespace: m.first.Space, Params: params,
		Version: m.version, Literal: literal}, nil
}

// Response reads a response; see [ParseResponse].
func (d Decoder) Response(r io.Reader) (Response, error) {
	m, err := d.message(r)
	if err != nil {
		return Response{Version: m.version}, err
	}
	if m.isFault() {
		return Response{Version: m.version}, readFault(m.first, m.version)
	}
	params, literal, err := m.params()
	if err != nil {
		return Response{Version: m.version}, err
	}
	return Response{Name: m.first.Local, Namespace: m.first.Space, Params: params,
		Version: m.version, Literal: literal}, nil
}

// message is an envelope with its parts.
type message struct {
	version Version
	body    *xmlsafe.Node
	// first is the element of the call, response or fault.
	first *xmlsafe.Node
}

func (m message) isFault() bool {
	return m.first.Local == "Fault" && m.first.Space == m.body.Space
}

func invalid(n *xmlsafe.Node, format string, args ...any) error {
	return &SyntaxError{Line: n.Line, Msg: fmt.Sprintf(format, args...), Err: ErrInvalid}
}

func (d Decoder) message(r io.Reader) (message, error) {
	root, err := xmlsafe.Read(r, xmlsafe.Options{MaxBytes: d.MaxBytes, Charset: d.Charset})
	var bad *xmlsafe.Error
	if errors.As(err, &bad) {
		return message{}, &SyntaxError{Line: bad.Line, Msg: bad.Msg, Err: bad.Kind}
	}
	if err != nil {
		return message{}, fmt.Errorf("soap: %w", err)
	}
	return readEnvelope(root)
}

// readEnvelope reads Envelope(Header?, Body).
//
// spec:soap11-2000#envelope
func readEnvelope(root *xmlsafe.Node) (message, error) {
	var m message
	if root.Local != "Envelope" {
		return m, invalid(root, "the root element is <%.40s>, not a SOAP Envelope", root.Name())
	}
	switch root.Space {
	case env11:
	case env12:
		m.version = V12
	default:
		// spec:soap11-2000#version
		return m, &Fault{Code: CodeVersionMismatch,
			String: fmt.Sprintf("The envelope's namespace %.100q is neither that of SOAP 1.1 nor of SOAP 1.2.", root.Space)}
	}
	parts := root.Nodes
	if len(parts) > 0 && parts[0].Local == "Header" && parts[0].Space == root.Space {
		if err := checkHeaders(parts[0], m.version); err != nil {
			return m, err
		}
		parts = parts[1:]
	}
	if len(parts) == 0 || parts[0].Local != "Body" || parts[0].Space != root.Space {
		return m, invalid(root, "the envelope has no Body")
	}
	// SOAP 1.1 permits elements of other namespaces after the body. They are ignored.
	for _, n := range parts[1:] {
		if m.version == V12 || n.Space == root.Space || n.Space == "" {
			return m, invalid(n, "<%.40s> stands behind the Body", n.Name())
		}
	}
	m.body = parts[0]
	if !root.HasNoText() || !m.body.HasNoText() {
		return m, invalid(m.body, "there is text directly inside the envelope or the Body")
	}
	return m, m.findFirst()
}

// findFirst finds the call among the elements of the body. All other elements have an id, and
// contain values to which the call refers.
//
// spec:soap11-2000#root
func (m *message) findFirst() error {
	for _, n := range m.body.Nodes {
		root, _ := n.Attr(enc11, "root")
		if m.first == nil && root != "0" && root != "false" {
			m.first = n
			continue
		}
		if idOf(n) == "" {
			return invalid(n, "the Body holds more than one call")
		}
	}
	if m.first == nil {
		return invalid(m.body, "the Body is empty")
	}
	if m.first.Space == xmlsafe.XMLSpace {
		return invalid(m.first, "a call cannot be in the namespace of XML itself")
	}
	return nil
}

// checkHeaders rejects every header that the final recipient, which is this program, must
// understand.
//
// spec:soap11-2000#must-understand
func checkHeaders(header *xmlsafe.Node, v Version) error {
	for _, n := range header.Nodes {
		must, _ := n.Attr(header.Space, "mustUnderstand")
		if yes, ok := xmlsafe.ParseBool(xmlsafe.Trim(must)); !ok || !yes {
			continue
		}
		name := "actor"
		if v == V12 {
			name = "role"
		}
		actor, _ := n.Attr(header.Space, name)
		switch xmlsafe.Trim(actor) {
		case "", next11, next12, ultimate12:
			return &Fault{Code: CodeMustUnderstand,
				String: fmt.Sprintf("The header %.100s has mustUnderstand and is not supported here.", n.Local)}
		}
	}
	return nil
}

// readFault reads a fault of either version into the form of SOAP 1.1.
//
// spec:soap11-2000#fault
func readFault(n *xmlsafe.Node, v Version) error {
	f := &Fault{}
	for _, part := range n.Nodes {
		text := xmlsafe.Trim(part.Text)
		switch part.Local {
		case "faultcode":
			_, f.Code, _ = part.Resolve(text)
		case "Code":
			if value := child(part, "Value"); value != nil {
				_, f.Code, _ = value.Resolve(value.Text)
			}
			f.Code = code11(f.Code)
		case "faultstring":
			f.String = text
		case "Reason":
			if t := child(part, "Text"); t != nil {
				f.String = xmlsafe.Trim(t.Text)
			}
		case "faultactor", "Role":
			f.Actor = text
		case "detail", "Detail":
			f.Detail = deepText(part)
		}
	}
	if f.Code == "" && f.String == "" {
		return invalid(n, "the fault of %v has neither a code nor a text", v)
	}
	return f
}

func child(n *xmlsafe.Node, local string) *xmlsafe.Node {
	for _, c := range n.Nodes {
		if c.Local == local {
			return c
		}
	}
	return nil
}

// deepText returns all text inside n, with a space between the pieces.
func deepText(n *xmlsafe.Node) string {
	var pieces []string
	var walk func(*xmlsafe.Node)
	walk = func(n *xmlsafe.Node) {
		if text := xmlsafe.Trim(n.Text); text != "" {
			pieces = append(pieces, text)
		}
		for _, c := range n.Nodes {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(pieces, " ")
}

func code11(code string) string {
	switch code {
	case "Sender":
		return CodeClient
	case "Receiver":
		return CodeServer
	}
	return code
}
