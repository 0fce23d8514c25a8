package rsscloud

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Registration is a request of an aggregator to be notified at a callback when one of the
// feeds changes.
type Registration struct {
	Procedure string   // the procedure to call; used for xml-rpc and soap only
	Port      int      // port of the callback, 1 to 65535
	Path      string   // path of the callback; may have a query
	Protocol  string   // protocol of the notifications: HTTPPost, HTTPSPost, XMLRPC or SOAP
	URLs      []string // the feeds, at most [MaxURLs]
	Domain    string   // host of the callback; "": the client address of the request
}

// Check returns an error for the first invalid field: a [*FieldError], or, for an unknown protocol,
// an error that wraps both [ErrProtocol] and a [*FieldError]. It does not check the URLs.
func (g Registration) Check() error {
	host := g.Domain
	if host == "" {
		host = "192.0.2.1" // a valid placeholder for the address of the caller
	}
	if _, err := CallbackURL(g.Protocol, host, g.Port, g.Path); err != nil {
		return err
	}
	return CheckProcedure(g.Protocol, g.Procedure)
}

// Callback returns the callback's URL for a request from the client address caller. For the
// errors see [CallbackURL].
func (g Registration) Callback(caller netip.Addr) (string, error) {
	host := g.Domain
	if host == "" {
		// spec:rsscloud-2003#caller-address
		h, err := HostOf(caller)
		if err != nil {
			return "", err
		}
		host = h
	}
	return CallbackURL(g.Protocol, host, g.Port, g.Path)
}

// RegistrationFor returns the registration of a callback URL for feeds. The URL's host
// becomes the domain. For the errors see [SplitCallback].
func RegistrationFor(protocol, callback, procedure string, feeds ...string) (Registration, error) {
	p, host, port, path, err := SplitCallback(protocol, callback)
	if err != nil {
		return Registration{}, err
	}
	return Registration{Procedure: procedure, Port: port, Path: path, Protocol: p, URLs: feeds, Domain: host}, nil
}

// Registration reads the fields of pleaseNotify. It does not check the URLs of the feeds, because
// each is accepted or refused separately; see [CheckFeedURL]. The error is a [*FieldError]; for an
// unknown protocol, it wraps both [ErrProtocol] and a [*FieldError].
//
// spec:rsscloud-2009#please-notify-fields
func (f Form) Registration() (Registration, error) { return f.registrationFor("pleaseNotify") }

// registrationFor is Registration for a procedure with the same fields, which the error names.
func (f Form) registrationFor(procedure string) (Registration, error) {
	var g Registration
	values := map[string]string{}
	for _, name := range [...]string{"notifyProcedure", "port", "path", "protocol", "domain"} {
		v, ok, err := f.Get(name)
		if err != nil {
			return g, err
		}
		// spec:rsscloud-2009#notify-procedure-field
		// Aggregators that speak http-post omit the procedure nevertheless.
		if !ok && name != "domain" && name != "notifyProcedure" {
			return g, fieldErr(name, "%s is missing; %s needs notifyProcedure, port, path, protocol and url1.", name, procedure)
		}
		values[name] = v
	}
	port, err := parsePort(values["port"])
	if err != nil {
		return g, err
	}
	urls, err := f.URLs()
	if err != nil {
		return g, err
	}
	g = Registration{
		Procedure: values["notifyProcedure"], Port: port, Path: values["path"],
		Protocol: values["protocol"], URLs: urls, Domain: values["domain"],
	}
	return g, g.Check()
}

// Form returns the registration as the form of a REST request.
func (g Registration) Form() Form {
	f := Form{
		{"notifyProcedure", g.Procedure},
		{"port", strconv.Itoa(g.Port)},
		{"path", g.Path},
		{"protocol", g.Protocol},
	}
	for i, u := range g.URLs {
		f = append(f, Field{"url" + strconv.Itoa(i+1), u})
	}
	if g.Domain != "" {
		f = append(f, Field{"domain", g.Domain})
	}
	return f
}

// Params returns the parameters of rssCloud.pleaseNotify and of
// xmlStorageSystem.rssPleaseNotify, in order. The domain is the sixth parameter and is left
// out if empty.
//
// spec:rsscloud-2009#please-notify-xml-rpc
// spec:rsscloud-2003#five-parameters
func (g Registration) Params() []any {
	list := make([]any, len(g.URLs))
	for i, u := range g.URLs {
		list[i] = u
	}
	params := []any{g.Procedure, g.Port, g.Path, g.Protocol, list}
	if g.Domain != "" {
		params = append(params, g.Domain)
	}
	return params
}

// RegistrationFromParams is the inverse of Params, for XML-RPC and SOAP. The port may be a number
// or a string, and the list of feeds an array or a single string. A missing or nil domain, or false,
// is the empty domain. For http-post and https-post the procedure may have any type. The error is a [*FieldError]; for an unknown protocol, it wraps both [ErrProtocol]
// and a [*FieldError].
func RegistrationFromParams(params []any) (Registration, error) {
	if len(params) < 5 || len(params) > 6 {
		return Registration{}, fieldErr("", "There are %d parameters; send notifyProcedure, port, path, protocol, the list of feeds and, where you need it, domain.", len(params))
	}
	var g Registration
	for i, p := range []struct {
		name string
		to   *string
	}{{"notifyProcedure", &g.Procedure}, {"port", nil}, {"path", &g.Path}, {"protocol", &g.Protocol}, {"the list of feeds", nil}, {"domain", &g.Domain}} {
		if p.to == nil || i >= len(params) {
			continue
		}
		s, ok := text(params[i])
		// spec:rsscloud-2009#notify-procedure-field
		// Some clients send false for a parameter that has no value.
		unused := i == 0 && (params[3] == HTTPPost || params[3] == HTTPSPost) || i == 5 && params[i] == false
		if !ok && !unused {
			return Registration{}, fieldErr(p.name, "Parameter %d, %s, must be a string.", i+1, p.name)
		}
		*p.to = s
	}
	port, ok := portParam(params[1])
	if !ok {
		return Registration{}, fieldErr("port", "Parameter 2, port, must be a number from 1 to 65535.")
	}
	g.Port = port
	urls, ok := listParam(params[4])
	if !ok {
		return Registration{}, fieldErr("url", "Parameter 5 must be a list of feed URLs, or one URL.")
	}
	var err error
	if g.URLs, err = cleanURLs(urls, "The list of feed URLs is empty."); err != nil {
		return Registration{}, err
	}
	return g, g.Check()
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), !strings.Contains(v, "\x00")
	case nil: // an empty element is an empty string
		return "", true
	}
	return "", false
}

func portParam(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		// Some libraries send every number as a double, so accept whole doubles.
		n := int(v)
		return n, float64(n) == v && n >= 1 && n <= 65535
	case string:
		n, err := parsePort(strings.TrimSpace(v))
		return n, err == nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		n, err := parsePort(fmt.Sprint(v))
		return n, err == nil
	}
	return 0, false
}

func listParam(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []string:
		return v, true
	case []any:
		if len(v) > math.MaxUint16 {
			return nil, false
		}
		list := make([]string, len(v))
		for i, e := range v {
			s, ok := text(e)
			if !ok {
				return nil, false
			}
			list[i] = s
		}
		return list, true
	}
	return nil, false
}
