package config

import (
	"net"
	"strings"
)

// TLS configures TLS of the public listener. The zero TLS means plain HTTP.
type TLS struct {
	Cert, Key     string   // paths of the files
	Domains       []string // domains whose certificates are requested by ACME; nil: none
	ACMEDirectory string   // URL of the ACME authority's directory
	Email         string
	HTTPListen    string // address of an additional listener without TLS; "": none
}

// On reports whether the public listener uses TLS.
func (t TLS) On() bool { return t.Cert != "" || t.Key != "" || len(t.Domains) > 0 }

func tlsSettings() []Setting {
	return []Setting{
		{Name: "tls.cert", Kind: Text, Default: "",
			Doc: "File with the certificate of the public listener, followed by its chain (PEM). Together with tls.key it enables TLS. The server reloads the file after a change.",
			set: func(c *Config, p parsed) { c.TLS.Cert = p.text }},
		{Name: "tls.key", Kind: Text, Default: "",
			Doc: "File with the private key of the certificate in tls.cert (PEM).",
			set: func(c *Config, p parsed) { c.TLS.Key = p.text }},
		{Name: "tls.domains", Kind: Text, Default: "",
			Doc: "Host names, separated by commas, for which the server gets and renews certificates by ACME, from Let's Encrypt or the authority of tls.acme-directory. They enable TLS on the public listener. By setting them you agree to the terms of the authority.",
			set: func(c *Config, p parsed) { c.TLS.Domains = words(p.text) }},
		{Name: "tls.email", Kind: Text, Default: "",
			Doc: "Mail address for messages of the certificate authority.",
			set: func(c *Config, p parsed) { c.TLS.Email = p.text }},
		{Name: "tls.acme-directory", Kind: Text, Default: "https://acme-v02.api.letsencrypt.org/directory",
			Doc: "ACME directory URL of the certificate authority.",
			set: func(c *Config, p parsed) { c.TLS.ACMEDirectory = p.text }},
		{Name: "tls.http-listen", Kind: Address, Default: "",
			Doc: "Address of an additional listener for plain HTTP, such as :80. It answers ACME challenges, redirects browsers to https, and serves the protocol endpoints for clients without TLS. Only with TLS.",
			set: func(c *Config, p parsed) { c.TLS.HTTPListen = p.text }},
	}
}

// words splits text at commas and returns the parts in lowercase.
func words(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.ToLower(strings.TrimSpace(part)); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// tlsWarnings returns warnings about TLS settings that contradict each other.
func (c Config) tlsWarnings() []string {
	switch {
	case c.TLS.On() && strings.HasPrefix(c.PublicURL, "http://"):
		return []string{"public-url is http://, but the public listener uses TLS: links and the <cloud> element do not reach it. Write https://."}
	case !c.TLS.On() && c.TLS.HTTPListen != "":
		return []string{"tls.http-listen has no effect without tls.cert or tls.domains."}
	}
	return nil
}

// publicTLS does the work of Public for a listener with TLS. The first domain of the certificates is
// the public host.
func (c Config) publicTLS(host, port string) string {
	if len(c.TLS.Domains) > 0 {
		host = c.TLS.Domains[0]
	}
	if port == "443" {
		return "https://" + host
	}
	return "https://" + net.JoinHostPort(host, port)
}
