package rsscloud

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"

	"golang.org/x/text/encoding/htmlindex"
)

// Names of the root elements of responses.
const (
	ResultElement       = "result"       // response to a ping
	NotifyResultElement = "notifyResult" // response to pleaseNotify and cancel
	pingResultElement   = "pingResult"   // response to a ping by some existing clouds
)

// Result is a cloud's response: success or refusal, and a sentence that explains it.
type Result struct {
	Success bool   `json:"success"`
	Msg     string `json:"msg"`
}

// XML returns the response as a document with the given root element.
//
// spec:rsscloud-2009#answer-result
// spec:rsscloud-2009#answer-notifyresult
func (r Result) XML(element string) []byte {
	return fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%s success=\"%t\" msg=\"%s\"/>\n", element, r.Success, escape(r.Msg))
}

// JSON returns the response as an object with the members success and msg.
func (r Result) JSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Encoding a bool and a string never fails.
	_ = e.Encode(r)
	return b.Bytes()
}

// ParseResult reads a response in any form that clouds send: a result, notifyResult or
// pingResult document, a JSON object, an XML-RPC response or fault, or a SOAP response or
// fault. It detects the form from the bytes, because the Content-Type of clouds in the
// field is often wrong. The error is [ErrInvalidResponse].
func ParseResult(body []byte) (Result, error) {
	if len(body) > maxAnswer {
		return Result{}, fmt.Errorf("%w: it is larger than %d KiB", ErrInvalidResponse, maxAnswer>>10)
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), " \t\r\n")
	switch {
	case bytes.HasPrefix(body, []byte("{")):
		return parseJSONResult(body)
	case xmlrpc.Sniff(body), soap.Sniff(body):
		// parseRPCResult rejects a request, which is not a response.
		return parseRPCResult(body)
	}
	r, err := parseXMLResult(body)
	if errors.Is(err, errOtherRoot) {
		return parseRPCResult(body)
	}
	return r, err
}

var errOtherRoot = fmt.Errorf("%w: it is another document", ErrInvalidResponse)

// parseXMLResult reads the root element only and ignores its content and any text after it.
func parseXMLResult(body []byte) (r Result, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		enc, err := htmlindex.Get(label)
		if err != nil {
			return nil, err
		}
		return enc.NewDecoder().Reader(in), nil
	}
	for {
		token, err := d.Token()
		if err != nil {
			return Result{}, fmt.Errorf("%w: it is not XML: %w", ErrInvalidResponse, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case ResultElement, NotifyResultElement, pingResultElement:
		default:
			return Result{}, errOtherRoot
		}
		found := false
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "success":
				r.Success, found = truth(a.Value), true
			case "msg":
				r.Msg = a.Value
			}
		}
		if !found {
			return Result{}, fmt.Errorf("%w: its %s has no success attribute", ErrInvalidResponse, start.Name.Local)
		}
		return r, nil
	}
}

func truth(s string) bool {
	s = strings.TrimSpace(s)
	return strings.EqualFold(s, "true") || s == "1"
}

func parseJSONResult(body []byte) (Result, error) {
	var o struct {
		Success any `json:"success"`
		Msg     any `json:"msg"`
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResponse, err)
	}
	var r Result
	switch s := o.Success.(type) {
	case bool:
		r.Success = s
	case string:
		r.Success = truth(s)
	default:
		return Result{}, fmt.Errorf("%w: its JSON has no member success", ErrInvalidResponse)
	}
	r.Msg, _ = o.Msg.(string)
	return r, nil
}

// parseRPCResult reads the response of an XML-RPC or SOAP endpoint: true, false, a struct
// with success or flerror, or a fault.
func parseRPCResult(body []byte) (Result, error) {
	if v, err := xmlrpc.ParseResponse(bytes.NewReader(body)); err == nil {
		return resultOf(v)
	} else if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	resp, err := soap.ParseResponse(bytes.NewReader(body))
	if f, ok := errors.AsType[*soap.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%w: it is neither XML-RPC nor SOAP", ErrInvalidResponse)
	case len(resp.Params) == 0:
		return Result{Success: true}, nil // no value and no fault: success
	}
	return resultOf(resp.Params[0].Value)
}

func resultOf(v any) (Result, error) {
	if b, ok := xmlrpc.Bool(v); ok {
		return Result{Success: b}, nil
	}
	switch v := v.(type) {
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1":
			return Result{Success: true}, nil
		case "false", "0":
			return Result{}, nil
		}
		return Result{Success: true, Msg: v}, nil
	case map[string]any:
		r := Result{}
		for _, name := range [...]string{"msg", "message"} {
			if s, ok := v[name].(string); ok {
				r.Msg = s
			}
		}
		if b, ok := xmlrpc.Bool(v["success"]); ok {
			r.Success = b
			return r, nil
		}
		if b, ok := xmlrpc.Bool(v["flerror"]); ok {
			r.Success = !b
			return r, nil
		}
	}
	return Result{}, fmt.Errorf("%w: its value is neither success nor failure", ErrInvalidResponse)
}

// IsPingResponse reports whether body is a cloud's response to a ping. An aggregator never
// responds like this to a notification: a callback that does is a ping endpoint, and
// notifications to it could loop.
func IsPingResponse(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if bytes.HasPrefix(body, []byte("{")) {
		r, err := parseJSONResult(body)
		return err == nil && r.Msg == ThanksForThePing
	}
	_, err := parseXMLResult(body)
	return err == nil
}
