package hubsim

import (
	"context"
	"net/netip"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// play executes the whole run: a period with faults, a calm period, the top of the hour, and in
// some runs one more day.
func (w *scenario) play() {
	for m := range w.plan.machines {
		w.begin(m, w.plan.machines == 1)
		time.Sleep(time.Duration(1+m) * 1_234_567)
	}
	w.schedule()
	time.Sleep(w.plan.long - time.Since(w.begun))
	w.gone.Wait()
	w.endFaults()
	time.Sleep(20 * time.Second)
	solo := w.handOver()
	w.rest()
	w.checkNotified("after the calm")
	for range 4 {
		w.changeAll(solo)
		time.Sleep(20 * time.Second)
	}
	w.rest()
	hour := time.Now().Truncate(time.Hour).Add(time.Hour)
	time.Sleep(time.Until(hour) + 95*time.Second)
	w.lastChange(solo, "after the hour")
	if w.plan.tail {
		w.aDay(solo)
	}
	solo.stop()
	w.mu.Lock()
	lived := w.lived
	w.mu.Unlock()
	for _, n := range lived {
		<-n.ended
	}
	time.Sleep(2 * time.Minute) // wait for the remaining work of crashed machines
}

// schedule starts the actions of all members, each at its planned time.
func (w *scenario) schedule() {
	for i := range w.plan.members {
		m := &w.plan.members[i]
		w.gone.Go(func() {
			for _, v := range m.acts {
				time.Sleep(v.at - time.Since(w.begun))
				w.move(m, v)
			}
		})
	}
	for i, c := range w.plan.changes {
		w.gone.Go(func() {
			time.Sleep(c.at - time.Since(w.begun) + time.Duration(i))
			w.mu.Lock()
			w.turn(c.feed)
			w.mu.Unlock()
			for p := range c.pings {
				time.Sleep(5*time.Millisecond + time.Duration(hash(w.seed, uint64(i), uint64(p))%uint64(300*time.Millisecond)))
				w.ping(w.anyRunning(uint64(i), uint64(p)), c.feed)
			}
		})
	}
	for i, t := range w.plan.trouble {
		w.gone.Go(func() {
			time.Sleep(t.at - time.Since(w.begun) + time.Duration(i))
			w.disturb(t)
		})
	}
}

// anyRunning returns a machine that accepts requests, or nil if there is none.
func (w *scenario) anyRunning(parts ...uint64) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := int(hash(w.seed, hash(parts...)) % uint64(len(w.running)))
	for i := range w.running {
		if n := w.running[(first+i)%len(w.running)]; n != nil && n.ready {
			return n
		}
	}
	return nil
}

// disturb causes one disturbance. After a crash, it waits and restarts the machine.
func (w *scenario) disturb(d disturbance) {
	w.mu.Lock()
	var hit []*node
	for m, n := range w.running {
		if n != nil && (d.machine < 0 || d.machine == m) {
			hit = append(hit, n)
		}
	}
	until := time.Now().Add(d.long)
	if len(hit) > 0 && d.what != "crash" {
		w.others++
		w.logLine("%s of machine %d for %s", d.what, d.machine, d.long)
	}
	for _, n := range hit {
		switch d.what {
		case "pause":
			n.frozenUntil = later(n.frozenUntil, until)
			n.blind = append(n.blind, span{time.Now(), until})
		case "outage":
			n.unavailableUntil = later(n.unavailableUntil, until)
			n.blind = append(n.blind, span{time.Now(), until})
		case "jump":
			n.jumped += d.long
		}
	}
	w.mu.Unlock()
	if d.what != "crash" || len(hit) == 0 {
		return
	}
	hit[0].crash()
	time.Sleep(d.long)
	w.mu.Lock()
	down := w.running[d.machine] == nil && w.faulty
	w.mu.Unlock()
	if down {
		w.begin(d.machine, w.plan.machines == 1)
	}
}

// move executes an action of a member.
func (w *scenario) move(m *member, v move) {
	n := w.anyRunning(uint64(m.n), uint64(v.at))
	if n == nil || !n.gate() {
		return
	}
	a := &act{kind: v.kind, member: m, clock: n.clock.Now(), start: time.Now(), secret: v.secret}
	ctx := context.Background()
	from := netip.AddrFrom4([4]byte{10, byte(m.n), 0, 1})
	state := acked
	var err error
	switch {
	case m.protocol == hub.WebSub:
		mode := map[string]string{"register": hub.ModeSubscribe, "cancel": hub.ModeUnsubscribe}[v.kind]
		err = n.hub.Request(ctx, hub.Intent{Topic: feedURL(m.feed), Callback: m.callback, Mode: mode, Secret: v.secret, Lease: v.lease}, from)
	default:
		var got hub.Registered
		r := hub.Registration{Protocol: m.protocol, Callback: m.callback, Feeds: []string{feedURL(m.feed)}, Source: from, Via: "sim"}
		if v.kind == "register" {
			got, err = n.hub.Register(ctx, r)
		} else {
			got, err = n.hub.Cancel(ctx, r)
		}
		if err == nil && len(got.Accepted) == 0 {
			state = refused
		}
	}
	w.endAct(n, a, state, err)
	if a.state == acked {
		w.onDisk(a)
	}
}

// endAct records the end of an act. The result is unknown if the machine crashed, because its
// response cannot have arrived.
func (w *scenario) endAct(n *node, a *act, state string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.end, a.state = time.Now(), state
	if err != nil || n.crashed {
		a.state = unknown
	}
	who := feedURL(a.feed)
	if a.member != nil {
		who = a.member.String()
	}
	w.acts = append(w.acts, a)
	why := ""
	if err != nil {
		why = ", " + fault.Message(err)
	}
	w.logLine("%s of %s at machine %d: %s%s", a.kind, who, n.machine, a.state, why)
}

// ping sends a ping for feed f to a machine. It returns nil if the machine has crashed.
func (w *scenario) ping(n *node, f int) *act {
	if n == nil || !n.gate() {
		return nil
	}
	w.mu.Lock()
	a := &act{kind: "ping", feed: f, value: w.feeds[f].value, start: time.Now()}
	w.mu.Unlock()
	_, err := n.hub.Ping(context.Background(), hub.Ping{URL: feedURL(f), Via: "sim", Source: netip.AddrFrom4([4]byte{192, 0, 2, byte(f)})})
	w.endAct(n, a, acked, err)
	return a
}

// endFaults ends all faults.
func (w *scenario) endFaults() {
	w.mu.Lock()
	w.logLine("calm")
	w.faulty = false
	now := time.Now()
	for _, n := range w.running {
		if n != nil {
			n.frozenUntil, n.unavailableUntil = now, now
		}
	}
	w.mu.Unlock()
	for m := range w.plan.machines {
		w.mu.Lock()
		down := w.running[m] == nil
		w.mu.Unlock()
		if down {
			w.begin(m, w.plan.machines == 1)
		}
	}
}

// handOver shuts all machines down gracefully, and then starts one machine that runs alone.
func (w *scenario) handOver() *node {
	for m := range w.plan.machines {
		w.mu.Lock()
		n := w.running[m]
		w.mu.Unlock()
		if n != nil {
			n.stop()
		}
	}
	time.Sleep(time.Second)
	return w.begin(0, true)
}
