package publishhttp

import (
	"context"
	"fmt"

	"cloudburst/internal/author"
	"cloudburst/internal/charset"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/protocol/xmlrpc"
)

const methodSaveRSS = "rssCloud.saveRss"

// Methods returns the XML-RPC methods that save feeds.
func (f *Feeds) Methods() []xmlrpc.Method {
	return []xmlrpc.Method{{
		Name: methodSaveRSS,
		Help: "Saves a feed: user name, password (or a token that may create or update) and the text of the feed, at most 2 MiB, as a string or as base64. " +
			"The result is the feed's public URL, or a fault with the reason.",
		Signature: [][]string{{"string", "string", "string", "string"}, {"string", "string", "string", "base64"}},
		Do:        f.saveRSS,
	}}
}

// LargeMethods returns, for each method with large calls, the maximum size of a call in bytes.
func (f *Feeds) LargeMethods() map[string]int64 {
	// Escaping can expand a markup character to six bytes.
	return map[string]int64{methodSaveRSS: 6*author.MaxDocument + 64<<10}
}

// saveRSS implements the method rssCloud.saveRss(user, password, rsstext).
//
// spec:rsscloud-2009#save-rss
func (f *Feeds) saveRSS(ctx context.Context, params []any) (any, error) {
	user, password, doc, err := saveParams(params)
	if err != nil {
		return nil, f.rssCloudFault(ctx, err)
	}
	doc.User, err = logIn(ctx, f.Accounts, user, password, f.caller(xmlrpc.RequestFrom(ctx), "saveRss"), []string{"update", "create"})
	if err != nil {
		// A failed login ends a batch of calls, so that one batch cannot try many passwords.
		return nil, fmt.Errorf("%w: %w", f.rssCloudFault(ctx, err), xmlrpc.ErrLogin)
	}
	now, err := f.Authors.Put(ctx, doc)
	if err != nil {
		return nil, f.rssCloudFault(ctx, err)
	}
	addWarning(xmlrpc.HeaderFrom(ctx), now.Warning())
	return f.Public() + address(now.User, now.Name), nil
}

// saveParams decodes the three parameters.
func saveParams(params []any) (user, password string, d author.Document, err error) {
	d = author.Document{Name: author.Public, Via: "saveRss"}
	if len(params) != 3 {
		return "", "", d, fault.New(fault.Invalid, "There are %d parameters; send three: the user, the password and the text of the feed.", len(params))
	}
	user, ok1 := xmlrpc.String(params[0])
	password, ok2 := xmlrpc.String(params[1])
	if !ok1 || !ok2 {
		return "", "", d, fault.New(fault.Invalid, "The user and the password must be strings.")
	}
	switch text := params[2].(type) {
	case string:
		d.Bytes, d.Type = encodeAsDeclared(text)
	case []byte:
		d.Bytes = text
	default:
		return "", "", d, fault.New(fault.Invalid, "The text of the feed must be a string or base64.")
	}
	return user, password, d, nil
}

// encodeAsDeclared encodes a feed that arrived as a string. It uses the encoding that the feed
// declares, as the original file did. If the encoding cannot represent the text, the result is
// UTF-8.
func encodeAsDeclared(text string) (doc []byte, contentType string) {
	if doc, name, ok := charset.Encode(text); ok {
		return doc, "text/xml; charset=" + name
	}
	return []byte(text), "text/xml; charset=utf-8"
}

// rssCloudFault returns an error as the fault of an rssCloud method.
func (f *Feeds) rssCloudFault(ctx context.Context, err error) error {
	if code := fault.CodeOf(err); f.Log != nil && (code == fault.Internal || code == fault.Unavailable) {
		f.Log.WarnContext(ctx, "cannot save a feed", "err", err)
	}
	return &xmlrpc.Fault{Code: endpoint.FaultRSSCloud, String: fault.Message(err)}
}
