package soap

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/xmlsafe"
)

// WSDL describes the service in WSDL 1.1, for tools that generate clients. The binding is
// RPC with literal messages over SOAP 1.1, which all known tools support. Lists are
// structures of "item" elements. Characters that XML cannot carry become U+FFFD. Methods,
// parameters and fields with invalid XML names are left out.
//
// spec:wsdl11-2001#rpc
func WSDL(s Service) []byte {
	if !xmlsafe.IsName(s.Name) {
		s.Name = "Service"
	}
	s.Namespace = xmlsafe.Clean(s.Namespace)
	w := &description{service: s}
	w.add(`<?xml version="1.0" encoding="UTF-8"?>`, "\n")
	w.add(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"`)
	w.attr("xmlns:xsd", xsd)
	w.attr("xmlns:tns", s.Namespace)
	w.attr("targetNamespace", s.Namespace)
	w.attr("name", s.Name)
	w.add(">\n")
	w.help("", s.Help)
	w.types()
	w.messages()
	w.portType()
	w.binding()
	w.add("<service name=\"", s.Name, "\">\n  <port name=\"", s.Name, "Port\" binding=\"tns:", s.Name, "Binding\">\n    <soap:address")
	w.attr("location", xmlsafe.Clean(s.Location))
	w.add("/>\n  </port>\n</service>\n</definitions>\n")
	return w.b
}

type description struct {
	writer
	service Service
}

// methods returns the methods whose names are valid in a WSDL.
func (w *description) methods() []Method {
	var out []Method
	for _, m := range w.service.Methods {
		twice := slices.ContainsFunc(out, func(o Method) bool { return o.Name == m.Name })
		if twice || !xmlsafe.IsName(m.Name) {
			continue
		}
		var params []Def
		for _, d := range m.Params {
			if !d.Optional && xmlsafe.IsName(d.Name) {
				params = append(params, d)
			}
		}
		m.Params = params
		if !xmlsafe.IsName(m.Result.Name) {
			m.Result.Name = "return"
		}
		out = append(out, m)
	}
	return out
}

func (d Def) isVoid() bool { return d.Type == "" && len(d.Fields) == 0 }

func (w *description) help(indent, text string) {
	if text == "" {
		return
	}
	w.add(indent)
	w.element("documentation", text)
	w.add("\n")
}

// typeName returns the qualified type name of a definition. prefix makes the names of
// structures unique.
func (d Def) typeName(prefix string) string {
	if len(d.Fields) > 0 {
		return "tns:" + structName(prefix, d.Name)
	}
	item, list := strings.CutSuffix(d.Type, "[]")
	switch {
	case item == "":
		item = "string"
	case !isSimple(item):
		item = "anyType"
	}
	if list {
		return "tns:ArrayOf" + title(item)
	}
	return "xsd:" + item
}

func structName(prefix, name string) string { return title(prefix) + title(name) }

func title(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// types writes the list and structure types of the messages.
func (w *description) types() {
	written := map[string]bool{}
	start := len(w.b)
	w.add("<types>\n  <xsd:schema")
	w.attr("targetNamespace", w.service.Namespace)
	w.add(">\n")
	for _, m := range w.methods() {
		for _, d := range append(m.Params, m.Result) {
			w.complexType(m.Name, d, written)
		}
	}
	w.add("  </xsd:schema>\n</types>\n")
	if len(written) == 0 {
		w.b = w.b[:start]
	}
}

func (w *description) complexType(prefix string, d Def, written map[string]bool) {
	name, ok := strings.CutPrefix(d.typeName(prefix), "tns:")
	if !ok || written[name] {
		return
	}
	written[name] = true
	for _, f := range d.Fields {
		w.complexType(structName(prefix, d.Name), f, written)
	}
	w.add("    <xsd:complexType name=\"", name, "\">\n      <xsd:sequence>\n")
	if len(d.Fields) == 0 {
		item := Def{Type: strings.TrimSuffix(d.Type, "[]")}
		w.add(`        <xsd:element name="item" type="`, item.typeName(""), `" minOccurs="0" maxOccurs="unbounded"/>`, "\n")
	}
	for _, f := range d.Fields {
		if xmlsafe.IsName(f.Name) {
			w.add(`        <xsd:element name="`, f.Name, `" type="`, f.typeName(structName(prefix, d.Name)), `"`)
			if f.Optional {
				w.add(` minOccurs="0"`)
			}
			w.add("/>\n")
		}
	}
	w.add("      </xsd:sequence>\n    </xsd:complexType>\n")
}

func (w *description) messages() {
	for _, m := range w.methods() {
		w.add(`<message name="`, m.Name, "Request\">\n")
		for _, d := range m.Params {
			w.part(m.Name, d)
		}
		w.add("</message>\n", `<message name="`, m.Name, "Response\">\n")
		if !m.Result.isVoid() {
			w.part(m.Name, m.Result)
		}
		w.add("</message>\n")
	}
}

func (w *description) part(method string, d Def) {
	w.add(`  <part name="`, d.Name, `" type="`, d.typeName(method), "\"/>\n")
}

func (w *description) portType() {
	w.add(`<portType name="`, w.service.Name, "PortType\">\n")
	for _, m := range w.methods() {
		w.add(`  <operation name="`, m.Name, "\">\n")
		w.help("    ", m.Help)
		w.add(`    <input message="tns:`, m.Name, "Request\"/>\n")
		w.add(`    <output message="tns:`, m.Name, "Response\"/>\n  </operation>\n")
	}
	w.add("</portType>\n")
}

func (w *description) binding() {
	name := w.service.Name
	w.add(`<binding name="`, name, `Binding" type="tns:`, name, "PortType\">\n")
	w.add("  <soap:binding style=\"rpc\" transport=\"http://schemas.xmlsoap.org/soap/http\"/>\n")
	for _, m := range w.methods() {
		w.add(`  <operation name="`, m.Name, "\">\n    <soap:operation")
		w.attr("soapAction", w.service.Namespace+"#"+m.Name)
		w.add("/>\n")
		for _, way := range []string{"input", "output"} {
			w.add("    <", way, "><soap:body use=\"literal\"")
			w.attr("namespace", w.service.Namespace)
			w.add("/></", way, ">\n")
		}
		w.add("  </operation>\n")
	}
	w.add("</binding>\n")
}
