package soap

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func service() Service {
	return Service{
		Name: "Cloud", Namespace: cloud, Location: "http://127.0.0.1:5337/soap", Help: "Tests <everything>.",
		Methods: []Method{
			{
				Name: "pleaseNotify", Help: "Asks for notifications.",
				Params: []Def{{Name: "notifyProcedure"}, {Name: "port", Type: "int"}, {Name: "path", Type: "string"},
					{Name: "protocol", Type: "string"}, {Name: "urls", Type: "string[]"}, {Name: "domain", Optional: true}},
				Result: Def{Type: "boolean"},
				Do: func(_ context.Context, params []any) (any, error) {
					if len(params) < 5 {
						return nil, fmt.Errorf("%d of 5: %w", len(params), ErrParams)
					}
					want := []any{"notify", int64(80), "/é", "soap", []any{"http://127.0.0.1/rss.xml"}}
					return cmp.Equal(want, params[:5]), nil
				},
			},
			{
				Name: "ping", Params: []Def{{Name: "name"}, {Name: "url", Type: "anyURI"}},
				Result: Def{Name: "pingResult", Fields: []Def{{Name: "flerror", Type: "boolean"}, {Name: "message", Type: "string"}}},
				Do: func(_ context.Context, params []any) (any, error) {
					return map[string]any{"message": fmt.Sprint(params), "flerror": false, "extra": int64(1)}, nil
				},
			},
			{Name: "echo", Params: []Def{{Name: "v", Type: "string[]"}}, Result: Def{Type: "string[]"},
				Do: func(_ context.Context, params []any) (any, error) { return params[0], nil }},
			{Name: "void", Do: func(ctx context.Context, _ []any) (any, error) {
				if RequestFrom(ctx) == nil || CallFrom(ctx).Name == "" {
					return nil, errors.New("the context is empty")
				}
				return nil, nil
			}},
			{Name: "fault", Do: func(context.Context, []any) (any, error) {
				return nil, fmt.Errorf("wrapped: %w", &Fault{Code: "Client.Login", String: "as é asked"})
			}},
			{Name: "mapped", Do: func(context.Context, []any) (any, error) { return nil, io.ErrUnexpectedEOF }},
			{Name: "secret", Do: func(context.Context, []any) (any, error) { return nil, errors.New("db password") }},
			{Name: "unwritable", Do: func(context.Context, []any) (any, error) { return func() {}, nil }},
		},
	}
}

func server(t *testing.T) *Handler {
	return &Handler{
		Service: service(),
		Log:     slog.New(slog.NewTextHandler(t.Output(), nil)),
		FaultOf: func(err error) *Fault {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return &Fault{Code: CodeServer, String: "mapped"}
			}
			return nil
		},
	}
}

func post(h http.Handler, body string, edit func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "/soap", strings.NewReader(body))
	r.Header.Set("Content-Type", "text/xml")
	r.Header.Set("SOAPAction", `"whatever"`)
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestResponseUsesSOAPVersionNamespaceAndStyleOfTheRequest(t *testing.T) {
	t.Parallel()
	params := []Param{{Name: "notifyProcedure", Value: "notify"}, {Name: "port", Value: "80"}, {Name: "path", Value: "/é"},
		{Name: "protocol", Value: "soap"}, {Name: "urls", Value: []string{"http://127.0.0.1/rss.xml"}}}
	for _, c := range []Call{
		{Version: V11}, {Version: V12}, {Version: V11, Literal: true}, {Version: V12, Literal: true, Namespace: "u:other"}, {Namespace: cloud},
	} {
		c.Name, c.Params = "pleaseNotify", params
		b, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		resp := post(server(t), string(b), nil)
		got, err := ParseResponse(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := Response{Name: "pleaseNotifyResponse", Namespace: c.Namespace, Version: c.Version, Literal: c.Literal,
			Params: []Param{{Name: "return", Value: true, Type: "boolean"}}}
		if c.Literal {
			want.Params[0] = Param{Name: "return", Value: "true"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != contentType(c.Version) || resp.ContentLength < 1 {
			t.Errorf("got %d %v", resp.StatusCode, resp.Header)
		}
	}
}

func TestRequestsOfKnownClientsAreAnswered(t *testing.T) {
	t.Parallel()
	h := server(t)
	const feed = "http://127.0.0.1/rss.xml"
	for file, want := range map[string]string{
		"php-without-wsdl": "true",
		"dotnet-document":  "false",
		"dotnet-encoded":   "false",
		"zeep-literal":     "false",
		"suds-literal":     "[<nil> " + feed + "]",
		"gsoap":            "[true " + feed + "]",
		"soap12":           "[" + feed + " " + feed + "]",
		"axis-multiref":    "[map[count:5000000000 url:http://127.0.0.1/] 5000000000]",
		"soap-lite":        "[Name & é é [1 [1.5]]]",
	} {
		b, err := os.ReadFile("testdata/requests/" + file + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseResponse(post(h, string(b), nil).Body)
		got := fmt.Sprint(r.Result())
		if ping, ok := r.Result().(map[string]any); ok {
			got = fmt.Sprint(ping["message"])
		}
		if got != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", file, got, err, want)
		}
	}
}

func TestFaultsHaveTheStatusOfTheirSOAPVersion(t *testing.T) {
	t.Parallel()
	for method, c := range map[string]struct {
		want11, want12     Fault
		status11, status12 int
	}{
		"fault":        {Fault{Code: "Client.Login", String: "as é asked"}, Fault{Code: "Client", String: "as é asked"}, 500, 400},
		"pleaseNotify": {Fault{Code: "Client", String: "0 of 5: wrong parameters"}, Fault{Code: "Client", String: "0 of 5: wrong parameters"}, 500, 400},
		"none":         {Fault{Code: "Client", String: "There is no method none here."}, Fault{Code: "Client", String: "There is no method none here."}, 500, 400},
		"mapped":       {Fault{Code: "Server", String: "mapped"}, Fault{Code: "Server", String: "mapped"}, 500, 500},
		"secret": {Fault{Code: "Server", String: "The method failed; the server's log has the reason."},
			Fault{Code: "Server", String: "The method failed; the server's log has the reason."}, 500, 500},
		"unwritable": {Fault{Code: "Server", String: "The method failed; the server's log has the reason."},
			Fault{Code: "Server", String: "The method failed; the server's log has the reason."}, 500, 500},
	} {
		for _, v := range []Version{V11, V12} {
			want, status := c.want11, c.status11
			if v == V12 {
				want, status = c.want12, c.status12
			}
			b, err := Call{Name: method, Version: v}.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			resp := post(server(t), string(b), nil)
			_, err = ParseResponse(resp.Body)
			if diff := cmp.Diff(error(&want), err); diff != "" {
				t.Errorf("%s: %s", method, diff)
			}
			if resp.StatusCode != status || resp.Header.Get("Content-Type") != contentType(v) {
				t.Errorf("%s in %v: got %d %v", method, v, resp.StatusCode, resp.Header)
			}
		}
	}
}

func TestInvalidBodyReturnsFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, contentType string
		status            int
		code              string
	}{
		"nothing":          {"", "text/xml", 500, CodeClient},
		"nothing, 1.2":     {"", "application/soap+xml", 400, CodeClient},
		"form":             {"a=b", "text/xml", 500, CodeClient},
		"HTML":             {"<html/>", "text/plain", 500, CodeClient},
		"DOCTYPE":          {"<!DOCTYPE a>" + in("<void/>"), "", 500, CodeClient},
		"other version":    {"<Envelope/>", "text/xml", 500, CodeVersionMismatch},
		"header":           {envelope(`<s:Header><x s:mustUnderstand="1"/></s:Header>`, "<void/>"), "text/xml", 500, CodeMustUnderstand},
		"value in 1.2":     {strings.ReplaceAll(in(`<void><a i:type="xsd:int">x</a></void>`), env11, env12), "text/xml", 400, CodeClient},
		"too large":        {in("<void>" + strings.Repeat("x", 300<<10) + "</void>"), "text/xml", 413, CodeClient},
		"urlencoded":       {in("<void/>"), "application/x-www-form-urlencoded", 415, CodeClient},
		"with attachments": {in("<void/>"), "multipart/related; boundary=x", 415, CodeClient},
		"JSON":             {"{}", "application/json", 415, CodeClient},
		"valid":            {in("<void/>"), "application/xml", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp := post(server(t), c.body, func(r *http.Request) { r.Header.Set("Content-Type", c.contentType) })
			_, err := ParseResponse(resp.Body)
			code := ""
			if f := asFault(err); f != nil {
				code = f.Code
			}
			if resp.StatusCode != c.status || code != c.code {
				t.Errorf("got %d %v; want %d %s", resp.StatusCode, err, c.status, c.code)
			}
		})
	}
	resp := post(server(t), in("<void/>"), func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
	if resp.StatusCode != 415 {
		t.Errorf("compressed: got %d", resp.StatusCode)
	}
}

func TestVoidMethodReturnsAnEmptyResponse(t *testing.T) {
	t.Parallel()
	r, err := ParseResponse(post(server(t), in("<VOID/>"), nil).Body)
	if err != nil || r.Name != "VOIDResponse" || len(r.Params) != 0 || r.Result() != nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestStructureIsWrittenInDeclaredOrder(t *testing.T) {
	t.Parallel()
	body, err := io.ReadAll(post(server(t), in(`<ping><url>u</url></ping>`), nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	const want = "<pingResult><flerror>false</flerror><message>[&lt;nil&gt; u]</message><extra>1</extra></pingResult>"
	if !strings.Contains(string(body), want) {
		t.Errorf("got %s", body)
	}
}

func TestHandlerServesWSDL(t *testing.T) {
	t.Parallel()
	get := func(h http.Handler, method, target string) (*http.Response, []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
		return w.Result(), w.Body.Bytes()
	}
	h := server(t)
	for _, target := range []string{"/soap?wsdl", "/soap?WSDL"} {
		resp, body := get(h, "GET", target)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/xml; charset=utf-8" || !bytes.Equal(body, WSDL(h.Service)) {
			t.Errorf("%s: got %d %v %s", target, resp.StatusCode, resp.Header, body)
		}
	}
	h.Service.Location = ""
	if _, body := get(h, "GET", "http://example.com/a%20b?wsdl"); !bytes.Contains(body, []byte(`location="http://example.com/a%20b"`)) {
		t.Errorf("got %s", body)
	}
	for _, c := range []struct{ method, target, allow string }{
		{"GET", "/soap", "POST"}, {"HEAD", "/soap", "POST"}, {"PUT", "/soap", "POST"}, {"OPTIONS", "/soap", "POST"}, {"PUT", "/soap?wsdl", "GET, HEAD, POST"},
	} {
		if resp, body := get(h, c.method, c.target); resp.StatusCode != 405 || resp.Header.Get("Allow") != c.allow || !bytes.Contains(body, []byte("?wsdl")) {
			t.Errorf("%s %s: got %d, Allow: %s\n%s", c.method, c.target, resp.StatusCode, resp.Header.Get("Allow"), body)
		}
	}
}

func TestWSDLDescribesEveryMethod(t *testing.T) {
	t.Parallel()
	s := service()
	s.Methods = append(s.Methods, Method{Name: "no name"}, Method{Name: "ping"})
	b := WSDL(s)
	golden(t, "service.wsdl", b)
	var doc struct {
		Message []struct {
			Name string `xml:"name,attr"`
		} `xml:"message"`
		Operation []struct {
			Name string `xml:"name,attr"`
		} `xml:"portType>operation"`
	}
	if err := xml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if n := len(service().Methods); len(doc.Message) != 2*n || len(doc.Operation) != n {
		t.Errorf("%d messages and %d operations for %d methods", len(doc.Message), len(doc.Operation), n)
	}
	for _, s := range []Service{{}, {Name: "1 2", Namespace: "a&\"\x00", Help: "\x00<"}} {
		var any struct{}
		if err := xml.Unmarshal(WSDL(s), &any); err != nil {
			t.Error(err)
		}
	}
}

func TestClientCallsTheHandlerInBothVersions(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(server(t))
	defer srv.Close()
	for _, c := range []*Client{
		{}, {Namespace: cloud, Action: cloud + "#echo"}, {Version: V12}, {Version: V12, Action: "u:x"},
	} {
		c.URL = srv.URL
		got, err := c.Call(t.Context(), "echo", Param{Name: "v", Value: []string{"é", "<&>"}})
		if diff := cmp.Diff([]any{"é", "<&>"}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if got, err := c.Call(t.Context(), "void"); got != nil || err != nil {
			t.Errorf("void: got %v, %v", got, err)
		}
		_, err = c.Call(t.Context(), "fault")
		if f := asFault(err); f == nil || f.String != "as é asked" {
			t.Errorf("fault: got %v", err)
		}
	}
	c := &Client{URL: srv.URL, Literal: true}
	got, err := c.Call(t.Context(), "echo", Param{Name: "v", Value: []string{"a", "b"}})
	if list, ok := Strings(got); !ok || !cmp.Equal(list, []string{"a", "b"}) {
		t.Errorf("literal: got %v, %v", got, err)
	}
	if _, err := c.Call(t.Context(), "echo", Param{Value: "\x00"}); !errors.Is(err, ErrValue) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, "void"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestClientSendsSOAPActionOfEachVersion(t *testing.T) {
	t.Parallel()
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		w.WriteHeader(http.StatusAccepted)
	}))
	defer srv.Close()
	for _, c := range []struct {
		client              Client
		action, content, ua string
	}{
		{Client{}, `""`, "text/xml; charset=utf-8", "cloudburst-soap"},
		{Client{Action: "u:x", UserAgent: "a/1"}, `"u:x"`, "text/xml; charset=utf-8", "a/1"},
		{Client{Action: "u:x", Version: V12}, "", `application/soap+xml; charset=utf-8; action="u:x"`, "cloudburst-soap"},
	} {
		c.client.URL = srv.URL
		if v, err := c.client.Call(t.Context(), "a"); v != nil || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
		if header.Get("SOAPAction") != c.action || header.Get("Content-Type") != c.content || header.Get("User-Agent") != c.ua {
			t.Errorf("got %v", header)
		}
	}
}

func TestClientReportsInvalidResponses(t *testing.T) {
	t.Parallel()
	answer := func(status int, contentType string, body []byte) *Client {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write(body)
		}))
		t.Cleanup(srv.Close)
		return &Client{URL: srv.URL, MaxBytes: 1000}
	}
	var bad *HTTPError
	_, err := answer(404, "text/plain", []byte("nothing here\nreally")).Call(t.Context(), "m")
	if !errors.As(err, &bad) || err.Error() != `soap: the server answered HTTP status 404 Not Found: "nothing here"` {
		t.Errorf("got %v", err)
	}
	fault := (&Fault{Code: CodeClient, String: "x"}).Marshal(V11)
	if _, err = answer(500, "text/xml", fault).Call(t.Context(), "m"); errors.As(err, new(*HTTPError)) || asFault(err) == nil {
		t.Errorf("got %v", err)
	}
	if _, err = answer(415, "text/xml", fault).Call(t.Context(), "m"); !errors.As(err, &bad) || bad.Status != 415 || asFault(err) == nil {
		t.Errorf("got %v", err)
	}
	if _, err = answer(200, "text/xml", fault).Call(t.Context(), "m"); asFault(err) == nil {
		t.Errorf("got %v", err)
	}
	if _, err = answer(200, "text/xml", []byte(strings.Repeat(" ", 1001))).Call(t.Context(), "m"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err = answer(200, "text/html", []byte("<html>")).Call(t.Context(), "m"); !errors.As(err, new(*SyntaxError)) {
		t.Errorf("got %v", err)
	}
}
