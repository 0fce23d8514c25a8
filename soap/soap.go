package soap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

type Version int

const (
	V11 Version = iota
	V12
)

type Value = any

type Param struct {
	Name  string
	Value any
	Type  string
}

type Call struct {
	Name, Namespace string
	Params          []Param
	Version         Version
	Literal         bool
}

// Bind gives the parameters in the order of names: by name when any name
// matches, by position otherwise.
func (c Call) Bind(names ...string) []any { return nil }

type Response struct {
	Name, Namespace string
	Params          []Param
	Version         Version
	Literal         bool
}

type Fault struct {
	Code, String, Actor, Detail string
}

func (f *Fault) Error() string { return fmt.Sprintf("soap: fault %s: %s", f.Code, f.String) }

type SyntaxError struct {
	Line int
	Msg  string
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("soap: line %d: %s", e.Line, e.Msg) }
func (e *SyntaxError) Unwrap() error { return e.Err }

var (
	ErrTooLarge   = errors.New("soap: the document is too large")
	ErrTooComplex = errors.New("soap: the document is nested too deeply or has too many parts")
	ErrDoctype    = errors.New("soap: a DOCTYPE is not accepted")
	ErrEncoding   = errors.New("soap: the character encoding is not supported")
	ErrParams     = errors.New("soap: wrong parameters")
	errStub       = errors.New("soap: not yet")
)

type Decoder struct {
	MaxBytes int64
	Charset  string
}

func (d Decoder) Call(r io.Reader) (Call, error)         { return Call{}, errStub }
func (d Decoder) Response(r io.Reader) (Response, error) { return Response{}, errStub }

func Parse(r io.Reader) (Call, error)             { return Decoder{}.Call(r) }
func ParseResponse(r io.Reader) (Response, error) { return Decoder{}.Response(r) }

func (c Call) Marshal() ([]byte, error)     { return nil, errStub }
func (r Response) Marshal() ([]byte, error) { return nil, errStub }

// Marshal writes the fault in the form of the given version.
func (f *Fault) Marshal(v Version) []byte { return nil }

func Sniff(prefix []byte) bool                      { return false }
func String(v any) (string, bool)                   { return "", false }
func Int(v any) (int64, bool)                       { return 0, false }
func Bool(v any) (bool, bool)                       { return false, false }
func Strings(v any) ([]string, bool)                { return nil, false }
func RequestFrom(ctx context.Context) *http.Request { return nil }
func CallFrom(ctx context.Context) Call             { return Call{} }

// Def names a parameter or result and its xsd type: "string", "int",
// "boolean", "double", "dateTime", "base64Binary", with "[]" behind for a
// list; Fields makes it a structure.
type Def struct {
	Name   string
	Type   string
	Fields []Def
}

// Method is one operation; Do has the same shape as xmlrpc.Method's Do, its
// params are bound to Params by name, or by position.
type Method struct {
	Name   string
	Help   string
	Params []Def
	Result Def
	Do     func(ctx context.Context, params []any) (any, error)
}

type Service struct {
	Name, Namespace, Location, Help string
	Methods                         []Method
}

func WSDL(s Service) []byte { return nil }

type Handler struct {
	Service  Service
	FaultOf  func(error) *Fault
	MaxBytes int64
	Log      *slog.Logger
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

func (h *Handler) Call(ctx context.Context, c Call) (any, error) { return nil, errStub }

type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

type Client struct {
	URL       string
	Namespace string
	Action    string
	Version   Version
	HTTP      HTTPClient
	UserAgent string
	MaxBytes  int64
}

func (c *Client) Call(ctx context.Context, name string, params ...Param) (any, error) {
	return nil, errStub
}

type HTTPError struct {
	Status int
	Text   string
	Err    error
}

func (e *HTTPError) Error() string { return fmt.Sprintf("soap: HTTP status %d: %s", e.Status, e.Text) }
func (e *HTTPError) Unwrap() error { return e.Err }
