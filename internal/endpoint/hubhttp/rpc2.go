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

// sniffLen is the number of bytes that are needed to detect an XML-RPC call.
const sniffLen = 1024

// rpcHandler returns the XML-RPC endpoint with the methods of rssCloud, the methods in more, and
// system.*. large maps the names of methods with large calls to the maximum size of a call in
// bytes.
func rpcHandler(c *RSSCloud, more []xmlrpc.Method, large map[string]int64) http.Handler {
	h := xmlrpc.Handler{Methods: append(c.Methods(), more...), FaultOf: FaultOf, Log: c.Log}
	return newBodyLimit(h, large, func(r *http.Request) netip.Addr { return endpoint.CallerAddr(r, c.Trusted) })
}

// FaultOf returns an error as an XML-RPC fault, for methods without their own codes. It returns nil
// for internal errors, which the handler logs and hides.
func FaultOf(err error) *xmlrpc.Fault {
	switch fault.CodeOf(err) {
	case fault.Internal:
		return nil
	case fault.Invalid:
		return &xmlrpc.Fault{Code: xmlrpc.CodeParams, String: fault.Message(err)}
	}
	return &xmlrpc.Fault{Code: xmlrpc.CodeApp, String: fault.Message(err)}
}

// peek returns the beginning of a body without consuming it.
func peek(r *http.Request) []byte {
	body := bufio.NewReaderSize(r.Body, sniffLen)
	head, _ := body.Peek(sniffLen) // ignore the error, because reading the body returns it again
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return head
}

// rpcOr passes XML-RPC calls to rpc and all other requests to other.
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

// rpcAtRoot serves XML-RPC calls to the path /, to which old clients send them.
func rpcAtRoot(rpc http.Handler) http.Handler {
	return rpcOr(rpc, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnsupportedMediaType)
		fmt.Fprint(w, "A POST to this address must be an XML-RPC call. Forms go to /rsscloud/ping, /rsscloud/pleaseNotify and /websub, SOAP to /soap, CNWS to /cnws.\n")
	}))
}

// Methods returns rssCloud's procedures for XML-RPC.
func (c *RSSCloud) Methods() []xmlrpc.Method {
	please := [][]string{
		{"boolean", "string", "int", "string", "string", "array"},
		{"boolean", "string", "int", "string", "string", "array", "string"},
		{"boolean", "string", "string", "string", "string", "array"},
	}
	const what = "Requests notifications when one of the feeds changes: notifyProcedure, port, path, protocol (xml-rpc, soap, http-post or https-post), list of feed URLs, and optionally the domain to notify instead of the caller's address. Registrations expire after 25 hours; renew them every 24 hours. "
	return []xmlrpc.Method{
		{
			Name: rsscloud.MethodHello, Help: "Returns true, as a connection test.",
			Signature: [][]string{{"boolean"}, {"boolean", "string"}},
			Do:        func(context.Context, []any) (any, error) { return true, nil },
		},
		{
			Name: rsscloud.MethodPing, Help: "Reports that the feed with this URL changed. The hub reads the feed before it returns true, or a fault if the feed cannot be read.",
			Signature: [][]string{{"boolean", "string"}},
			Do:        c.rpcPing,
		},
		{
			Name: rsscloud.MethodPleaseNotify, Help: what + "The result is true, or a fault with the reason.",
			Signature: please,
			Do:        c.rpcPleaseNotify,
		},
		{
			Name: rsscloud.MethodRSSPleaseNotify, Help: what + "The result is true, or false if nothing was registered.",
			Signature: please,
			Do:        c.rpcRSSPleaseNotify,
		},
	}
}

// spec:rsscloud-2009#ping-xml-rpc
func (c *RSSCloud) rpcPing(ctx context.Context, params []any) (any, error) {
	err := c.pingParams(ctx, c.callerOf(viaXMLRPC, xmlrpc.RequestFrom(ctx)), params)
	if err != nil {
		return nil, c.rssCloudFault(ctx, err)
	}
	return true, nil
}

// spec:rsscloud-2009#please-notify-xml-rpc
// spec:rsscloud-2009#answer-true-or-error
func (c *RSSCloud) rpcPleaseNotify(ctx context.Context, params []any) (any, error) {
	if err := c.registerParams(ctx, c.callerOf(viaXMLRPC, xmlrpc.RequestFrom(ctx)), params); err != nil {
		return nil, c.rssCloudFault(ctx, err)
	}
	return true, nil
}

// spec:rsscloud-2003#returns-boolean
// spec:rsscloud-2003#rss-please-notify
func (c *RSSCloud) rpcRSSPleaseNotify(ctx context.Context, params []any) (any, error) {
	err := c.registerParams(ctx, c.callerOf(viaXMLRPC, xmlrpc.RequestFrom(ctx)), params)
	if isServerError(err) {
		return nil, c.rssCloudFault(ctx, err)
	}
	return err == nil, nil
}

// registerParams registers the callback in the parameters. If every feed is refused, it returns an
// error, because the XML-RPC and SOAP responses have no other way to report that.
func (c *RSSCloud) registerParams(ctx context.Context, from caller, params []any) error {
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

// isServerError reports whether the client did not cause a failure. The result of such a failure
// must not be false, because false means a permanent refusal.
func isServerError(err error) bool {
	if err == nil {
		return false
	}
	switch code(err) {
	case fault.Internal, fault.Unavailable, fault.TooMany:
		return true
	}
	return false
}

// pingParams pings the feed in the parameters.
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

// rssCloudFault returns an error as the fault of an rssCloud method.
func (c *RSSCloud) rssCloudFault(ctx context.Context, err error) error {
	c.logError(ctx, err)
	return &xmlrpc.Fault{Code: endpoint.FaultRSSCloud, String: message(err)}
}
