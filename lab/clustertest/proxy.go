package clustertest

import (
	"net"
	"net/url"
	"sync"
)

// proxy forwards connections between a node and its database.
type proxy struct {
	l      net.Listener
	target string
	group  sync.WaitGroup

	mu    sync.Mutex
	state wire
	conns map[net.Conn]bool
	calm  chan struct{} // closed while data flows; replaced by an open channel when the proxy stops the data
}

// wire is the state of a node's connection to the database.
type wire int

const (
	open   wire = iota
	torn        // the proxy closes existing and new connections
	silent      // the proxy forwards no data, and reports no error
)

// newProxy starts a proxy to the database. It also returns the URL of the database through the
// proxy.
func newProxy(database string) (*proxy, string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	p := &proxy{l: l, target: u.Host, conns: map[net.Conn]bool{}, calm: make(chan struct{})}
	close(p.calm)
	p.group.Go(p.run)
	u.Host = l.Addr().String()
	return p, u.String(), nil
}

func (p *proxy) run() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return // the proxy is closed
		}
		p.group.Go(func() { p.join(c) })
	}
}

// join copies data in both directions until one side closes the connection.
func (p *proxy) join(c net.Conn) {
	defer c.Close()
	if !p.keep(c) {
		return
	}
	defer p.forget(c)
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !p.keep(far) {
		return
	}
	defer p.forget(far)
	var group sync.WaitGroup
	group.Go(func() { p.carry(far, c) })
	group.Go(func() { p.carry(c, far) })
	group.Wait()
}

func (p *proxy) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		calm := p.calm
		p.mu.Unlock()
		<-calm
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == torn {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// set changes the state of the connection. Data that the proxy held back in the state silent is
// forwarded afterwards.
func (p *proxy) set(w wire) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w == torn {
		for c := range p.conns {
			_ = c.Close() // the copying goroutines end with an error
		}
	}
	switch {
	case w == silent && p.state != silent:
		p.calm = make(chan struct{})
	case w != silent && p.state == silent:
		close(p.calm)
	}
	p.state = w
}

func (p *proxy) close() {
	p.set(torn)
	_ = p.l.Close()
	p.group.Wait()
}
