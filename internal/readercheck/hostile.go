package readercheck

import (
	"bytes"
	"net/http"
	"time"
)

const (
	maxPatience = 60 * time.Second
	maxTaken    = 16 << 20 // limit for bytes sent of an endless document: 5 MiB for the reader, plus socket buffers on both sides
	endless     = 64 << 20
)

func hostileProbes() []probe {
	return []probe{
		{"silent", "A server that does not respond", func(v *visit) {
			if !v.waitFor(maxPatience) {
				v.fail(http.StatusOK, "At last.")
			}
		}, mustGiveUp(27)},
		{"dripping", "A response that does not end", drip, mustGiveUp(27)},
		{"endless", "A document without end", sendEndless, judgeEndless},
	}
}

func drip(v *visit) {
	v.set("Content-Type", "application/rss+xml")
	flush := http.NewResponseController(v.w)
	for waited := time.Duration(0); waited < maxPatience; waited += time.Second {
		_, err := v.w.Write([]byte("<rss>\n")[waited/time.Second%6 : waited/time.Second%6+1])
		if err == nil {
			err = flush.Flush()
		}
		if err != nil || v.waitFor(time.Second) {
			v.gaveUp = true
			return
		}
	}
}

// mustGiveUp judges whether the reader closed the connection before the server ended the response.
func mustGiveUp(rule int) func([]request, time.Time) []finding {
	return func(list []request, _ time.Time) []finding {
		var out []finding
		for _, a := range list {
			switch {
			case a.End.IsZero():
			case a.GaveUp:
				out = append(out, kept(rule))
			default:
				out = append(out, broken(rule, "the reader waited longer than %s", maxPatience))
			}
		}
		if len(out) == 0 {
			return []finding{open(rule, "a complete check is needed")}
		}
		return out
	}
}

func sendEndless(v *visit) {
	v.set("Content-Type", "application/rss+xml")
	_, err := v.w.Write([]byte("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Endless</title>\n"))
	item := bytes.Repeat([]byte("<item><title>And another one</title></item>\n"), 1000)
	for err == nil && v.w.written < endless {
		_, err = v.w.Write(item)
	}
	v.gaveUp = err != nil
}

func judgeEndless(list []request, _ time.Time) []finding {
	var out []finding
	for _, a := range list {
		switch {
		case a.End.IsZero():
		case a.Written > maxTaken:
			out = append(out, broken(28, "%d MiB of it were read", a.Written>>20))
		default:
			out = append(out, kept(28))
		}
	}
	if len(out) == 0 {
		return []finding{open(28, "a complete check is needed")}
	}
	return out
}
