package soap

import (
	"math"
	"slices"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// maxValues limits the values of a message after its references were resolved. Without this limit,
// nested references could multiply the number of values without bound.
const maxValues = 65536

// maxDepth limits the nesting of values, after references were resolved.
const maxDepth = 100

// valueReader reads the elements of one message as values.
type valueReader struct {
	ids    map[string]*xmlsafe.Node
	values int
	// text counts the bytes of simple values, once for each time that they are read. written counts
	// the bytes in the message. text may exceed written because values can be shared. The excess is
	// limited, because each use is converted again.
	text, written int
	// path contains the elements that are being read, the outermost first.
	path []*xmlsafe.Node
}

// params reads the elements inside the call or response.
func (m message) params() (params []Param, literal bool, err error) {
	r := &valueReader{ids: map[string]*xmlsafe.Node{}}
	typed := encodingStyle(m.body) || m.first.Space == enc11
	if err := r.scan(m.body, &typed); err != nil {
		return nil, false, err
	}
	if len(m.first.Nodes) > 0 && !m.first.HasNoText() {
		return nil, false, invalid(m.first, "there is text among the parameters")
	}
	for _, n := range m.first.Nodes {
		v, typ, err := r.value(n, "")
		if err != nil {
			return nil, false, err
		}
		params = append(params, Param{Name: n.Local, Value: v, Type: typ})
	}
	return params, !typed, nil
}

// encodingStyle reports whether n or one of its ancestors declares that the values are
// encoded.
func encodingStyle(n *xmlsafe.Node) bool {
	for ; n != nil; n = n.Parent() {
		if declaresEncoding(n) {
			return true
		}
	}
	return false
}

func declaresEncoding(n *xmlsafe.Node) bool {
	a, _ := n.Attr(env11, "encodingStyle")
	b, _ := n.Attr(env12, "encodingStyle")
	return strings.Contains(a, "/soap/encoding") || strings.Contains(b, "/soap-encoding")
}

// scan finds the elements with an id, and whether any element inside n has a type.
func (r *valueReader) scan(n *xmlsafe.Node, typed *bool) error {
	r.written += len(n.Text)
	for _, c := range n.Nodes {
		if id := idOf(c); id != "" {
			if r.ids[id] != nil {
				return invalid(c, "the id %.60q occurs twice", id)
			}
			r.ids[id] = c
		}
		*typed = *typed || declaresEncoding(c) || isEncoding(c.Space)
		for _, a := range c.Attrs {
			if isEncoding(a.Space) || isInstance(a.Space) && a.Local == "type" || a.Space == "" && a.Local == "href" {
				*typed = true
			}
		}
		if err := r.scan(c, typed); err != nil {
			return err
		}
	}
	return nil
}

func idOf(n *xmlsafe.Node) string {
	if id, ok := n.Attr("", "id"); ok {
		return id
	}
	id, _ := n.Attr(enc12, "id")
	return id
}

// follow returns n, or the element of this document that n refers to.
//
// spec:soap11-2000#references
func (r *valueReader) follow(n *xmlsafe.Node) (*xmlsafe.Node, error) {
	for range maxDepth {
		id := ""
		if href, ok := n.Attr("", "href"); ok {
			if id, ok = strings.CutPrefix(href, "#"); !ok {
				return nil, invalid(n, "the reference %.60q points outside of the document", href)
			}
		} else if id, ok = n.Attr(enc12, "ref"); !ok {
			return n, nil
		}
		if len(n.Nodes) > 0 || !n.HasNoText() {
			return nil, invalid(n, "<%.40s> has a reference and a value", n.Name())
		}
		target := r.ids[id]
		if target == nil {
			return nil, invalid(n, "nothing in the document has the id %.60q", id)
		}
		n = target
	}
	return nil, invalid(n, "references form a cycle")
}

// value reads an element as a value. outer is the type of the items that the surrounding array
// declares.
func (r *valueReader) value(n *xmlsafe.Node, outer string) (v any, typ string, err error) {
	if r.values++; r.values > maxValues {
		return nil, "", &SyntaxError{Line: n.Line, Err: ErrTooComplex, Msg: "the message holds too many values"}
	}
	if len(r.path) >= maxDepth {
		return nil, "", &SyntaxError{Line: n.Line, Err: ErrTooComplex, Msg: "values are nested too deeply"}
	}
	n, err = r.follow(n)
	if err != nil {
		return nil, "", err
	}
	if slices.Contains(r.path, n) {
		return nil, "", invalid(n, "a value contains itself")
	}
	r.path = append(r.path, n)
	v, typ, err = r.content(n, outer)
	r.path = r.path[:len(r.path)-1]
	return v, typ, err
}

func (r *valueReader) content(n *xmlsafe.Node, outer string) (v any, typ string, err error) {
	typ = typeOf(n)
	if typ == "" {
		typ = outer
	}
	if isNil(n) {
		return nil, typ, nil
	}
	item, list := arrayType(n)
	switch {
	case len(n.Nodes) > 0 && !n.HasNoText():
		return nil, "", invalid(n, "<%.40s> holds text and elements", n.Name())
	case list || typ == "Array":
		v, err = r.array(n, item)
		return v, "Array", err
	case len(n.Nodes) > 0 || isStruct(n, typ):
		v, err = r.structure(n)
		return v, typ, err
	}
	if r.text += len(n.Text); r.text > 4*r.written+64<<10 {
		return nil, "", &SyntaxError{Line: n.Line, Err: ErrTooComplex, Msg: "long values are shared too often"}
	}
	v, err = scalar(n, typ)
	return v, typ, err
}

func (r *valueReader) array(n *xmlsafe.Node, item string) (any, error) {
	list := make([]any, 0, len(n.Nodes))
	for _, c := range n.Nodes {
		v, _, err := r.value(c, item)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *valueReader) structure(n *xmlsafe.Node) (any, error) {
	members := make(map[string]any, len(n.Nodes))
	repeated := map[string][]any{}
	for _, c := range n.Nodes {
		v, _, err := r.value(c, "")
		if err != nil {
			return nil, err
		}
		first, there := members[c.Local]
		switch list := repeated[c.Local]; {
		case list != nil:
			repeated[c.Local] = append(list, v)
		case there:
			repeated[c.Local] = []any{first, v}
		default:
			members[c.Local] = v
		}
	}
	for name, list := range repeated {
		members[name] = list
	}
	return members, nil
}

// typeOf returns the local name of the declared type of n: the value of xsi:type, or the
// name of an element such as <SOAP-ENC:int>.
func typeOf(n *xmlsafe.Node) string {
	for _, a := range n.Attrs {
		if a.Local == "type" && isInstance(a.Space) {
			_, local, _ := n.Resolve(a.Value)
			if local == "anyType" || local == "ur-type" {
				return ""
			}
			return local
		}
	}
	if isEncoding(n.Space) || isSchema(n.Space) {
		return n.Local
	}
	return ""
}

func isNil(n *xmlsafe.Node) bool {
	for _, a := range n.Attrs {
		if (a.Local == "nil" || a.Local == "null") && isInstance(a.Space) {
			yes, _ := xmlsafe.ParseBool(xmlsafe.Trim(a.Value))
			return yes && len(n.Nodes) == 0 && n.HasNoText()
		}
	}
	return false
}

// isStruct reports whether an element without child elements is an empty structure.
func isStruct(n *xmlsafe.Node, typ string) bool {
	kind, _ := n.Attr(enc12, "nodeType")
	return kind == "struct" || typ == "Struct" && n.HasNoText()
}

// arrayType reports whether n declares that it is an array, and the type of its items.
//
// spec:soap11-2000#arrays
func arrayType(n *xmlsafe.Node) (item string, ok bool) {
	kind, _ := n.Attr(enc12, "nodeType")
	_, sized := n.Attr(enc12, "arraySize")
	name, ok := n.Attr(enc11, "arrayType")
	if !ok {
		name, ok = n.Attr(enc12, "itemType")
	}
	name, dimension, _ := strings.Cut(name, "[")
	_, item, _ = n.Resolve(name)
	if item == "anyType" || item == "ur-type" || strings.Contains(dimension, "[") {
		item = ""
	}
	return item, ok || sized || kind == "array"
}

func scalar(n *xmlsafe.Node, typ string) (any, error) {
	text := xmlsafe.Trim(n.Text)
	var v any
	ok := false
	switch typ {
	case "int", "integer", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
		"nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedShort", "unsignedByte", "unsignedLong":
		v, ok = xmlsafe.ParseInt(text)
	case "boolean":
		v, ok = xmlsafe.ParseBool(text)
	case "double", "float", "decimal":
		v, ok = parseDouble(text)
	case "dateTime", "timeInstant":
		v, ok = xmlsafe.ParseTime(text)
	case "base64Binary", "base64":
		v, ok = xmlsafe.ParseBase64(text)
	default:
		return n.Text, nil
	}
	if !ok {
		return nil, invalid(n, "%.60q is not a value of the type %s", text, typ)
	}
	return v, nil
}

// parseDouble parses numbers and the three special values of XML Schema.
func parseDouble(s string) (float64, bool) {
	switch s {
	case "INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	return xmlsafe.ParseDouble(s)
}
