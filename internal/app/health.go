package app

import (
	"context"
	"io"
	"net/http"
	"time"
)

// alive reports that the process runs.
func (a routing) alive(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get(probeParam); token != "" {
		if !a.probes.arrive(token) { // another node behind the load balancer may have sent the probe
			w.Header().Set(probeHeader, examination(a).proof(token))
		}
	}
	respond(w, http.StatusOK, "alive\n")
}

// ready reports whether the server can work: it is not stopping, the store responds, and the disk has
// free space.
func (a routing) ready(w http.ResponseWriter, r *http.Request) {
	if a.draining.Load() {
		respond(w, http.StatusServiceUnavailable, "stopping\n")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := a.store.Ping(ctx); err != nil {
		a.log.Warn("the server is not ready", "err", err)
		respond(w, http.StatusServiceUnavailable, "the store cannot be reached\n")
		return
	}
	if a.freeSpace().low {
		respond(w, http.StatusServiceUnavailable, "the disk of the data folder is nearly full\n")
		return
	}
	respond(w, http.StatusOK, "ready\n")
}

func respond(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // an error means that the client has disconnected
}
