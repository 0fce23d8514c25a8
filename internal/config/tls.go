package config

import (
	"net"
	"strings"
)

// TLS says how the public listener is reached over TLS. The zero TLS is none.
type TLS struct {
	Cert, Key     string   // files
	Domains       []string // that certificates are asked for; nil: none
	ACMEDirectory string   // URL
	Email         string
	HTTPListen    string // address without TLS beside it; "": none
}

// On reports that the public listener speaks TLS.
func (t TLS) On() bool { return t.Cert != "" || t.Key != "" || len(t.Domains) > 0 }

func tlsSettings() []Setting {
	return []Setting{
		{Name: "tls.cert", Kind: Text, Default: "",
			Doc: "File with the certificate of the public listener, the chain behind it (PEM). With tls.key it makes that listener speak TLS. It is read again when it changes.",
			set: func(c *Config, p parsed) { c.TLS.Cert = p.text }},
		{Name: "tls.key", Kind: Text, Default: "",
			Doc: "File with the key of that certificate (PEM).",
			set: func(c *Config, p parsed) { c.TLS.Key = p.text }},
		{Name: "tls.domains", Kind: Text, Default: "",
			Doc: "Names, separated by commas, for which certificates are asked for and renewed by ACME, at Let's Encrypt unless tls.acme-directory says otherwise. They make the public listener speak TLS, and mean that you agree to the terms of that authority.",
			set: func(c *Config, p parsed) { c.TLS.Domains = words(p.text) }},
		{Name: "tls.email", Kind: Text, Default: "",
			Doc: "Address that the authority may write to about those certificates.",
			set: func(c *Config, p parsed) { c.TLS.Email = p.text }},
		{Name: "tls.acme-directory", Kind: Text, Default: "https://acme-v02.api.letsencrypt.org/directory",
			Doc: "Directory of the authority that is asked by ACME.",
			set: func(c *Config, p parsed) { c.TLS.ACMEDirectory = p.text }},
		{Name: "tls.http-listen", Kind: Text, Default: "",
			Doc: "Address beside the public listener that speaks plain HTTP, such as :80: it answers the authority, sends browsers to https, and serves the doors at which old programs call. Only with TLS.",
			set: func(c *Config, p parsed) { c.TLS.HTTPListen = p.text }},
	}
}

// words are the parts between commas, in lower case.
func words(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.ToLower(strings.TrimSpace(part)); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// tlsWarnings are about a public-url that does not fit.
func (c Config) tlsWarnings() []string {
	switch {
	case c.TLS.On() && strings.HasPrefix(c.PublicURL, "http://"):
		return []string{"public-url is http://, but the public listener speaks TLS: links and the <cloud> element do not lead to it. Write https://."}
	case !c.TLS.On() && c.TLS.HTTPListen != "":
		return []string{"tls.http-listen is set without tls.cert or tls.domains, and does nothing."}
	}
	return nil
}

// publicTLS is Public where the listener speaks TLS: the first name that has a certificate
// is what the world calls it by.
func (c Config) publicTLS(host, port string) string {
	if len(c.TLS.Domains) > 0 {
		host = c.TLS.Domains[0]
	}
	if port == "443" {
		return "https://" + host
	}
	return "https://" + net.JoinHostPort(host, port)
}
