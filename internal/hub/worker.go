package hub

import "time"

// restFor is how long workers without work are kept: what comes in bursts, as a topic's
// window does, needs none whose stack has to grow again.
const restFor = 250 * time.Millisecond

// spawn finds workers for what is ready; a worker rests when nothing is, and makes
// one more when there is more than it can take.
func (d *dispatcher) spawn() {
	free := d.workers - d.inFlight // about to look for work
	for n := min(d.queued-free, d.max-d.workers, d.maxFresh-d.fresh-free); n > 0; n-- {
		d.employ()
	}
	d.ageLater()
}

// employ has one more look for work.
func (d *dispatcher) employ() {
	d.workers++
	if last := len(d.resting) - 1; last >= 0 {
		d.resting[last] <- true
		d.resting[last], d.resting = nil, d.resting[:last]
		d.unused = min(d.unused, last)
		return
	}
	go d.work()
}

// work is the life of a worker.
func (d *dispatcher) work() {
	var call chan bool
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for v := d.take(); v != nil; v = d.take() {
			if d.startable() && d.workers == d.inFlight && d.workers < d.max {
				d.employ()
			}
			d.mu.Unlock()
			d.deliver(v)
			d.mu.Lock()
		}
		d.workers--
		if d.stopped {
			return
		}
		if call == nil {
			call = make(chan bool, 1)
		}
		d.rest(call)
		d.mu.Unlock()
		more := <-call
		d.mu.Lock()
		if !more {
			return
		}
	}
}

// rest keeps a worker for later.
func (d *dispatcher) rest(call chan bool) {
	d.resting = append(d.resting, call)
	if !d.parting {
		d.parting, d.unused = true, 0
		time.AfterFunc(restFor, d.part)
	}
}

// part lets go of the workers that had nothing to do since it looked last.
func (d *dispatcher) part() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dismiss(d.unused)
	d.unused = len(d.resting)
	if d.parting = d.unused > 0; d.parting {
		time.AfterFunc(restFor, d.part)
	}
}

// dismiss ends the n workers that rested the longest.
func (d *dispatcher) dismiss(n int) {
	for _, call := range d.resting[:n] {
		call <- false
	}
	d.resting = append(d.resting[:0], d.resting[n:]...)
	clear(d.resting[len(d.resting):cap(d.resting)])
	d.unused = min(d.unused, len(d.resting))
}
