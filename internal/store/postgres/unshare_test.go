package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/store/storetest"
)

// The proxy simulates a busy server, which notices the end of a connection late.
func TestClosedStoreReleasesItsLocks(t *testing.T) {
	t.Parallel()
	direct := storetest.Postgres(t)
	s, err := Open(t.Context(), Options{URL: withoutEnd(t, direct)})
	if err != nil {
		t.Fatal(err)
	}
	var conns []*sql.Conn
	for range 3 {
		c, err := s.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := locks(t, direct); n < 3 {
		t.Errorf("an open store holds %d locks", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := locks(t, direct); n != 0 {
		t.Errorf("a closed store holds %d locks", n)
	}
}

// locks counts the locks that mark the database as used.
func locks(t *testing.T, address string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	err = conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// withoutEnd returns a URL of the same server through a proxy. The server does not notice the end
// of such a connection before the test ends.
func withoutEnd(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	server := u.Host
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			t.Cleanup(func() { upstream.Close() })
			go func() { _, _ = io.Copy(client, upstream); client.Close() }()
			go forwardAllButTheEnd(upstream, client)
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

// forwardAllButTheEnd drops the message Terminate, which is sent separately, and the end of the
// stream.
func forwardAllButTheEnd(to io.Writer, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !bytes.Equal(buf[:n], []byte{'X', 0, 0, 0, 4}) {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
