package xmlrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

type Value = any

type Call struct {
	Method string
	Params []any
}

type Fault struct {
	Code   int
	String string
}

func (f *Fault) Error() string { return fmt.Sprintf("xmlrpc: fault %d: %s", f.Code, f.String) }

type SyntaxError struct {
	Line int
	Msg  string
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("xmlrpc: line %d: %s", e.Line, e.Msg) }
func (e *SyntaxError) Unwrap() error { return e.Err }

var (
	ErrTooLarge   = errors.New("xmlrpc: the document is too large")
	ErrTooComplex = errors.New("xmlrpc: the document is nested too deeply or has too many parts")
	ErrDoctype    = errors.New("xmlrpc: a DOCTYPE is not accepted")
	ErrEncoding   = errors.New("xmlrpc: the character encoding is not supported")
	ErrParams     = errors.New("xmlrpc: wrong parameters")
	ErrLogin      = errors.New("xmlrpc: log-in failed")
	errStub       = errors.New("xmlrpc: not yet")
)

const (
	CodeParse    = -32700
	CodeInvalid  = -32600
	CodeNoMethod = -32601
	CodeParams   = -32602
	CodeInternal = -32603
	CodeApp      = -32500
	CodeLogin    = 403
)

type Decoder struct {
	MaxBytes int64
	Charset  string
}

func (d Decoder) Call(r io.Reader) (Call, error)    { return Call{}, errStub }
func (d Decoder) Response(r io.Reader) (any, error) { return nil, errStub }

func ParseCall(r io.Reader) (Call, error)    { return Decoder{}.Call(r) }
func ParseResponse(r io.Reader) (any, error) { return Decoder{}.Response(r) }

func (c Call) Append(dst []byte) ([]byte, error)    { return dst, errStub }
func (c Call) Marshal() ([]byte, error)             { return c.Append(nil) }
func (c Call) WriteTo(w io.Writer) (int64, error)   { return 0, errStub }
func MarshalResponse(v any) ([]byte, error)         { return nil, errStub }
func MarshalFault(f *Fault) []byte                  { return nil }
func Sniff(prefix []byte) bool                      { return false }
func String(v any) (string, bool)                   { return "", false }
func Int(v any) (int64, bool)                       { return 0, false }
func Bool(v any) (bool, bool)                       { return false, false }
func Strings(v any) ([]string, bool)                { return nil, false }
func RequestFrom(ctx context.Context) *http.Request { return nil }

type Method struct {
	Name      string
	Help      string
	Signature [][]string
	Do        func(ctx context.Context, params []any) (any, error)
}

type Handler struct {
	Methods  []Method
	FaultOf  func(error) *Fault
	MaxBytes int64
	Log      *slog.Logger
}

func (h *Handler) Call(ctx context.Context, c Call) (any, error)    { return nil, errStub }
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

type Client struct {
	URL       string
	HTTP      HTTPClient
	UserAgent string
	MaxBytes  int64
}

func (c *Client) Call(ctx context.Context, method string, params ...any) (any, error) {
	return nil, errStub
}

type HTTPError struct {
	Status int
	Text   string
	Err    error
}

func (e *HTTPError) Error() string {
	return fmt.Sprintf("xmlrpc: HTTP status %d: %s", e.Status, e.Text)
}
func (e *HTTPError) Unwrap() error { return e.Err }
