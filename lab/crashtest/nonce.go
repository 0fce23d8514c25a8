package crashtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"cloudburst/lab/outside"
	"cloudburst/protocol/wsse"
)

// freshFor is the maximum age of a header in a replay test. The program rejects an older header
// because of its age, even if it does not know its nonce.
const freshFor = wsse.Window - 30*time.Second

// ticket is a WSSE header that the program accepted.
type ticket struct {
	value    string
	made     time.Time
	accepted time.Time // latest possible time of the acceptance
	replayed bool
}

// othersClient returns a client that uses another network for each connection. Otherwise the
// limit for rejected requests of one client would delay the others.
func othersClient(rng *outside.Random) *http.Client {
	return &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+rng.IntN(250)), byte(rng.IntN(250)), 9)}}
			return d.DialContext(ctx, network, addr)
		},
	}}
}

// prove sends a new header for the private feed in two concurrent requests, and checks that at
// most one is accepted.
func (r *runner) prove(base string) {
	t := &ticket{made: time.Now()}
	t.value = wsse.Header(r.reader.name, r.reader.password, t.made, nil)
	var group sync.WaitGroup
	var in [2]bool
	for i := range in {
		group.Go(func() { in[i] = r.show(base, t) == http.StatusOK })
	}
	group.Wait()
	h := r.history
	h.do(func() {
		if in[0] && in[1] {
			h.violations = append(h.violations, fmt.Sprintf("accepted twice: one header at the same time, at %s", t.made.Format(clock)))
		}
		if in[0] || in[1] {
			t.accepted = time.Now()
			r.report.LetIn++
			h.tickets = append(h.tickets, t)
		}
	})
}

// show requests the first owner's private feed with a header, and returns the status. The private
// feed has the same content as the public one. The status is 0 if there is no response.
func (r *runner) show(base string, t *ticket) int {
	req, err := http.NewRequest(http.MethodGet, base+"/"+r.owners[0].name+"/private/"+asSaved, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("X-WSSE", t.value)
	from := time.Now()
	res, err := r.others.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		r.served(from, r.owners[0].name, asSaved, res)
	}
	return res.StatusCode
}

// replay sends a header that an earlier process accepted, and checks that it is rejected. It
// returns false if there is no such header or no response.
func (r *runner) replay(base string) bool {
	h := r.history
	var t *ticket
	h.do(func() {
		begun := h.lifetimes[len(h.lifetimes)-1].started
		for _, old := range h.tickets {
			if !old.replayed && old.accepted.Before(begun) {
				t = old
				t.replayed = true
				return
			}
		}
	})
	if t == nil {
		return false
	}
	status := r.show(base, t)
	h.do(func() {
		switch {
		case status == http.StatusOK:
			h.violations = append(h.violations, fmt.Sprintf("accepted again: a header of %s that was accepted by %s, before a crash, at %s",
				t.made.Format(clock), t.accepted.Format(clock), time.Now().Format(clock)))
		case status == http.StatusUnauthorized && time.Since(t.made) < freshFor:
			r.report.Replayed++
		case status == 0:
			t.replayed = false
		}
	})
	return status != 0
}
