package hubhttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/xmlrpc"
)

// sniffed is how much of a body tells whether it is an XML-RPC call.
const sniffed = 1024

// rpcHandler is the XML-RPC door: rssCloud's methods, those of further families,
// and system.*, which every handler has. large are the methods whose calls may be large,
// and how many bytes they may have.
func rpcHandler(c *RSSCloud, more []xmlrpc.Method, large map[string]int64) http.Handler {
	h := xmlrpc.Handler{Methods: append(c.Methods(), more...), FaultOf: FaultOf, Log: c.Log}
	return newSaveRoom(h, large, func(r *http.Request) netip.Addr { return endpoint.CallerAddr(r, c.Trusted) })
}

// FaultOf is an error as an XML-RPC fault, for methods that have no codes of
// their own. It is nil for errors of ours, which the handler logs and hides.
func FaultOf(err error) *xmlrpc.Fault {
	switch fault.CodeOf(err) {
	case fault.Internal:
		return nil
	case fault.Invalid:
		return &xmlrpc.Fault{Code: xmlrpc.CodeParams, String: fault.Message(err)}
	}
	return &xmlrpc.Fault{Code: xmlrpc.CodeApp, String: fault.Message(err)}
}

// peek is the beginning of a body, which is still there to be read.
func peek(r *http.Request) []byte {
	body := bufio.NewReaderSize(r.Body, sniffed)
	head, _ := body.Peek(sniffed) // an error comes again when the body is read
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return head
}

// rpcOr sends XML-RPC calls to rpc and everything else to other.
func rpcOr(rpc, other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			other.ServeHTTP(w, r)
			return
		}
		if xmlrpc.Sniff(peek(r)) {
			rpc.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// rpcAtRoot serves calls that are sent to the root, where old clients send them.
func rpcAtRoot(rpc http.Handler) http.Handler {
	return rpcOr(rpc, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnsupportedMediaType)
		fmt.Fprint(w, "A POST to this address must be an XML-RPC call. Forms go to /rsscloud/ping, /rsscloud/pleaseNotify and /websub, SOAP to /soap, CNWS to /cnws.\n")
	}))
}

// Methods are rssCloud's procedures over XML-RPC.
func (c *RSSCloud) Methods() []xmlrpc.Method {
	please := [][]string{
		{"boolean", "string", "int", "string", "string", "array"},
		{"boolean", "string", "int", "string", "string", "array", "string"},
		{"boolean", "string", "string", "string", "string", "array"},
	}
	const what = "Asks to be told when one of the feeds changes: notifyProcedure, port, path, protocol (xml-rpc, soap, http-post or https-post), list of feed URLs, and optionally the domain to notify instead of the caller's address. Registrations end after 25 hours; renew them every 24. "
	return []xmlrpc.Method{
		{
			Name: rsscloud.MethodHello, Help: "Says hello; the answer is true.",
			Signature: [][]string{{"boolean"}, {"boolean", "string"}},
			Do:        func(context.Context, []any) (any, error) { return true, nil },
		},
		{
			Name: rsscloud.MethodPing, Help: "Says that the feed with this URL changed. The feed is read before the answer, which is true, or a fault when it cannot be read.",
			Signature: [][]string{{"boolean", "string"}},
			Do:        c.rpcPing,
		},
		{
			Name: rsscloud.MethodPleaseNotify, Help: what + "The answer is true, or a fault that says why not.",
			Signature: please,
			Do:        c.rpcPleaseNotify,
		},
		{
			Name: rsscloud.MethodRSSPleaseNotify, Help: what + "The answer is true, or false when nothing was registered.",
			Signature: please,
			Do:        c.rpcRSSPleaseNotify,
		},
	}
}

// spec:rsscloud-2009#ping-xml-rpc
func (c *RSSCloud) rpcPing(ctx context.Context, params []any) (any, error) {
	err := c.pingParams(ctx, c.callerOf(doorXMLRPC, xmlrpc.RequestFrom(ctx)), params)
	if err != nil {
		return nil, c.fault4(ctx, err)
	}
	return true, nil
}

// spec:rsscloud-2009#please-notify-xml-rpc
// spec:rsscloud-2009#answer-true-or-error
func (c *RSSCloud) rpcPleaseNotify(ctx context.Context, params []any) (any, error) {
	if err := c.please(ctx, c.callerOf(doorXMLRPC, xmlrpc.RequestFrom(ctx)), params); err != nil {
		return nil, c.fault4(ctx, err)
	}
	return true, nil
}

// spec:rsscloud-2003#returns-boolean
// spec:rsscloud-2003#rss-please-notify
func (c *RSSCloud) rpcRSSPleaseNotify(ctx context.Context, params []any) (any, error) {
	err := c.please(ctx, c.callerOf(doorXMLRPC, xmlrpc.RequestFrom(ctx)), params)
	if ours(err) {
		return nil, c.fault4(ctx, err)
	}
	return err == nil, nil
}

// please registers what the parameters say. Every feed refused is an error here,
// for these doors have no other way to say so.
func (c *RSSCloud) please(ctx context.Context, from caller, params []any) error {
	g, err := rsscloud.RegistrationFromParams(params)
	if err != nil {
		c.logRejected(ctx, event.KindRegister, from, "", err)
		return err
	}
	r, err := c.register(ctx, from, g)
	if err == nil && !r.Success {
		return fault.New(fault.Refused, "%s", r.Msg)
	}
	return err
}

// ours reports trouble that the caller has no part in: a plain false would tell
// him that he was refused for good.
func ours(err error) bool {
	if err == nil {
		return false
	}
	switch code(err) {
	case fault.Internal, fault.Unavailable, fault.TooMany:
		return true
	}
	return false
}

// pingParams pings what the parameters say.
func (c *RSSCloud) pingParams(ctx context.Context, from caller, params []any) error {
	url, err := onlyURL(params)
	if err != nil {
		c.logRejected(ctx, event.KindPing, from, "", err)
		return err
	}
	return c.ping(ctx, from, url)
}

func onlyURL(params []any) (string, error) {
	if len(params) != 1 {
		return "", fault.New(fault.Invalid, "There are %d parameters; send one, the URL of the feed that changed.", len(params))
	}
	url, ok := params[0].(string)
	if !ok {
		return "", fault.New(fault.Invalid, "The parameter must be a string, the URL of the feed that changed.")
	}
	return strings.TrimSpace(url), nil
}

// fault4 is an error as the fault of an rssCloud method.
func (c *RSSCloud) fault4(ctx context.Context, err error) error {
	c.logged(ctx, err)
	return &xmlrpc.Fault{Code: endpoint.FaultRSSCloud, String: message(err)}
}
