package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/announce"
)

// parsed is the value of a setting. The Kind of the setting decides which field holds the value.
type parsed struct {
	text      string
	networks  []netip.Prefix
	duration  time.Duration
	durations []time.Duration
	urls      []string
	targets   []announce.Target
	headers   map[string]string
	count     int
	rate      float64
}

// parse parses the text of a setting. Its error states the allowed values. The error contains
// neither the setting's name nor the value of a secret.
func (s Setting) parse(text string) (parsed, error) {
	text = strings.TrimSpace(text)
	p := parsed{text: text}
	var err error
	switch s.Kind {
	case Folder:
		if text == "" {
			err = errors.New("it must be the path of a folder")
		}
	case Address:
		if text != "" || s.Default != "" {
			err = checkAddress(text)
		}
	case Server:
		err = checkServer(text)
	case PublicURL:
		p.text, err = parsePublicURL(text)
	case Database:
		err = checkDatabase(text)
	case Networks:
		p.networks, err = ParseNetworks(text)
	case Duration:
		p.duration, err = s.parseDuration(text)
	case Durations:
		p.durations, err = s.parseDurations(text)
	case URLs:
		p.urls, err = parseURLs(text)
	case Collector:
		p.text, err = parseCollector(text)
	case Share:
		p.rate, err = parseShare(text)
	case Headers:
		p.headers, err = parseHeaders(text)
	case Hosts:
		err = checkHosts(text)
	case Domains:
		err = checkDomains(text)
	case PingTargets:
		p.targets, err = announce.ParseTargets(text)
	case Count:
		p.count, err = s.parseCount(text)
	case Size:
		p.count, err = s.parseSize(text)
	case Rate:
		p.rate, err = strconv.ParseFloat(text, 64)
		if err != nil || p.rate < 0 || math.IsNaN(p.rate) || math.IsInf(p.rate, 0) {
			err = errors.New("it must be 0 or more; 0 means no limit")
		}
	case Choice:
		if !slices.Contains(s.Choices, text) {
			err = fmt.Errorf("it must be one of %s", strings.Join(s.Choices, ", "))
		}
	}
	return p, err
}

func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("it must be host:port, such as 127.0.0.1:5338 or :5337 (with an IPv6 address in brackets)")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("the port must be a number from 0 to 65535; 0 selects a free port")
	} else if strconv.FormatUint(n, 10) != port {
		return errors.New("its port needs a plain number without leading zeros")
	}
	if strings.ContainsAny(host, " /\\@?#") {
		return errors.New("its host needs to be a name or an address, nothing else")
	}
	return nil
}

func checkServer(text string) error {
	if text == "" {
		return nil
	}
	host := text
	if u, err := url.Parse(text); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		if u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("it must contain only scheme, host and port, such as http://127.0.0.1:5338")
		}
		if u.Port() == "" {
			return nil
		}
		host = u.Host
	}
	if checkAddress(host) != nil || strings.HasSuffix(host, ":0") {
		return errors.New("it must be host:port or a URL, such as 127.0.0.1:5338 or http://127.0.0.1:5338")
	}
	return nil
}

func parsePublicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", errors.New("it must be a URL such as https://hub.example.org")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", errors.New("its port must be from 1 to 65535")
		}
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("it must contain only scheme, host and port, such as https://hub.example.org")
	}
	return u.Scheme + "://" + u.Host, nil
}

func checkDatabase(text string) error {
	if text == "" {
		return nil
	}
	// url.Parse repeats its input in the error. The input contains a password, so that error is not
	// shown.
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("it must be postgres://user:password@host:port/name (special characters in the password as %XX), or empty for SQLite")
	}
	if strings.Trim(u.Path, "/") == "" {
		return errors.New("it must end with the name of the database: postgres://user:password@host:port/name")
	}
	return nil
}

func parseURLs(text string) ([]string, error) {
	var urls []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		u, err := url.Parse(part)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is not a URL such as https://rpc.example.org/changes.xml", part)
		}
		urls = append(urls, part)
	}
	return urls, nil
}

// ParseNetworks parses comma-separated CIDRs. An address without a prefix length means only this
// address.
func ParseNetworks(text string) ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		n, err := parseNetwork(part)
		if err != nil {
			return nil, err
		}
		nets = append(nets, n)
	}
	return nets, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	fail := fmt.Errorf("%q is not a network such as 10.0.0.0/8 or fd00::/8, nor an address", text)
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, fail
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	n, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fail
	}
	if n.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%q is an IPv4 network in IPv6 form: write it as IPv4", text)
	}
	if n != n.Masked() {
		return netip.Prefix{}, fmt.Errorf("%q has bits set outside its mask: did you mean %s, or %s/%d?", text, n.Masked(), n.Addr(), n.Addr().BitLen())
	}
	return n, nil
}

// ParseDuration parses a Go duration (1h30m, 250ms). The text can begin with days (1d, 1d12h).
func ParseDuration(text string) (time.Duration, error) {
	fail := fmt.Errorf("%q is not a time such as 250ms, 15s, 2m, 25h or 30d", text)
	rest, days := text, int64(0)
	if before, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 16)
		if err != nil {
			return 0, fail
		}
		days, rest = int64(n), after
		if rest == "" {
			return time.Duration(days) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || days > 0 && d < 0 {
		return 0, fail
	}
	return time.Duration(days)*24*time.Hour + d, nil
}

func (s Setting) parseDuration(text string) (time.Duration, error) {
	d, err := ParseDuration(text)
	if err != nil {
		return 0, err
	}
	if lowest, err := ParseDuration(s.Min); err == nil && d < lowest {
		return 0, fmt.Errorf("%s is too short: the minimum is %s", text, s.Min)
	}
	if highest, err := ParseDuration(s.Max); err == nil && d > highest {
		return 0, fmt.Errorf("%s is too long: the maximum is %s", text, s.Max)
	}
	return d, nil
}

// maxDurations is the maximum length of a list of durations. A longer list is probably a mistake.
const maxDurations = 50

func (s Setting) parseDurations(text string) ([]time.Duration, error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxDurations {
		return nil, fmt.Errorf("it has %d times: the maximum is %d", len(parts), maxDurations)
	}
	list := make([]time.Duration, 0, len(parts))
	for _, part := range parts {
		d, err := s.parseDuration(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (s Setting) parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	lowest, _ := strconv.Atoi(s.Min)
	highest, _ := strconv.Atoi(s.Max)
	if err != nil || n < lowest || n > highest {
		return 0, fmt.Errorf("it must be a whole number from %s to %s", s.Min, s.Max)
	}
	return n, nil
}

// Check returns a function that checks the text of a setting. The function's error is one sentence
// with the value and the allowed values. name must be the name of a setting.
func Check(name string) func(text string) error {
	all := Settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	return func(text string) error {
		if i < 0 {
			return fmt.Errorf("unknown setting %s", name)
		}
		_, err := all[i].parse(text)
		if err != nil {
			return fmt.Errorf("invalid value %q for %s: %w", text, name, err) // the same form as an error about a flag
		}
		return nil
	}
}
