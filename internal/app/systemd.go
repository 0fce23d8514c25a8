package app

import (
	"context"
	"fmt"
	"net/http"
)

// notifyManager reports to the service manager that the server is ready. After that, it sends a
// watchdog signal as long as the server's own listener answers.
//
// spec:systemd-257#notify
func (a process) notifyManager(ctx context.Context, l *listeners) {
	a.notifyService("READY=1\nSTATUS=Serving")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	alive := func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+l.adm.Addr().String()+"/healthz", nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	a.Service.Watch(ctx, alive, func(err error) { a.log.Error("the watchdog check failed", "err", err) })
}

// notifyStopping reports the shutdown to the service manager. If shutdown-delay is set, it also
// requests more time.
func (a process) notifyStopping() {
	state := "STOPPING=1\nSTATUS=Letting what is under way end"
	if d := a.cfg.ShutdownDelay; d > 0 {
		state += fmt.Sprintf("\nEXTEND_TIMEOUT_USEC=%d", (d + stopsWithin).Microseconds())
	}
	a.notifyService(state)
}

func (a process) notifyService(state string) {
	if err := a.Service.Notify(state); err != nil {
		a.log.Warn("cannot notify the service manager", "err", err)
	}
}
