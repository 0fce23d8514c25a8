package hubhttp

import (
	"context"
	"net/http"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
)

// soapNamespace is the namespace of the SOAP procedures. Calls in other namespaces are accepted
// too.
const soapNamespace = "http://rsscloud.org/"

// soapHandler returns the SOAP endpoint, with its description at ?wsdl.
//
// spec:rsscloud-2009#soap
// spec:rsscloud-2003#rss-please-notify
func soapHandler(c *RSSCloud, sites *Weblogs, publicURL string) http.Handler {
	service := soap.Service{
		Name: "rssCloud", Namespace: soapNamespace,
		Help:    "Notifies a cloud that a feed changed, and requests notifications.",
		Methods: c.soapMethods(sites),
	}
	if publicURL != "" {
		service.Location = strings.TrimRight(publicURL, "/") + "/soap"
	}
	return &soap.Handler{Service: service, FaultOf: c.soapFault, Log: c.Log}
}

func (c *RSSCloud) soapMethods(sites *Weblogs) []soap.Method {
	names := rsscloud.ParamNames()
	please := []soap.Def{
		{Name: names[0], Type: "string"}, {Name: names[1], Type: "int"}, {Name: names[2], Type: "string"},
		{Name: names[3], Type: "string"}, {Name: names[4], Type: "string[]"}, {Name: names[5], Type: "string", Optional: true},
	}
	result := soap.Def{Name: "result", Type: "boolean"}
	return []soap.Method{
		{
			Name: "pleaseNotify", Help: "Requests notifications when one of the feeds changes; true, or a fault with the reason.",
			Params: please, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				return true, c.registerParams(ctx, c.callerOf(viaSOAP, soap.RequestFrom(ctx)), params)
			},
		},
		{
			Name: "rssPleaseNotify", Help: "Requests notifications when one of the feeds changes; true, or false if nothing was registered.",
			Params: please, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				err := c.registerParams(ctx, c.callerOf(viaSOAP, soap.RequestFrom(ctx)), params)
				if isServerError(err) {
					return nil, err
				}
				return err == nil, nil
			},
		},
		{
			Name: "ping", Help: "Reports that the feed with this URL changed; true, or a fault with the reason.",
			Params: []soap.Def{{Name: "url", Type: "string"}}, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				if isSitePing(soap.CallFrom(ctx)) {
					return sites.soapPing(ctx), nil
				}
				return true, c.pingParams(ctx, c.callerOf(viaSOAP, soap.RequestFrom(ctx)), params)
			},
		},
	}
}

// soapFault returns an error as a SOAP fault. The code is Client if the client can fix the error,
// and otherwise Server.
func (c *RSSCloud) soapFault(err error) *soap.Fault {
	c.logError(context.Background(), err)
	who := "Client"
	switch code(err) {
	case fault.Internal, fault.Unavailable:
		who = "Server"
	}
	return &soap.Fault{Code: who, String: message(err)}
}
