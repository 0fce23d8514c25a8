package xmlrpc

import (
	"errors"
	"fmt"
	"io"

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

// ParseCall reads a methodCall until the end of r. The error is a [*SyntaxError] or wraps
// the error of r.
func ParseCall(r io.Reader) (Call, error) { return Decoder{}.Call(r) }

// ParseResponse reads a methodResponse until the end of r. If the response is a fault, the error is
// a [*Fault]; otherwise the errors are those of [ParseCall].
func ParseResponse(r io.Reader) (any, error) { return Decoder{}.Response(r) }

// Call reads a methodCall; see [ParseCall].
func (d Decoder) Call(r io.Reader) (Call, error) {
	root, err := d.read(r)
	if err != nil {
		return Call{}, err
	}
	c, err := readCall(root)
	if err != nil {
		return Call{}, err
	}
	return c, nil
}

// Response reads a methodResponse; see [ParseResponse].
func (d Decoder) Response(r io.Reader) (any, error) {
	root, err := d.read(r)
	if err != nil {
		return nil, err
	}
	return readResponse(root)
}

func (d Decoder) read(r io.Reader) (*xmlsafe.Node, error) {
	root, err := xmlsafe.Read(r, xmlsafe.Options{
		MaxBytes: d.MaxBytes, Charset: d.Charset,
		// XML-RPC has no namespaces: <ex:nil/> is often used without a declaration.
		LoosePrefixes: true,
	})
	var bad *xmlsafe.Error
	if errors.As(err, &bad) {
		return nil, &SyntaxError{Line: bad.Line, Msg: bad.Msg, Err: bad.Kind}
	}
	if err != nil {
		return nil, fmt.Errorf("xmlrpc: %w", err)
	}
	return root, nil
}

func invalid(n *xmlsafe.Node, format string, args ...any) error {
	return &SyntaxError{Line: n.Line, Msg: fmt.Sprintf(format, args...), Err: ErrInvalid}
}

// readCall reads methodCall(methodName, params?).
//
// spec:xmlrpc-1999#request
func readCall(root *xmlsafe.Node) (Call, error) {
	if root.Name() != "methodCall" {
		return Call{}, invalid(root, "the root element is <%.40s>, not <methodCall>", root.Name())
	}
	if !root.HasNoText() {
		return Call{}, invalid(root, "there is text directly inside <methodCall>")
	}
	if len(root.Nodes) == 0 || root.Nodes[0].Name() != "methodName" {
		return Call{}, invalid(root, "<methodCall> must start with <methodName>")
	}
	name := root.Nodes[0]
	c := Call{Method: xmlsafe.Trim(name.Text)}
	if len(name.Nodes) > 0 || !validMethod(c.Method) {
		return Call{}, invalid(name, "%.60q cannot be the name of a method", c.Method)
	}
	switch rest := root.Nodes[1:]; {
	case len(rest) == 0:
	case len(rest) > 1 || rest[0].Name() != "params":
		return Call{}, invalid(root, "<methodName> may only be followed by one <params>")
	default:
		var err error
		if c.Params, err = readParams(rest[0]); err != nil {
			return Call{}, err
		}
	}
	return c, nil
}

func readParams(n *xmlsafe.Node) ([]any, error) {
	if !n.HasNoText() {
		return nil, invalid(n, "there is text directly inside <params>")
	}
	var params []any
	for _, p := range n.Nodes {
		if p.Name() != "param" || len(p.Nodes) != 1 || p.Nodes[0].Name() != "value" || !p.HasNoText() {
			return nil, invalid(p, "<params> must hold <param> elements with one <value> each")
		}
		v, err := readValue(p.Nodes[0])
		if err != nil {
			return nil, err
		}
		params = append(params, v)
	}
	return params, nil
}

// readResponse reads methodResponse(params(param(value)) | fault(value)).
//
// spec:xmlrpc-1999#response
func readResponse(root *xmlsafe.Node) (any, error) {
	if root.Name() != "methodResponse" {
		return nil, invalid(root, "the root element is <%.40s>, not <methodResponse>", root.Name())
	}
	if len(root.Nodes) != 1 || !root.HasNoText() {
		return nil, invalid(root, "<methodResponse> must hold one <params> or one <fault>")
	}
	switch body := root.Nodes[0]; body.Name() {
	case "params":
		params, err := readParams(body)
		switch {
		case err != nil:
			return nil, err
		case len(params) > 1:
			return nil, invalid(body, "the response holds %d values; there can be only one", len(params))
		case len(params) == 0:
			// Some servers send this for a method without a result.
			return nil, nil
		}
		return params[0], nil
	case "fault":
		return nil, readFault(body)
	default:
		return nil, invalid(body, "<methodResponse> holds <%.40s>, not <params> or <fault>", body.Name())
	}
}

// readFault returns the fault as an error.
//
// spec:xmlrpc-1999#fault
func readFault(n *xmlsafe.Node) error {
	if len(n.Nodes) != 1 || n.Nodes[0].Name() != "value" || !n.HasNoText() {
		return invalid(n, "<fault> must hold one <value>")
	}
	v, err := readValue(n.Nodes[0])
	if err != nil {
		return err
	}
	members, ok := v.(map[string]any)
	if !ok {
		return invalid(n, "<fault> must hold a struct")
	}
	code, okCode := Int(members["faultCode"])
	text, okText := String(members["faultString"])
	if !okCode && !okText || int64(int(code)) != code {
		return invalid(n, "<fault> must hold the members faultCode and faultString")
	}
	return &Fault{Code: int(code), String: text}
}

// readValue reads the content of <value>: one typed element, or text, which is a string
// including its white space.
//
// spec:xmlrpc-1999#scalars
func readValue(n *xmlsafe.Node) (any, error) {
	switch {
	case len(n.Nodes) == 0:
		return n.Text, nil
	case len(n.Nodes) > 1 || !n.HasNoText():
		return nil, invalid(n, "<value> holds more than one value")
	}
	t := n.Nodes[0]
	switch t.Local {
	case "array":
		return readArray(t)
	case "struct":
		return readStruct(t)
	}
	if len(t.Nodes) > 0 {
		return nil, invalid(t, "<%.40s> holds other elements", t.Name())
	}
	return readScalar(t)
}

func readScalar(n *xmlsafe.Node) (any, error) {
	text := xmlsafe.Trim(n.Text)
	var v any
	ok := false
	switch n.Local {
	case "string":
		return n.Text, nil
	case "i4", "int", "i8", "i2", "i1":
		v, ok = xmlsafe.ParseInt(text)
	case "boolean":
		v, ok = xmlsafe.ParseBool(text)
	case "double", "float":
		v, ok = xmlsafe.ParseDouble(text)
	case "dateTime.iso8601", "dateTime":
		// spec:xmlrpc-1999#datetime
		v, ok = xmlsafe.ParseTime(text)
	case "base64":
		v, ok = xmlsafe.ParseBase64(n.Text)
	case "nil":
		if text == "" {
			return nil, nil
		}
	default:
		return nil, invalid(n, "<%.40s> is not a type of XML-RPC", n.Name())
	}
	if !ok {
		return nil, invalid(n, "%.60q is not a value of the type %s", text, n.Local)
	}
	return v, nil
}

// readArray reads array(data(value*)).
//
// spec:xmlrpc-1999#arrays
func readArray(n *xmlsafe.Node) (any, error) {
	list := []any{}
	if len(n.Nodes) == 0 && n.HasNoText() {
		return list, nil
	}
	if len(n.Nodes) != 1 || n.Nodes[0].Name() != "data" || !n.HasNoText() || !n.Nodes[0].HasNoText() {
		return nil, invalid(n, "<array> must hold one <data> with values in it")
	}
	for _, item := range n.Nodes[0].Nodes {
		if item.Name() != "value" {
			return nil, invalid(item, "<data> holds <%.40s>, not <value>", item.Name())
		}
		v, err := readValue(item)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// readStruct reads struct(member(name, value)*). A repeated name is an error, because
// readers disagree on which member to use.
//
// spec:xmlrpc-1999#structs
func readStruct(n *xmlsafe.Node) (any, error) {
	members := make(map[string]any, len(n.Nodes))
	if !n.HasNoText() {
		return nil, invalid(n, "there is text directly inside <struct>")
	}
	for _, m := range n.Nodes {
		if m.Name() != "member" || len(m.Nodes) != 2 || !m.HasNoText() {
			return nil, invalid(m, "<struct> must hold <member> elements with a <name> and a <value> each")
		}
		name, value := m.Nodes[0], m.Nodes[1]
		if name.Name() == "value" {
			name, value = value, name
		}
		if name.Name() != "name" || value.Name() != "value" || len(name.Nodes) > 0 {
			return nil, invalid(m, "<member> must hold a <name> and a <value>")
		}
		if _, twice := members[name.Text]; twice {
			return nil, invalid(m, "the member %.60q occurs twice", name.Text)
		}
		v, err := readValue(value)
		if err != nil {
			return nil, err
		}
		members[name.Text] = v
	}
	return members, nil
}
