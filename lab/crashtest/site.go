package crashtest

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
)

// pingSite sends a ping for the website of a feed with the weblogs.com protocol.
func (r *runner) pingSite(base, feed string) call {
	var n int
	r.mu.Lock()
	r.names++
	n = r.names
	r.mu.Unlock()
	name, method, params := fmt.Sprintf("site %d", n), "weblogUpdates.ping", []string{feed}
	if n%2 == 0 {
		method, params = "weblogUpdates.extendedPing", []string{r.feeds.base + "/", "", feed}
	}
	body := "<methodCall><methodName>" + method + "</methodName><params>"
	for _, p := range append([]string{name}, params...) {
		body += "<param><value>" + p + "</value></param>"
	}
	c := r.postXML(base+"/RPC2", body+"</params></methodCall>", "<name>flerror</name><value><boolean>0<")
	if c.ok {
		r.history.do(func() { r.history.listed[name] = c.to })
	}
	return c
}

// registerCNWS subscribes a callback to a feed over CNWS.
func (r *runner) registerCNWS(base, feed string, s *subscribers, path string) {
	p := pair{feed, s.base + path}
	if !r.hold(p) {
		return
	}
	defer r.free(p)
	c := r.postXML(base+"/cnws", cnwsDocument("<subscribe><resourceID>"+feed+"</resourceID><notificationURL>"+p.callback+"</notificationURL></subscribe>"), "<status>true<")
	r.history.do(func() {
		r.history.registers[p] = append(r.history.registers[p], c)
		if c.ok {
			r.report.CNWS++
		}
	})
}

func (r *runner) postXML(to, body, good string) call {
	return r.send(to, "text/xml", body, http.StatusOK, good)
}

// lists checks the site pings that were acknowledged before this process started. The recent
// changes must list and count them.
func (r *runner) lists(ctx context.Context, base string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/changes.xml", nil)
	if err != nil {
		return err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var list struct {
		Count int `xml:"count,attr"`
		Sites []struct {
			Name string `xml:"name,attr"`
		} `xml:"weblog"`
	}
	if err := xml.NewDecoder(res.Body).Decode(&list); err != nil {
		return fmt.Errorf("changes.xml: %w", err)
	}
	there := map[string]bool{}
	for _, s := range list.Sites {
		there[s.Name] = true
	}
	r.history.do(func() {
		h := r.history
		begun := h.lifetimes[len(h.lifetimes)-1].started
		for name, at := range h.listed {
			if at.After(begun) {
				continue
			}
			if r.report.Listed++; !there[name] {
				h.violations = append(h.violations, fmt.Sprintf("not listed: the ping of %q, acknowledged at %s", name, at.Format(clock)))
			}
			delete(h.listed, name) // check each ping once, because the list is limited to one hour
		}
		if list.Count < r.report.Listed {
			h.violations = append(h.violations, fmt.Sprintf("not counted: changes.xml counts %d, and %d were acknowledged", list.Count, r.report.Listed))
		}
	})
	return nil
}

func cnwsDocument(action string) string {
	return `<notification xmlns="http://www.owlfish.com/thoughts/cnws-2003-04-08.html" version="1.0">` + action + `</notification>`
}
