package rsscloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"
)

// Received is a notification that a [Subscriber] received: the feed changed and should be
// read.
type Received struct {
	URL       string    // the feed, as registered
	Protocol  string    // HTTPPost, XMLRPC or SOAP
	Procedure string    // the called procedure, for XMLRPC and SOAP
	At        time.Time // when the request arrived
	Remote    string    // host:port of the sender
	Hops      int       // hubs that the notification has passed through

	version soap.Version // version of the response
}

// Subscriber is the callback of an aggregator: an http.Handler that answers test calls and
// challenges, and passes on notifications in every protocol. It serves any path, so it can
// be mounted at the path of the registration.
//
// If Wants returns false for a feed, a challenge gets no consent and a notification gets
// status 410. Clouds that support the status 410 then stop sending.
type Subscriber struct {
	// Wants reports whether notifications of this feed are wanted. It must already return
	// true while the registration is in progress, because clouds call back before they
	// respond.
	Wants func(feed string) bool
	// OnNotify is called for each notification and each test call, which look the same. The
	// response is sent after OnNotify returns, so it should return quickly or pass the work to a
	// goroutine.
	OnNotify func(ctx context.Context, n Received)
	// Take is called instead of OnNotify if it is not nil. If it returns an error, the status is
	// 503, and clouds send the notification again.
	Take func(ctx context.Context, n Received) error
	// Procedure is the only procedure that is accepted over xml-rpc and soap. If it is "", any
	// procedure is accepted.
	Procedure string
	Now       func() time.Time // nil: time.Now
}

// ServeHTTP serves one request of a cloud.
func (s *Subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		s.challenge(w, r)
	case http.MethodPost:
		s.notification(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		wirehttp.WriteText(w, http.StatusMethodNotAllowed, "This is the callback of an aggregator; it takes GET and POST.\n")
	}
}

// spec:rsscloud-2009#challenge
// spec:rsscloud-2009#challenge-refused
func (s *Subscriber) challenge(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	feed, challenge := strings.TrimSpace(q.Get("url")), q.Get("challenge")
	switch {
	case challenge == "":
		wirehttp.WriteText(w, http.StatusBadRequest, "This is the callback of an aggregator; a challenge needs the parameters url and challenge.\n")
	case len(challenge) > 1024 || !s.wants(feed):
		wirehttp.WriteText(w, http.StatusNotFound, "This aggregator does not want notifications of that feed.\n")
	default:
		// Respond in plain text: in an HTML page with the challenge, a caller could inject markup.
		wirehttp.WriteText(w, http.StatusOK, challenge)
	}
}

func (s *Subscriber) wants(feed string) bool {
	return feed != "" && s.Wants != nil && s.Wants(feed)
}

func (s *Subscriber) notification(w http.ResponseWriter, r *http.Request) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	n := Received{At: now(), Remote: r.RemoteAddr, Hops: Hops(r.Header)}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	if err != nil {
		wirehttp.WriteText(w, http.StatusBadRequest, "The body ended early.\n")
		return
	}
	if len(body) > maxMessage {
		wirehttp.WriteText(w, http.StatusRequestEntityTooLarge, "A notification has the URL of one feed; this is more.\n")
		return
	}
	reply := formReply
	switch {
	case xmlrpc.Sniff(body):
		reply = xmlrpcReply
		err = n.readXMLRPC(body)
	case soap.Sniff(body):
		reply = soapReply
		err = n.readSOAP(body)
	default:
		err = n.readForm(r, body)
	}
	if err == nil && n.Protocol != HTTPPost && s.Procedure != "" && n.Procedure != s.Procedure {
		err = fmt.Errorf("the procedure %s is unknown", wirehttp.Quote(n.Procedure))
	}
	switch {
	case err != nil:
		reply(w, http.StatusBadRequest, n, err)
	case !s.wants(n.URL):
		reply(w, http.StatusGone, n, errors.New("this aggregator does not want notifications of that feed"))
	default:
		if err := s.take(withRequest(r), n); err != nil {
			reply(w, http.StatusServiceUnavailable, n, err)
			return
		}
		reply(w, http.StatusOK, n, nil)
	}
}

func (s *Subscriber) take(ctx context.Context, n Received) error {
	switch {
	case s.Take != nil:
		return s.Take(ctx, n)
	case s.OnNotify != nil:
		s.OnNotify(ctx, n)
	}
	return nil
}

func (n *Received) readForm(r *http.Request, body []byte) error {
	n.Protocol = HTTPPost
	if wrong := wirehttp.CheckFormType(r.Header); wrong != "" {
		return &Error{Status: http.StatusUnsupportedMediaType, Msg: wrong}
	}
	f, err := ParseForm(body)
	if err != nil {
		return err
	}
	u, err := f.URLs()
	if err != nil || len(u) != 1 {
		return errors.New("a notification is a form with the URL of one feed, named url")
	}
	n.URL = u[0]
	return nil
}

// spec:rsscloud-2003#notify-one-parameter
func (n *Received) readXMLRPC(body []byte) error {
	n.Protocol = XMLRPC
	call, err := xmlrpc.ParseCall(bytes.NewReader(body))
	if err != nil {
		return err
	}
	n.Procedure = call.Method
	if len(call.Params) != 1 {
		return fmt.Errorf("a notification has one parameter, the URL of the feed; this has %d", len(call.Params))
	}
	u, ok := xmlrpc.String(call.Params[0])
	n.URL = strings.TrimSpace(u)
	if !ok || n.URL == "" {
		return errors.New("the parameter must be the URL of the feed, a string")
	}
	return nil
}

func (n *Received) readSOAP(body []byte) error {
	n.Protocol = SOAP
	call, err := soap.Parse(bytes.NewReader(body))
	if err != nil {
		return err
	}
	n.Procedure, n.version = call.Name, call.Version
	if len(call.Params) != 1 {
		return fmt.Errorf("a notification has one part, the URL of the feed; this has %d", len(call.Params))
	}
	u, ok := soap.String(call.Params[0].Value)
	n.URL = strings.TrimSpace(u)
	if !ok || n.URL == "" {
		return errors.New("the part must be the URL of the feed, a string")
	}
	return nil
}

func formReply(w http.ResponseWriter, status int, _ Received, err error) {
	text := "Thanks for the update.\n"
	if err != nil {
		text = sentence(err) + "\n"
	}
	wirehttp.WriteText(w, status, text)
}

// xmlrpcReply responds with true or a fault, and with status 200 as XML-RPC requires. The
// exceptions are statuses that a cloud must see, such as 410.
//
// spec:rsscloud-2003#handler-returns-true
func xmlrpcReply(w http.ResponseWriter, status int, _ Received, err error) {
	if status == http.StatusBadRequest {
		status = http.StatusOK
	}
	body, marshalErr := xmlrpc.MarshalResponse(true)
	if err != nil || marshalErr != nil {
		body = xmlrpc.MarshalFault(&xmlrpc.Fault{Code: 4, String: sentence(err)})
	}
	markup(w, status, "text/xml; charset=utf-8", body)
}

func soapReply(w http.ResponseWriter, status int, n Received, err error) {
	if status == http.StatusBadRequest {
		status = http.StatusInternalServerError // SOAP 1.1 requires 500 for every fault
	}
	body, marshalErr := soap.Response{
		Name: n.Procedure + "Response", Namespace: soapNamespace,
		Params: []soap.Param{{Name: "result", Value: true}}, Version: n.version,
	}.Marshal()
	if err != nil || marshalErr != nil {
		body = (&soap.Fault{Code: "Client", String: sentence(err)}).Marshal(n.version)
	}
	kind := "text/xml; charset=utf-8"
	if n.version == soap.V12 {
		kind = "application/soap+xml; charset=utf-8"
	}
	markup(w, status, kind, body)
}

func markup(w http.ResponseWriter, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// sentence returns err as a sentence for the cloud's log.
func sentence(err error) string {
	if err == nil {
		return "This cannot be answered."
	}
	if f, ok := errors.AsType[*FieldError](err); ok {
		return f.Msg
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Msg
	}
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
