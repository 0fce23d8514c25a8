package xmlrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// server returns a handler with one method for each case that the tests need.
func server(t *testing.T) *Handler {
	return &Handler{
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		FaultOf: func(err error) *Fault {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return &Fault{Code: 4, String: "mapped"}
			}
			return nil
		},
		Methods: []Method{
			{Name: "test.echo", Help: "Gives back its <parameters>.", Signature: [][]string{{"array", "string"}, {"array"}},
				Do: func(_ context.Context, params []any) (any, error) { return params, nil }},
			{Name: "test.from", Do: func(ctx context.Context, _ []any) (any, error) {
				r := RequestFrom(ctx)
				return map[string]any{"agent": r.UserAgent(), "loopback": strings.HasPrefix(r.RemoteAddr, "127.")}, nil
			}},
			{Name: "test.fault", Do: func(context.Context, []any) (any, error) {
				return nil, fmt.Errorf("while testing: %w", &Fault{Code: 7, String: "as é asked"})
			}},
			{Name: "test.params", Do: func(context.Context, []any) (any, error) {
				return nil, fmt.Errorf("too few: %w", ErrParams)
			}},
			{Name: "test.login", Do: func(context.Context, []any) (any, error) { return nil, ErrLogin }},
			{Name: "test.mapped", Do: func(context.Context, []any) (any, error) { return nil, io.ErrUnexpectedEOF }},
			{Name: "test.secret", Do: func(context.Context, []any) (any, error) { return nil, errors.New("db password") }},
			{Name: "test.unwritable", Do: func(context.Context, []any) (any, error) { return func() {}, nil }},
		},
	}
}

func post(h http.Handler, body string, edit func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "/RPC2", strings.NewReader(body))
	r.Header.Set("Content-Type", "text/xml")
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestResponseHasStatus200AndContentLength(t *testing.T) {
	t.Parallel()
	h := server(t)
	for method, want := range map[string]string{
		"test.echo":       "",
		"test.fault":      "xmlrpc: fault 7: as é asked",
		"test.params":     "xmlrpc: fault -32602: too few: wrong parameters",
		"test.login":      "xmlrpc: fault 403: log-in failed",
		"test.mapped":     "xmlrpc: fault 4: mapped",
		"test.secret":     "xmlrpc: fault -32500: The method failed; the server's log has the reason.",
		"test.unwritable": "xmlrpc: fault -32603: The method's result cannot be sent by XML-RPC.",
		"test.none":       "xmlrpc: fault -32601: There is no method test.none here. Call system.listMethods for a list.",
	} {
		resp := post(h, "<methodCall><methodName>"+method+"</methodName></methodCall>", nil)
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/xml; charset=utf-8" ||
			resp.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("%s: got %d %v", method, resp.StatusCode, resp.Header)
		}
		got := ""
		if _, err := ParseResponse(strings.NewReader(string(body))); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", method, got, want)
		}
	}
}

func TestInvalidBodyReturnsFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body         string
		status, code int
	}{
		"nothing":   {"", 200, CodeParse},
		"form":      {"url=http%3A%2F%2Fexample.com%2F", 200, CodeParse},
		"cut":       {"<methodCall><methodName>test.echo", 200, CodeParse},
		"DOCTYPE":   {"<!DOCTYPE x><methodCall/>", 200, CodeParse},
		"HTML":      {"<html></html>", 200, CodeInvalid},
		"bad value": {call("<value><i4>x</i4></value>"), 200, CodeInvalid},
		"UTF-7":     {"<?xml version='1.0' encoding='utf-7'?><methodCall/>", 200, CodeEncoding},
		"too large": {call("<value>" + strings.Repeat("x", 300<<10) + "</value>"), 413, CodeParse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp := post(server(t), c.body, nil)
			_, err := ParseResponse(resp.Body)
			var f *Fault
			if !errors.As(err, &f) || f.Code != c.code || resp.StatusCode != c.status {
				t.Errorf("got %d, %v; want %d, code %d", resp.StatusCode, err, c.status, c.code)
			}
		})
	}
}

func TestOtherContentTypesAreRejected(t *testing.T) {
	t.Parallel()
	const body = "<methodCall><methodName>test.echo</methodName></methodCall>"
	for header, want := range map[string]int{
		"Content-Type:":                                     200,
		"Content-Type: text/xml":                            200,
		"Content-Type: TEXT/XML ; charset=\"utf-8\"":        200,
		"Content-Type: application/xml;charset":             200,
		"Content-Type: text/plain":                          200,
		"Content-Type: text/xml; charset=x-unheard-of":      200,
		"Content-Type: application/x-www-form-urlencoded":   415,
		"Content-Type: multipart/form-data; boundary=x":     415,
		"Content-Type: application/json":                    415,
		"Content-Encoding: gzip":                            415,
		"Content-Encoding: identity":                        200,
		"Content-Encoding: br, gzip":                        415,
		"Content-Type: text/html":                           415,
		"Content-Type: text/xml, application/octet-stream ": 415,
	} {
		name, value, _ := strings.Cut(header, ":")
		resp := post(server(t), body, func(r *http.Request) { r.Header.Set(name, strings.TrimSpace(value)) })
		_, err := ParseResponse(resp.Body)
		var f *Fault
		if resp.StatusCode != want || errors.As(err, &f) != (want == 415) {
			t.Errorf("%s: got %d, %v", header, resp.StatusCode, err)
		}
	}
}

func TestUnsupportedHTTPMethodReturnsUsageText(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "HEAD", "PUT", "OPTIONS"} {
		resp := post(server(t), "", func(r *http.Request) { r.Method = method })
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" || !strings.Contains(string(body), "XML-RPC") {
			t.Errorf("%s: got %d %v %q", method, resp.StatusCode, resp.Header, body)
		}
	}
}

func TestCharsetOfContentTypeOverridesXMLDeclaration(t *testing.T) {
	t.Parallel()
	resp := post(server(t), "<methodCall><methodName>test.echo</methodName><params><param><value>\xe9</value></param></params></methodCall>",
		func(r *http.Request) { r.Header.Set("Content-Type", "text/xml; charset=iso-8859-1") })
	v, err := ParseResponse(resp.Body)
	if diff := cmp.Diff([]any{"é"}, v); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestTruncatedBodyIsRejected(t *testing.T) {
	t.Parallel()
	h := server(t)
	r := httptest.NewRequest("POST", "/", io.MultiReader(
		strings.NewReader("<methodCall><methodName>test.echo</methodName></methodCall>"), broken{}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 400 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestIntrospectionListsAndDescribesMethods(t *testing.T) {
	t.Parallel()
	h := server(t)
	for name, c := range map[string]struct {
		call Call
		want any
		code int
	}{
		"help":                           {Call{"system.methodHelp", []any{"test.echo"}}, "Gives back its <parameters>.", 0},
		"help of a system":               {Call{"system.methodHelp", []any{"system.listMethods"}}, "Returns the names of all methods.", 0},
		"signature":                      {Call{"system.methodSignature", []any{"test.echo"}}, [][]string{{"array", "string"}, {"array"}}, 0},
		"no signature":                   {Call{"system.methodSignature", []any{"test.fault"}}, "undef", 0},
		"help of an unknown method":      {Call{"system.methodHelp", []any{"x"}}, nil, CodeNoMethod},
		"help of a number":               {Call{"system.methodHelp", []any{int64(1)}}, nil, CodeParams},
		"help without a method":          {Call{"system.methodHelp", nil}, nil, CodeParams},
		"signature of an unknown method": {Call{"system.methodSignature", []any{"x"}}, nil, CodeNoMethod},
		"list with one":                  {Call{"system.listMethods", []any{"x"}}, nil, CodeParams},
		"list": {Call{"system.listMethods", nil}, []string{"system.listMethods", "system.methodHelp", "system.methodSignature",
			"system.multicall", "test.echo", "test.fault", "test.from", "test.login", "test.mapped", "test.params", "test.secret", "test.unwritable"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := h.Call(t.Context(), c.call)
			var f *Fault
			if c.code != 0 {
				if !errors.As(err, &f) || f.Code != c.code {
					t.Errorf("got %v, %v; want code %d", got, err, c.code)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func entryOf(method string, params ...any) any {
	if params == nil {
		params = []any{}
	}
	return map[string]any{"methodName": method, "params": params}
}

func TestMulticallKeepsOrder(t *testing.T) {
	t.Parallel()
	got, err := server(t).Call(t.Context(), Call{"system.multicall", []any{[]any{
		entryOf("test.echo", "a"), entryOf("test.fault"), entryOf("system.multicall"), "x", map[string]any{},
		entryOf("test.none"), entryOf("test.unwritable"), map[string]any{"methodName": "test.echo"},
		map[string]any{"methodName": "test.echo", "params": "x"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var codes []any
	for _, v := range got.([]any) {
		if f, ok := v.(map[string]any); ok {
			codes = append(codes, f["faultCode"])
			continue
		}
		codes = append(codes, v)
	}
	want := []any{[]any{[]any{"a"}}, 7, CodeParams, CodeParams, CodeParams, CodeNoMethod, CodeApp, []any{[]any(nil)}, CodeParams}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
}

func TestMulticallStopsAtFirstFailedLogin(t *testing.T) {
	t.Parallel()
	tries := 0
	h := &Handler{Methods: []Method{{Name: "log.in", Do: func(context.Context, []any) (any, error) {
		tries++
		if tries == 2 {
			return nil, fmt.Errorf("bad: %w", ErrLogin)
		}
		return true, nil
	}}}, FaultOf: func(error) *Fault { return &Fault{Code: 99, String: "no"} }}
	got, err := h.Call(t.Context(), Call{"system.multicall", []any{[]any{entryOf("log.in"), entryOf("log.in"), entryOf("log.in"), entryOf("log.in")}}})
	if err != nil || tries != 2 {
		t.Fatalf("%d tries, %v", tries, err)
	}
	list := got.([]any)
	if len(list) != 4 || list[1].(map[string]any)["faultCode"] != 99 || list[3].(map[string]any)["faultCode"] != CodeLogin {
		t.Errorf("got %v", list)
	}
}

func TestMulticallRejectsTooManyCallsAndBadParameters(t *testing.T) {
	t.Parallel()
	calls := 0
	h := &Handler{Methods: []Method{{Name: "a", Do: func(context.Context, []any) (any, error) { calls++; return 1, nil }}}}
	list := make([]any, MaxCalls)
	for i := range list {
		list[i] = entryOf("a")
	}
	if _, err := h.Call(t.Context(), Call{"system.multicall", []any{list}}); err != nil || calls != MaxCalls {
		t.Errorf("%d calls, %v", calls, err)
	}
	calls = 0
	for _, params := range [][]any{{append(list, entryOf("a"))}, {}, {"x"}, {list, list}} {
		_, err := h.Call(t.Context(), Call{"system.multicall", params})
		var f *Fault
		if !errors.As(err, &f) || f.Code != CodeParams || calls != 0 {
			t.Errorf("%d calls, %v", calls, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Call(ctx, Call{"system.multicall", []any{list}}); err == nil || calls != 0 {
		t.Errorf("after the caller left: %d calls, %v", calls, err)
	}
}

func TestClientCallsTheHandler(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(server(t))
	defer srv.Close()
	c := &Client{URL: srv.URL, UserAgent: "tester/1"}
	got, err := c.Call(t.Context(), "test.echo", "é <&>", 5, []string{"a"}, nil)
	if diff := cmp.Diff([]any{"é <&>", int64(5), []any{"a"}, nil}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = c.Call(t.Context(), "test.from")
	if diff := cmp.Diff(map[string]any{"agent": "tester/1", "loopback": true}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	_, err = c.Call(t.Context(), "test.fault")
	var f *Fault
	if !errors.As(err, &f) || f.Code != 7 {
		t.Errorf("got %v", err)
	}
	if _, err := c.Call(t.Context(), "test.echo", "\x00"); !errors.Is(err, ErrValue) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, "test.echo"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestClientReportsInvalidResponses(t *testing.T) {
	t.Parallel()
	answer := func(status int, contentType, body string) *Client {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(srv.Close)
		return &Client{URL: srv.URL, MaxBytes: 1000}
	}
	_, err := answer(404, "text/plain", "nothing here\nreally").Call(t.Context(), "m")
	var bad *HTTPError
	if !errors.As(err, &bad) || bad.Status != 404 || err.Error() != `xmlrpc: the server answered HTTP status 404 Not Found: "nothing here"` {
		t.Errorf("got %v", err)
	}
	_, err = answer(500, "text/xml", string(MarshalFault(&Fault{5, "x"}))).Call(t.Context(), "m")
	var f *Fault
	if !errors.As(err, &bad) || !errors.As(err, &f) || f.Code != 5 {
		t.Errorf("got %v", err)
	}
	_, err = answer(200, "text/html", "<html>").Call(t.Context(), "m")
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("got %v", err)
	}
	_, err = answer(200, "text/xml", strings.Repeat(" ", 1001)).Call(t.Context(), "m")
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	v, err := answer(200, "text/xml; charset=iso-8859-1", "<methodResponse><params><param><value>\xe9</value></param></params></methodResponse>").Call(t.Context(), "m")
	if v != "é" {
		t.Errorf("got %v, %v", v, err)
	}
}
