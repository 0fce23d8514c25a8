package soap

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/xmlsafe"
)

// Marshal returns the envelope with the call. If the call has a value that SOAP cannot
// carry, the error wraps [ErrValue].
func (c Call) Marshal() ([]byte, error) {
	w := writer{version: c.Version, literal: c.Literal}
	return w.message(c.Name, c.Namespace, c.Params)
}

// Marshal returns the envelope with the response. It returns the
// errors of [Call.Marshal].
func (r Response) Marshal() ([]byte, error) {
	w := writer{version: r.Version, literal: r.Literal}
	return w.message(r.Name, r.Namespace, r.Params)
}

// writer writes a document. err is the first error.
type writer struct {
	b       []byte
	version Version
	literal bool
	err     error
}

func (w *writer) add(s ...string) {
	for _, part := range s {
		w.b = append(w.b, part...)
	}
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%w: "+format, append([]any{ErrValue}, args...)...)
	}
}

func (w *writer) text(s string) {
	var err error
	if w.b, err = xmlsafe.AppendText(w.b, s); err != nil {
		w.fail("%w", err)
	}
}

// attr writes an attribute after a space.
func (w *writer) attr(name, value string) {
	w.add(" ", name, `="`)
	var err error
	if w.b, err = xmlsafe.AppendAttr(w.b, value); err != nil {
		w.fail("%w", err)
	}
	w.add(`"`)
}

// open writes the start of the envelope and of its body.
func (w *writer) open() {
	w.add(`<?xml version="1.0" encoding="UTF-8"?>`, "\n")
	space := env11
	if w.version == V12 {
		space = env12
	}
	w.add("<SOAP-ENV:Envelope")
	w.attr("xmlns:SOAP-ENV", space)
	if !w.literal {
		enc := enc11
		if w.version == V12 {
			enc = enc12
		}
		w.attr("xmlns:SOAP-ENC", enc)
		w.attr("xmlns:xsd", xsd)
	}
	w.attr("xmlns:xsi", xsi)
	w.add("><SOAP-ENV:Body>")
}

func (w *writer) close() { w.add("</SOAP-ENV:Body></SOAP-ENV:Envelope>\n") }

func (w *writer) message(name, namespace string, params []Param) ([]byte, error) {
	if !xmlsafe.IsName(name) {
		w.fail("%.60q cannot be the name of a procedure", name)
	}
	if namespace == xmlsafe.XMLSpace || namespace == xmlsafe.XMLNSSpace {
		w.fail("%q cannot be the namespace of a call", namespace)
	}
	w.open()
	tag := name
	if namespace != "" {
		tag = "m:" + name
	}
	w.add("<", tag)
	if namespace != "" {
		w.attr("xmlns:m", namespace)
	}
	if !w.literal {
		// spec:soap11-2000#encoding-style
		enc := enc11
		if w.version == V12 {
			enc = enc12
		}
		w.attr("SOAP-ENV:encodingStyle", enc)
	}
	w.add(">")
	for i, p := range params {
		if p.Name == "" {
			p.Name = "param" + strconv.Itoa(i+1)
		}
		w.value(p, 4)
	}
	w.add("</", tag, ">")
	w.close()
	if w.err != nil {
		return nil, w.err
	}
	return w.b, nil
}

// value writes one element. depth is the number of open elements, including this one.
func (w *writer) value(p Param, depth int) {
	switch {
	case w.err != nil:
		return
	case depth > maxDepth:
		w.fail("nested too deeply")
		return
	case !xmlsafe.IsName(p.Name):
		w.fail("%.60q cannot be the name of a value", p.Name)
		return
	}
	switch v := p.Value.(type) {
	case nil:
		w.add("<", p.Name, ` xsi:nil="true"/>`)
	case []Param:
		w.structure(p.Name, v, depth)
	case map[string]any:
		w.structure(p.Name, members(v), depth)
	case []any:
		w.array(p.Name, len(v), func(i int) any { return v[i] }, depth)
	case []string:
		w.array(p.Name, len(v), func(i int) any { return v[i] }, depth)
	default:
		typ, text, problem := format(p.Value)
		if problem != "" {
			w.fail("%s: %s", p.Name, problem)
			return
		}
		w.scalar(p, typ, text)
	}
}

func (w *writer) scalar(p Param, typ, text string) {
	if p.Type != "" && isSimple(p.Type) {
		typ = p.Type
		if _, err := scalar(&xmlsafe.Node{Text: text}, typ); err != nil {
			w.fail("%.60q is not a value of the type %s", text, typ)
		}
	}
	w.add("<", p.Name)
	if !w.literal {
		w.attr("xsi:type", "xsd:"+typ)
	}
	w.add(">")
	w.text(text)
	w.add("</", p.Name, ">")
}

// members returns the members sorted by name, so that equal values have equal encodings.
func members(m map[string]any) []Param {
	out := make([]Param, 0, len(m))
	for name, v := range m {
		out = append(out, Param{Name: name, Value: v})
	}
	slices.SortFunc(out, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (w *writer) structure(name string, fields []Param, depth int) {
	w.add("<", name)
	switch {
	case w.literal:
	case w.version == V12:
		w.attr("SOAP-ENC:nodeType", "struct")
	default:
		w.attr("xsi:type", "SOAP-ENC:Struct")
	}
	w.add(">")
	for _, f := range fields {
		list, ok := f.Value.([]any)
		if !w.literal || !ok {
			w.value(f, depth+1)
			continue
		}
		for _, v := range list {
			w.value(Param{Name: f.Name, Value: v}, depth+1)
		}
	}
	w.add("</", name, ">")
}

// array writes a list. Without types it is an element that contains the items.
//
// spec:soap11-2000#arrays
func (w *writer) array(name string, n int, item func(int) any, depth int) {
	w.add("<", name)
	switch {
	case w.literal:
	case w.version == V12:
		w.attr("SOAP-ENC:itemType", "xsd:"+itemType(n, item))
		w.attr("SOAP-ENC:arraySize", strconv.Itoa(n))
	default:
		w.attr("xsi:type", "SOAP-ENC:Array")
		w.attr("SOAP-ENC:arrayType", "xsd:"+itemType(n, item)+"["+strconv.Itoa(n)+"]")
	}
	w.add(">")
	for i := range n {
		w.value(Param{Name: "item", Value: item(i)}, depth+1)
	}
	w.add("</", name, ">")
}

// itemType returns the type that all items have in common.
func itemType(n int, item func(int) any) string {
	common := ""
	for i := range n {
		typ, _, problem := format(item(i))
		if problem != "" || common != "" && common != typ {
			return "anyType"
		}
		common = typ
	}
	if common == "" {
		return "anyType"
	}
	return common
}

// format returns the type and the text of a simple value, or the reason why SOAP cannot carry it.
func format(v any) (typ, text, problem string) {
	switch v := v.(type) {
	case time.Time:
		v = v.UTC().Truncate(time.Second)
		if y := v.Year(); y < 0 || y > 9999 {
			return "", "", fmt.Sprintf("the year %d", y)
		}
		return "dateTime", v.Format(time.RFC3339), ""
	case []byte:
		return "base64Binary", base64.StdEncoding.EncodeToString(v), ""
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return "string", r.String(), ""
	case reflect.Bool:
		return "boolean", strconv.FormatBool(r.Bool()), ""
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := r.Int(); n != int64(int32(n)) {
			return "long", strconv.FormatInt(n, 10), ""
		}
		return "int", strconv.FormatInt(r.Int(), 10), ""
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() > math.MaxInt64 {
			return "", "", fmt.Sprintf("the number %d has more than 63 bits", r.Uint())
		}
		return format(int64(r.Uint()))
	case reflect.Float32, reflect.Float64:
		return "double", formatDouble(r.Float()), ""
	}
	return "", "", fmt.Sprintf("there is no SOAP type for %T", v)
}

func formatDouble(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// isSimple reports whether typ is a supported simple type of XML Schema.
func isSimple(typ string) bool {
	switch typ {
	case "string", "normalizedString", "token", "anyURI", "language",
		"int", "integer", "long", "short", "byte", "nonNegativeInteger", "positiveInteger",
		"nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedShort", "unsignedByte", "unsignedLong",
		"boolean", "double", "float", "decimal", "dateTime", "base64Binary":
		return true
	}
	return false
}

// Marshal returns the envelope with the fault, in the form of version v. Characters that
// XML cannot carry become U+FFFD.
//
// spec:soap11-2000#fault
func (f *Fault) Marshal(v Version) []byte {
	w := writer{version: v, literal: true}
	w.open()
	w.add("<SOAP-ENV:Fault>")
	if v == V12 {
		w.fault12(f)
	} else {
		w.fault11(f)
	}
	w.add("</SOAP-ENV:Fault>")
	w.close()
	return w.b
}

// element writes a text element. Each attribute in attrs starts with a space.
func (w *writer) element(name, text string, attrs ...string) {
	w.add("<", name)
	w.add(attrs...)
	w.add(">")
	w.text(xmlsafe.Clean(text))
	w.add("</", name, ">")
}

func (w *writer) fault11(f *Fault) {
	w.element("faultcode", qualified11(f.Code))
	w.element("faultstring", f.String)
	if f.Actor != "" {
		w.element("faultactor", f.Actor)
	}
	if f.Detail != "" {
		// Inside detail, only elements are allowed.
		w.add("<detail>")
		w.element("message", f.Detail)
		w.add("</detail>")
	}
}

func qualified11(code string) string {
	switch main, _, _ := strings.Cut(code, "."); {
	case !xmlsafe.IsName(code):
		return "SOAP-ENV:" + CodeServer
	case main == CodeClient, main == CodeServer, main == CodeVersionMismatch, main == CodeMustUnderstand:
		return "SOAP-ENV:" + code
	}
	return code
}

// spec:soap12-2007#fault
func (w *writer) fault12(f *Fault) {
	w.add("<SOAP-ENV:Code>")
	w.element("SOAP-ENV:Value", "SOAP-ENV:"+code12(f.Code))
	w.add("</SOAP-ENV:Code><SOAP-ENV:Reason>")
	w.element("SOAP-ENV:Text", f.String, ` xml:lang="en"`)
	w.add("</SOAP-ENV:Reason>")
	if f.Actor != "" {
		w.element("SOAP-ENV:Role", f.Actor)
	}
	if f.Detail != "" {
		w.add("<SOAP-ENV:Detail>")
		w.element("message", f.Detail)
		w.add("</SOAP-ENV:Detail>")
	}
}

func code12(code string) string {
	switch main, _, _ := strings.Cut(code, "."); main {
	case CodeClient:
		return "Sender"
	case CodeVersionMismatch, CodeMustUnderstand, "DataEncodingUnknown":
		return main
	}
	return "Receiver"
}

// status returns the HTTP status of a fault.
//
// spec:soap11-2000#http-response
func (f *Fault) status(v Version) int {
	if v == V12 && code12(f.Code) == "Sender" {
		return 400
	}
	return 500
}

// asFault returns the fault in err, or nil.
func asFault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}
