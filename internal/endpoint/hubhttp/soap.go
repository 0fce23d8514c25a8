package hubhttp

import (
	"context"
	"net/http"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
)

// soapNamespace is the one of the SOAP procedures; calls in any other are taken too.
const soapNamespace = "http://rsscloud.org/"

// soapHandler is the SOAP door, which describes itself at ?wsdl.
//
// spec:rsscloud-2009#soap
func soapHandler(c *RSSCloud, sites *Weblogs, publicURL string) http.Handler {
	service := soap.Service{
		Name: "rssCloud", Namespace: soapNamespace,
		Help:    "Tells a cloud that a feed changed, and asks it for notifications.",
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
			Name: "pleaseNotify", Help: "Asks to be told when one of the feeds changes; true, or a fault that says why not.",
			Params: please, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				return true, c.please(ctx, c.callerOf(doorSOAP, soap.RequestFrom(ctx)), params)
			},
		},
		{
			Name: "rssPleaseNotify", Help: "Asks to be told when one of the feeds changes; true, or false when nothing was registered.",
			Params: please, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				err := c.please(ctx, c.callerOf(doorSOAP, soap.RequestFrom(ctx)), params)
				if ours(err) {
					return nil, err
				}
				return err == nil, nil
			},
		},
		{
			Name: "ping", Help: "Says that the feed with this URL changed; true, or a fault that says why not.",
			Params: []soap.Def{{Name: "url", Type: "string"}}, Result: result,
			Do: func(ctx context.Context, params []any) (any, error) {
				if isSitePing(soap.CallFrom(ctx)) {
					return sites.soapPing(ctx), nil
				}
				return true, c.pingParams(ctx, c.callerOf(doorSOAP, soap.RequestFrom(ctx)), params)
			},
		},
	}
}

// soapFault is an error in SOAP's form: Client when the caller can mend it,
// Server when he cannot.
func (c *RSSCloud) soapFault(err error) *soap.Fault {
	c.logged(context.Background(), err)
	who := "Client"
	switch code(err) {
	case fault.Internal, fault.Unavailable:
		who = "Server"
	}
	return &soap.Fault{Code: who, String: message(err)}
}
