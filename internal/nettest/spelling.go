package nettest

import "strings"

// Spellings returns eight spellings of the root URL of host, a lowercase ASCII name, at port 80.
// All spellings lead to the same server.
func Spellings(host string) []string {
	first, rest := host[:1], host[1:]
	return []string{
		"http://" + host,
		"http://" + strings.ToUpper(host),
		"http://" + host + ":80",
		"http://" + host + ".",
		"HTTP://" + strings.ToUpper(first) + rest + ".:80",
		"http://" + host + ":0080",
		"http://" + string(rune(first[0])-'a'+'ａ') + rest, // the first letter is a fullwidth letter
		"http://" + strings.ReplaceAll(host, ".", "。"),    // the dots are ideographic full stops
	}
}
