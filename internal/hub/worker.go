package hub

import "time"

// restFor is how long workers without work are kept: what comes in bursts, as a topic's
// window does, needs none whose stack has to grow again.
const idleWorkerTTL = 250 * time.Millisecond

// spawn finds workers for what is ready; a worker rests when nothing is, and makes
// one more when there is more than it can take.
func (d *dispatcher) startWorkers() {
	free := d.workers - d.inFlight // about to look for work
	for n := min(d.queued-free, d.max-d.workers, d.maxFresh-d.fresh-free); n > 0; n-- {
		d.startWorker()
	}
	d.scheduleAging()
}

// employ has one more look for work.
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

// work is the life of a worker.
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

// rest keeps a worker for later.
func (d *dispatcher) parkWorker(wakeup chan bool) {
	d.idle = append(d.idle, wakeup)
	if !d.trimScheduled {
		d.trimScheduled, d.minIdle = true, 0
		time.AfterFunc(idleWorkerTTL, d.trimIdleWorkers)
	}
}

// part lets go of the workers that had nothing to do since it looked last.
func (d *dispatcher) trimIdleWorkers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopIdle(d.minIdle)
	d.minIdle = len(d.idle)
	if d.trimScheduled = d.minIdle > 0; d.trimScheduled {
		time.AfterFunc(idleWorkerTTL, d.trimIdleWorkers)
	}
}

// dismiss ends the n workers that rested the longest.
func (d *dispatcher) stopIdle(n int) {
	for _, wakeup := range d.idle[:n] {
		wakeup <- false
	}
	d.idle = append(d.idle[:0], d.idle[n:]...)
	clear(d.idle[len(d.idle):cap(d.idle)])
	d.minIdle = min(d.minIdle, len(d.idle))
}
