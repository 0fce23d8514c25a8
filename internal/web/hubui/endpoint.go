package hubui

import (
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

// endpoint is an incoming or outgoing endpoint with its texts for pages. Value is its name in
// event.Event and hub.Change.
type endpoint struct{ Value, Tag, Words string }

func endpoints() []endpoint {
	return []endpoint{
		{"rest", "rssCloud", "rssCloud, as a form (REST)"},
		{hub.XMLRPC, "XML-RPC", "rssCloud, over XML-RPC"},
		{hub.SOAP, "SOAP", "rssCloud, over SOAP"},
		{hub.HTTPPost, "http-post", "rssCloud, as a form (http-post)"},
		{hub.HTTPSPost, "https-post", "rssCloud, as a form over TLS (https-post)"},
		{hub.WebSub, "WebSub", "WebSub"},
		{hub.CNWS, "CNWS", "CNWS, the change notification web service"},
		{"weblogs", "ping", "a weblogs.com ping"},
		{"weblogs-extended", "extended", "an extended weblogs.com ping"},
		{"pingsite", "form", "the form pingSiteForm of weblogs.com"},
		{"notify-rsscloud", "from a hub", "a notification of another hub, by rssCloud"},
		{"notify-websub", "from a hub", "the content that another hub delivered, by WebSub"},
		{"notify-cnws", "from a hub", "a notification of another hub, by CNWS"},
		{"notify-away", "again", "a check after the server was offline"},
		{"relay", "relayed", "a hub that this server listens to for its own subscribers"},
		{"web", "this site", "the form on this site"},
		{"page", "this site", "the page of an author's feeds on this site"},
		{"put", "PUT", "HTTP PUT to the feed's address"},
		{"saveRss", "saveRss", "rssCloud.saveRss, over XML-RPC"},
		{"save", "saved here", "the feed being saved on this server"},
		{"api", "operator", "the operator's programs, over the JSON API"},
		{"cli", "operator", "the operator's command"},
		{"test", "test feed", "the test feed of this server"},
		{"again", "again", "a check for a subscription that arrived during a change"},
	}
}

// endpointOf returns the endpoint with that value. For an unknown endpoint, the texts are the value.
func endpointOf(value string) endpoint {
	for _, d := range endpoints() {
		if d.Value == value {
			return d
		}
	}
	v := shell.CleanText(value, 40)
	return endpoint{v, v, v}
}
