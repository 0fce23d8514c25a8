package hub

import "time"

// idleWorkerTTL is the lifetime of an idle worker. Deliveries arrive in bursts, for example when a
// topic's window has capacity again. A worker that is kept between two bursts does not have to grow
// its stack again.
const idleWorkerTTL = 250 * time.Millisecond

// startWorkers starts workers for ready deliveries. A worker becomes idle when no delivery is
// ready, and starts another worker when more deliveries are ready.
func (d *dispatcher) startWorkers() {
	free := d.workers - d.inFlight // number of workers that are about to take a delivery
	for n := min(d.queued-free, d.max-d.workers, d.maxFresh-d.fresh-free); n > 0; n-- {
		d.startWorker()
	}
	d.scheduleAging()
}

// startWorker wakes an idle worker, or starts a new one.
func (d *dispatcher) startWorker() {
	d.workers++
	if last := len(d.idle) - 1; last >= 0 {
		d.idle[last] <- true
		d.idle[last], d.idle = nil, d.idle[:last]
		d.minIdle = min(d.minIdle, last)
		return
	}
	go d.work()
}

// work is the loop of a worker.
func (d *dispatcher) work() {
	var wakeup chan bool
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for v := d.take(); v != nil; v = d.take() {
			if d.startable() && d.workers == d.inFlight && d.workers < d.max {
				d.startWorker()
			}
			d.mu.Unlock()
			d.deliver(v)
			d.mu.Lock()
		}
		d.workers--
		if d.stopped {
			return
		}
		if wakeup == nil {
			wakeup = make(chan bool, 1)
		}
		d.parkWorker(wakeup)
		d.mu.Unlock()
		more := <-wakeup
		d.mu.Lock()
		if !more {
			return
		}
	}
}

// parkWorker adds a worker to the list of idle workers.
func (d *dispatcher) parkWorker(wakeup chan bool) {
	d.idle = append(d.idle, wakeup)
	if !d.trimScheduled {
		d.trimScheduled, d.minIdle = true, 0
		time.AfterFunc(idleWorkerTTL, d.trimIdleWorkers)
	}
}

// trimIdleWorkers ends the workers that have been idle since the last trim.
func (d *dispatcher) trimIdleWorkers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopIdle(d.minIdle)
	d.minIdle = len(d.idle)
	if d.trimScheduled = d.minIdle > 0; d.trimScheduled {
		time.AfterFunc(idleWorkerTTL, d.trimIdleWorkers)
	}
}

// stopIdle ends the n workers that have been idle longest.
func (d *dispatcher) stopIdle(n int) {
	for _, wakeup := range d.idle[:n] {
		wakeup <- false
	}
	d.idle = append(d.idle[:0], d.idle[n:]...)
	clear(d.idle[len(d.idle):cap(d.idle)])
	d.minIdle = min(d.minIdle, len(d.idle))
}
