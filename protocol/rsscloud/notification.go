package rsscloud

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"
)

// soapNamespace is the namespace of the procedures in the guide. The guide specifies no namespace
// for SOAP itself.
const soapNamespace = "http://rsscloud.org/"

// Notification is an encoded notification, ready to be sent by POST. It depends on protocol,
// procedure and feed only, so all callbacks with the same values can share one Notification.
type Notification struct {
	ContentType string
	SOAPAction  string // including the quotes; "": no such header
	Body        []byte
}

// EncodeNotification encodes the notification that the feed changed. procedure is used for xml-rpc
// and soap only. The error is a [*FieldError]; for an unknown protocol, it wraps both [ErrProtocol]
// and a [*FieldError].
func EncodeNotification(protocol, procedure, feedURL string) (Notification, error) {
	if err := CheckProcedure(protocol, procedure); err != nil {
		return Notification{}, err
	}
	switch protocol {
	case HTTPPost, HTTPSPost:
		// spec:rsscloud-2009#notify-http-post
		return Notification{
			ContentType: "application/x-www-form-urlencoded",
			Body:        []byte("url=" + url.QueryEscape(feedURL)),
		}, nil
	case XMLRPC:
		// spec:rsscloud-2009#notify-xml-rpc
		// spec:rsscloud-2003#notify-one-parameter
		body, err := xmlrpc.Call{Method: procedure, Params: []any{feedURL}}.Marshal()
		if err != nil {
			return Notification{}, fmt.Errorf("rsscloud: encode the notification: %w", err)
		}
		return Notification{ContentType: "text/xml; charset=utf-8", Body: body}, nil
	case SOAP:
		// spec:rsscloud-2009#soap
		body, err := soap.Call{
			Name: procedure, Namespace: soapNamespace,
			Params: []soap.Param{{Name: "url", Value: feedURL}},
		}.Marshal()
		if err != nil {
			return Notification{}, fmt.Errorf("rsscloud: encode the notification: %w", err)
		}
		return Notification{
			ContentType: "text/xml; charset=utf-8",
			SOAPAction:  strconv.Quote(soapNamespace + procedure),
			Body:        body,
		}, nil
	}
	return Notification{}, protocolError(protocol)
}

// SetHeader sets the header fields of the notification in h.
func (n Notification) SetHeader(h http.Header) {
	h.Set("Content-Type", n.ContentType)
	if n.SOAPAction != "" {
		h.Set("SOAPAction", n.SOAPAction)
	}
}
