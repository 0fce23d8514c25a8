package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"cloudburst/internal/store/sqldb"
)

// maxBatch is how many operations share one transaction at most.
const maxBatch = 256

var errClosed = errors.New("sqlite: the store is closed")

// operation is one function that wants to write.
type operation struct {
	fn    func(ctx context.Context, c sqldb.Conn) error
	taken atomic.Bool // by the writer, or by the caller who gave up
	done  chan error
}

// writer runs operations one after the other, as many as there are in one transaction.
type writer struct {
	conn  *sql.Conn
	stmts *statements
	begin *sql.Stmt
	end   *sql.Stmt
	undo  *sql.Stmt

	around func(commit func() error) error // Options.Commit

	operations chan *operation
	stopping   chan struct{} // closed when no operation is taken any more
	stopped    chan struct{} // closed when the last one is done
	stop       sync.Once
}

func newWriter(ctx context.Context, db *sql.DB, d *sqldb.Dialect, commit func(commit func() error) error) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, around: commit, operations: make(chan *operation, 4*maxBatch), stopping: make(chan struct{}), stopped: make(chan struct{})}
	w.stmts = &statements{dialect: d, prepare: conn.PrepareContext, known: map[string]prepared{}}
	for text, stmt := range map[string]**sql.Stmt{"BEGIN IMMEDIATE": &w.begin, "COMMIT": &w.end, "ROLLBACK": &w.undo} {
		if *stmt, err = conn.PrepareContext(ctx, text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	go w.run()
	return w, nil
}

// write hands fn to the writer and waits. A caller who gives up before fn was
// begun takes it back; after that it waits for the answer, which is near.
func (w *writer) write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &operation{fn: fn, done: make(chan error, 1)}
	select {
	case <-w.stopping: // first, or a closed store would now and then take one more
		return errClosed
	default:
	}
	select {
	case w.operations <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopping:
		return errClosed
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
		if op.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return w.await(op)
	case <-w.stopped:
		return w.await(op)
	}
}

// answer waits for the end of an operation that was begun, unless the writer is gone.
func (w *writer) await(op *operation) error {
	select {
	case err := <-op.done:
		return err
	case <-w.stopped:
	}
	select {
	case err := <-op.done:
		return err
	default:
		return errClosed
	}
}

func (w *writer) close() error {
	w.stop.Do(func() { close(w.stopping) })
	<-w.stopped
	w.stmts.close()
	return errors.Join(w.begin.Close(), w.end.Close(), w.undo.Close(), w.conn.Close())
}

// run takes what has gathered, commits it, and answers. Nobody waits for company:
// the next batch gathers by itself while this one waits for the disk.
func (w *writer) run() {
	defer close(w.stopped)
	batch := make([]*operation, 0, maxBatch)
	for {
		batch = batch[:0]
		select {
		case op := <-w.operations:
			batch = w.take(batch, op)
		case <-w.stopping:
			w.drain()
			return
		}
		batch = w.gather(batch)
		w.commit(batch)
	}
}

// drain does what was handed in before the stop.
func (w *writer) drain() {
	for {
		batch := w.gather(nil)
		if len(batch) == 0 {
			return
		}
		w.commit(batch)
	}
}

func (w *writer) take(batch []*operation, op *operation) []*operation {
	if op.taken.CompareAndSwap(false, true) {
		return append(batch, op)
	}
	return batch
}

// gather adds what is waiting already.
func (w *writer) gather(batch []*operation) []*operation {
	for len(batch) < maxBatch {
		select {
		case op := <-w.operations:
			batch = w.take(batch, op)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction. When that fails, nobody has been
// answered yet: the transaction is undone and each half is tried on its own, until
// the operation that is to blame is alone with its error.
func (w *writer) commit(batch []*operation) {
	if len(batch) == 0 {
		return
	}
	errs := make([]error, len(batch))
	err := w.try(batch, errs)
	switch {
	case err == nil:
		for i, op := range batch {
			op.done <- errs[i]
		}
	case len(batch) == 1:
		batch[0].done <- err
	default:
		w.commit(batch[:len(batch)/2])
		w.commit(batch[len(batch)/2:])
	}
}

// try runs a batch in one transaction. errs holds the errors of operations that
// failed before they wrote anything; those do not disturb the others.
func (w *writer) try(batch []*operation, errs []error) error {
	ctx := context.Background() // an operation that was begun is not broken off
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	for i, op := range batch {
		c := &conn{stmts: w.stmts}
		if errs[i] = op.fn(ctx, c); errs[i] != nil && c.wrote {
			return w.rollback(ctx, errs[i])
		}
	}
	if err := w.endTransaction(ctx); err != nil {
		return w.rollback(ctx, err)
	}
	return nil
}

func (w *writer) endTransaction(ctx context.Context) error {
	commit := func() error {
		_, err := w.end.ExecContext(ctx)
		return err
	}
	if w.around != nil {
		return w.around(commit)
	}
	return commit()
}

// rollback ends the transaction; after some errors SQLite has done so itself.
func (w *writer) rollback(ctx context.Context, err error) error {
	_, _ = w.undo.ExecContext(ctx) // "no transaction is active" is what we want
	return err
}
