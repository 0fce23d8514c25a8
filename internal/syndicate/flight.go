package syndicate

import (
	"context"
	"fmt"
	"runtime/debug"

	"cloudburst/internal/fault"
)

// flight is a build in progress that several requests may wait for.
type flight struct {
	done chan struct{}
	node *node
	err  error
}

type flightKey struct {
	nodeKey
	version int64
}

// buildOnce returns the cached node. If the node is not cached, buildOnce waits for the build in
// progress, or starts a build. The build continues if the caller's context ends.
func (l *Layer) buildOnce(ctx context.Context, e *entry, version int64, k nodeKey, build func(context.Context) (*node, error)) (*node, error) {
	l.mu.Lock()
	if n := e.nodes[k]; n != nil && e.version == version {
		l.touch(n)
		l.mu.Unlock()
		return n, nil
	}
	fk := flightKey{k, version}
	f := e.flights[fk]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		e.flights[fk] = f
		go l.runFlight(context.WithoutCancel(ctx), e, fk, f, build)
	}
	l.mu.Unlock()
	select {
	case <-f.done:
		return f.node, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *Layer) runFlight(ctx context.Context, e *entry, fk flightKey, f *flight, build func(context.Context) (*node, error)) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	defer close(f.done)
	f.node, f.err = l.buildSafely(ctx, e, build)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(e.flights, fk)
	if f.err == nil {
		f.node.key, f.node.version = fk.nodeKey, fk.version
		// Cache the node only if its version is still the newest and the feed was not dropped during
		// the build.
		if l.feeds[e.key] == e && e.version == fk.version {
			l.recordState(e, f.node)
			l.add(e, f.node)
		}
	}
	l.dropIfUnused(e)
}

// buildSafely converts a panic to an error, because a document that crashes a parser or a writer
// must not affect other documents.
func (l *Layer) buildSafely(ctx context.Context, e *entry, build func(context.Context) (*node, error)) (n *node, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.Log.ErrorContext(ctx, "building a document of a feed panicked", "feed", e.key.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			n, err = nil, fault.Wrap(fault.Internal, fmt.Errorf("syndicate: panic: %v", p), "The feed cannot be written.")
		}
	}()
	return build(ctx)
}

// acquireSlot waits until the number of concurrent builds is below its maximum. A build that has a
// slot never waits for another slot.
func (l *Layer) acquireSlot(ctx context.Context) (release func(), err error) {
	select {
	case l.building <- struct{}{}:
		return func() { <-l.building }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
